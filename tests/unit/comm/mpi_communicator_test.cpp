// What is particular to MPI: parts, errors, threads and equal results. MPI's own functions are
// intercepted through its profiling interface to count messages and to make them fail.
#include "lockstep/comm/mpi_communicator.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/philox.hpp"

namespace {

std::vector<int> reduced_lengths;  // of every MPI_Iallreduce
int code_of_start = MPI_SUCCESS;
int code_of_wait = MPI_SUCCESS;

}  // namespace

extern "C" int MPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  static std::atomic_flag busy;
  while (busy.test_and_set()) {
  }
  reduced_lengths.push_back(count);
  busy.clear();
  if (code_of_start != MPI_SUCCESS) return code_of_start;
  return PMPI_Iallreduce(send, receive, count, type, op, comm, request);
}

extern "C" int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const int code = PMPI_Wait(request, status);
  return code_of_wait != MPI_SUCCESS ? code_of_wait : code;
}

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(MpiCommunicator, CutsAMessageIntoPartsOfAtMostTheGivenBytes) {
  const auto comm = MpiCommunicator::duplicate_world(17);
  std::vector<float> values(10, 1);
  reduced_lengths.clear();
  comm->all_reduce(buffer_of(std::span(values)), ReduceOp::sum, "a test");
  EXPECT_THAT(reduced_lengths, ElementsAre(4, 4, 2));
}

TEST(MpiCommunicator, SendsAMessageOfOrdinarySizeWhole) {
  const auto comm = MpiCommunicator::duplicate_world();
  std::vector<float> values(1'000'000, 1);
  reduced_lengths.clear();
  comm->all_reduce(buffer_of(std::span(values)), ReduceOp::sum, "a test");
  EXPECT_THAT(reduced_lengths, ElementsAre(1'000'000));
}

TEST(MpiCommunicator, AnErrorOfMpiNamesTheMessageAndMpisReason) {
  const auto comm = MpiCommunicator::duplicate_world();
  double value = 1;
  const Buffer buffer = buffer_of(std::span(&value, 1));
  const auto failure = [&](int& code, int failing) -> std::string {
    code = failing;
    try {
      comm->all_reduce(buffer, ReduceOp::sum, "gradients, bucket 2");
    } catch (const Error& error) {
      code = MPI_SUCCESS;
      return error.what();
    }
    code = MPI_SUCCESS;
    return "no error";
  };
  EXPECT_THAT(failure(code_of_start, MPI_ERR_COUNT),
              AllOf(HasSubstr("all_reduce for gradients, bucket 2: "), HasSubstr("count")));
  EXPECT_THAT(failure(code_of_wait, MPI_ERR_TRUNCATE),
              AllOf(HasSubstr("all_reduce for gradients, bucket 2: "), HasSubstr("truncated")));
}

TEST(MpiCommunicator, AWorkThatFailedIsNotWaitedForAgain) {
  const auto comm = MpiCommunicator::duplicate_world();
  double value = 1;
  Work work = comm->start_all_reduce(buffer_of(std::span(&value, 1)), ReduceOp::sum, "a test");
  code_of_wait = MPI_ERR_TRUNCATE;
  EXPECT_THROW(work.wait(), Error);
  EXPECT_NO_THROW(work.wait());
  code_of_wait = MPI_SUCCESS;
}

TEST(MpiCommunicator, NoRankLeavesABarrierThatAnotherHasNotReached) {
  const auto comm = MpiCommunicator::duplicate_world();
  const std::string name =
      "lockstep_barrier_" + broadcast_text(*comm, std::to_string(getpid()), 0, "a test");
  for (int round = 0; round < 12; ++round) {
    const std::filesystem::path mark =
        std::filesystem::temp_directory_path() / (name + "_" + std::to_string(round));
    const int late = round % comm->size();
    if (comm->rank() == late) std::ofstream(mark) << "reached";
    comm->barrier("a test");
    EXPECT_TRUE(std::filesystem::exists(mark));
    comm->barrier("a test");
    if (comm->rank() == late) std::filesystem::remove(mark);
  }
}

TEST(MpiCommunicator, TwoThreadsMayUseTwoCommunicatorsAtOnce) {
  const auto first = MpiCommunicator::duplicate_world();
  const auto second = first->duplicate("the other thread");
  const auto count_right = [](Communicator& comm, double value) {
    int right = 0;
    for (int round = 0; round < 60; ++round) {
      std::vector<double> values(1 + static_cast<std::size_t>(round) * 7, value + round);
      comm.all_reduce(buffer_of(std::span(values)), ReduceOp::sum, "a test");
      const double expected = comm.size() * (value + round);
      right += std::ranges::all_of(values, [&](double x) { return x == expected; }) ? 1 : 0;
    }
    return right;
  };
  int right_there = 0;
  std::thread other([&] { right_there = count_right(*second, 1000); });
  EXPECT_EQ(count_right(*first, 1), 60);
  other.join();
  EXPECT_EQ(right_there, 60);
}

/// Values of both signs between 1/64 and 64, different on every rank: sums of them depend on the
/// order of the terms in most places.
template <typename T>
std::vector<T> ill_conditioned(std::size_t count, int rank) {
  PhiloxStream words(7, static_cast<std::uint64_t>(rank));
  const auto uniform = [&] { return words.next_uint32() * 0x1p-32; };
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double sign = uniform() < 0.5 ? -1 : 1;
    values.push_back(static_cast<T>(sign * std::exp2(12 * uniform() - 6)));
  }
  return values;
}

template <typename T>
void expect_equal_sums_on_all_ranks(Communicator& comm, std::size_t count) {
  std::vector<T> sum = ill_conditioned<T>(count, comm.rank());
  comm.all_reduce(buffer_of(std::span(sum)), ReduceOp::sum, "a test");
  std::vector<std::byte> all(count * sizeof(T) * static_cast<std::size_t>(comm.size()));
  const auto bytes = std::as_writable_bytes(std::span(sum));
  comm.all_gather(buffer_of(bytes), buffer_of(std::span(all)), "compare");
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(comm.size()); ++rank) {
    const auto* begin = all.data() + rank * bytes.size();
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), begin))
        << count << " elements differ between ranks " << comm.rank() << " and " << rank;
  }
}

TEST(MpiCommunicator, TheSumIsBitwiseEqualOnAllRanksWhateverTheLength) {
  const auto comm = MpiCommunicator::duplicate_world();
  // MPICH chooses its algorithm by length; both sides of its usual limits.
  for (const std::size_t count :
       {1UL, 2UL, 3UL, 17UL, 255UL, 511UL, 513UL, 2049UL, 8193UL, 65'537UL, 300'001UL}) {
    expect_equal_sums_on_all_ranks<float>(*comm, count);
    expect_equal_sums_on_all_ranks<double>(*comm, count);
  }
}

TEST(MpiCommunicator, TheValuesThatSumsAreComparedOnAreSensitiveToOrder) {
  const auto a = ill_conditioned<float>(1000, 0);
  const auto b = ill_conditioned<float>(1000, 1);
  const auto c = ill_conditioned<float>(1000, 2);
  int sensitive = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sensitive += (a[i] + b[i]) + c[i] != a[i] + (b[i] + c[i]) ? 1 : 0;
  }
  EXPECT_GT(sensitive, 200);
}

}  // namespace
}  // namespace lockstep
