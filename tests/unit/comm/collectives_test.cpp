// What each collective computes, on every kind of communicator, for every dtype, with messages that
// are cut into parts and with empty ones. Values are small whole numbers, exact in every dtype.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/comm/self_communicator.hpp"

#include "unit/comm/typed_values.hpp"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Kind {
  const char* name;
  std::function<std::unique_ptr<Communicator>()> make;
};

class Collectives : public testing::TestWithParam<Kind> {
 protected:
  static void TearDownTestSuite() { communicators().clear(); }

  Communicator& comm() { return comm_; }
  int rank() const { return comm_.rank(); }
  int size() const { return comm_.size(); }

  std::string error_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  /// By kind, since making one is slow where ranks share a core.
  static std::map<std::string, std::unique_ptr<Communicator>>& communicators() {
    static std::map<std::string, std::unique_ptr<Communicator>> by_kind;
    return by_kind;
  }
  static Communicator& communicator_of(const Kind& kind) {
    std::unique_ptr<Communicator>& comm = communicators()[kind.name];
    if (!comm) comm = kind.make();
    return *comm;
  }

  Communicator& comm_ = communicator_of(GetParam());
};

/// `count` values, the i-th of which is `first + i`.
std::vector<int> counting(int first, int count) {
  std::vector<int> values;
  for (int i = 0; i < count; ++i) values.push_back(first + i);
  return values;
}

TEST_P(Collectives, AllReduceSumsTheRanksBuffersForEveryDtype) {
  for (const DType dtype : reducible_dtypes) {
    TypedValues values(dtype, counting(10 * rank(), 7));
    comm().all_reduce(values.buffer(), ReduceOp::sum, "a test");
    const int ranks_part = 10 * size() * (size() - 1) / 2;  // 10 * (0 + 1 + ... + size - 1)
    std::vector<int> expected;
    for (int i = 0; i < 7; ++i) expected.push_back(ranks_part + size() * i);
    EXPECT_EQ(values.values(), expected) << name_of(dtype);
  }
}

TEST_P(Collectives, AllReduceFindsTheGreatestAndTheLeastForEveryDtype) {
  for (const DType dtype : reducible_dtypes) {
    TypedValues greatest(dtype, {rank() + 1, size() - rank(), 5, 0, 9});
    TypedValues least = greatest;
    comm().all_reduce(greatest.buffer(), ReduceOp::max, "a test");
    comm().all_reduce(least.buffer(), ReduceOp::min, "a test");
    EXPECT_THAT(greatest.values(), ElementsAre(size(), size(), 5, 0, 9)) << name_of(dtype);
    EXPECT_THAT(least.values(), ElementsAre(1, 1, 5, 0, 9)) << name_of(dtype);
  }
}

TEST_P(Collectives, ANaNOnAnyRankIsTheMaximumAndTheMinimumOnAllRanks) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (int holder = 0; holder < size(); ++holder) {
    const double value = rank() == holder ? nan : 1.0;
    EXPECT_TRUE(std::isnan(all_reduce_value(comm(), value, ReduceOp::max, "a test")));
    EXPECT_TRUE(std::isnan(all_reduce_value(comm(), value, ReduceOp::min, "a test")));
    auto single = static_cast<float>(value);
    comm().all_reduce(buffer_of(std::span(&single, 1)), ReduceOp::max, "a test");
    EXPECT_TRUE(std::isnan(single));
  }
}

TEST_P(Collectives, PlusZeroIsGreaterThanMinusZeroOnAllRanks) {
  if (size() == 1) GTEST_SKIP() << "needs two values";
  const double value = rank() == 0 ? -0.0 : 0.0;
  EXPECT_FALSE(std::signbit(all_reduce_value(comm(), value, ReduceOp::max, "a test")));
  EXPECT_TRUE(std::signbit(all_reduce_value(comm(), value, ReduceOp::min, "a test")));
}

TEST_P(Collectives, BroadcastGivesEveryRankTheRootsContentForEveryDtypeAndRoot) {
  for (const DType dtype : all_dtypes) {
    for (int root = 0; root < size(); ++root) {
      TypedValues values(dtype, counting(20 * rank(), 9));
      comm().broadcast(values.buffer(), root, "a test");
      EXPECT_EQ(values.values(), counting(20 * root, 9)) << name_of(dtype);
    }
  }
}

TEST_P(Collectives, AllGatherPlacesTheRanksPartsByRankForEveryDtype) {
  for (const DType dtype : all_dtypes) {
    TypedValues part(dtype, counting(5 * rank(), 5));
    TypedValues whole(dtype, std::vector<int>(static_cast<std::size_t>(5 * size()), 99));
    comm().all_gather(part.buffer(), whole.buffer(), "a test");
    EXPECT_EQ(whole.values(), counting(0, 5 * size())) << name_of(dtype);
  }
}

TEST_P(Collectives, ReduceScatterLeavesEachRankItsPartOfTheSumForEveryDtype) {
  for (const DType dtype : reducible_dtypes) {
    const std::vector<int> sent = counting(rank(), 5 * size());
    TypedValues whole(dtype, sent);
    TypedValues part(dtype, std::vector<int>(5, 99));
    comm().reduce_scatter(whole.buffer(), part.buffer(), ReduceOp::sum, "a test");
    std::vector<int> expected;
    for (int i = 0; i < 5; ++i) {
      expected.push_back(size() * (5 * rank() + i) + size() * (size() - 1) / 2);
    }
    EXPECT_EQ(part.values(), expected) << name_of(dtype);
    EXPECT_EQ(whole.values(), sent) << name_of(dtype);
  }
}

TEST_P(Collectives, AnEmptyBufferTakesPartInEveryOperation) {
  const Buffer empty{.dtype = DType::float32};
  comm().all_reduce(empty, ReduceOp::sum, "nothing");
  comm().broadcast(empty, size() - 1, "nothing");
  comm().all_gather(empty, empty, "nothing");
  comm().reduce_scatter(empty, empty, ReduceOp::sum, "nothing");
  EXPECT_EQ(all_reduce_value(comm(), std::int64_t{1}, ReduceOp::sum, "count the ranks"), size());
}

TEST_P(Collectives, ReducingHalfPrecisionIsRefusedWithItsNameAndPurpose) {
  TypedValues values(DType::bfloat16, {1, 2});
  const std::string error =
      error_of([&] { comm().all_reduce(values.buffer(), ReduceOp::sum, "gradients, bucket 2"); });
  EXPECT_THAT(error, HasSubstr("all_reduce for gradients, bucket 2: cannot reduce bfloat16"));
  TypedValues whole(DType::float16, std::vector<int>(static_cast<std::size_t>(size())));
  TypedValues part(DType::float16, {0});
  EXPECT_THAT(error_of([&] {
                comm().reduce_scatter(whole.buffer(), part.buffer(), ReduceOp::sum, "gradients");
              }),
              HasSubstr("reduce_scatter for gradients: cannot reduce float16"));
}

TEST_P(Collectives, DeviceMemoryIsRefused) {
  float value = 0;
  Buffer buffer = buffer_of(std::span(&value, 1));
  buffer.memory = MemoryKind::cuda;
  EXPECT_THAT(error_of([&] { comm().broadcast(buffer, 0, "a test"); }), HasSubstr("device memory"));
}

TEST_P(Collectives, PartsThatDoNotMakeTheWholeAreRefusedWithTheNumbers) {
  TypedValues part(DType::int32, {1, 2, 3});
  TypedValues whole(DType::int32, std::vector<int>(static_cast<std::size_t>(3 * size() + 1)));
  EXPECT_THAT(error_of([&] { comm().all_gather(part.buffer(), whole.buffer(), "a test"); }),
              HasSubstr(std::to_string(size()) + " parts of 3 elements do not make " +
                        std::to_string(3 * size() + 1)));
  TypedValues other(DType::int64, std::vector<int>(static_cast<std::size_t>(3 * size())));
  EXPECT_THAT(error_of([&] { comm().all_gather(part.buffer(), other.buffer(), "a test"); }),
              HasSubstr("int32 parts of a int64 whole"));
}

TEST_P(Collectives, ARootThatIsNoRankIsAnErrorOnEveryRank) {
  float value = 0;
  const std::string error =
      error_of([&] { comm().broadcast(buffer_of(std::span(&value, 1)), size(), "weights"); });
  EXPECT_THAT(error, HasSubstr("broadcast for weights: "));
  EXPECT_THAT(error, HasSubstr("root"));
}

TEST_P(Collectives, SeveralMessagesMayBeInFlightAndBeWaitedForInAnyOrder) {
  std::vector<double> first{1, 2, 3, 4, 5};
  std::vector<double> second{10, 20, 30};
  Work first_work = comm().start_all_reduce(buffer_of(std::span(first)), ReduceOp::sum, "first");
  Work second_work = comm().start_all_reduce(buffer_of(std::span(second)), ReduceOp::sum, "second");
  second_work.wait();
  first_work.wait();
  EXPECT_THAT(first, ElementsAre(size(), 2 * size(), 3 * size(), 4 * size(), 5 * size()));
  EXPECT_THAT(second, ElementsAre(10 * size(), 20 * size(), 30 * size()));
}

TEST_P(Collectives, WorkThatSaysItIsDoneHasArrived) {
  std::vector<double> values{1, 2, 3, 4, 5};
  Work work = comm().start_all_reduce(buffer_of(std::span(values)), ReduceOp::sum, "a test");
  while (!work.done()) {
  }
  EXPECT_DOUBLE_EQ(values[4], 5 * size());
  work.wait();
  work.wait();
  EXPECT_TRUE(work.done());
}

TEST_P(Collectives, TextsOfDifferentLengthsAreGatheredByRank) {
  const std::string text(static_cast<std::size_t>(7 * rank()), static_cast<char>('a' + rank()));
  const std::vector<std::string> texts = all_gather_text(comm(), text, "a test");
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(size()));
  const std::vector<std::string> expected{"", "bbbbbbb", "cccccccccccccc"};
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], expected.at(i));
}

TEST_P(Collectives, ATextIsBroadcastWhateverTheOtherRanksHeld) {
  const std::string text = rank() == size() - 1 ? "the root's text" : "x";
  EXPECT_EQ(broadcast_text(comm(), text, size() - 1, "a test"), "the root's text");
  EXPECT_EQ(broadcast_text(comm(), rank() == 0 ? "" : "x", 0, "a test"), "");
}

TEST_P(Collectives, ADuplicatesMessagesDoNotMeetTheOriginals) {
  const std::unique_ptr<Communicator> other = comm().duplicate("a test");
  EXPECT_EQ(other->rank(), rank());
  EXPECT_EQ(other->size(), size());
  std::int64_t here = 1;
  std::int64_t there = 100;
  // Started in opposite order on odd ranks: on one communicator this would mix the two.
  const auto start_here = [&] {
    return comm().start_all_reduce(buffer_of(std::span(&here, 1)), ReduceOp::sum, "here");
  };
  const auto start_there = [&] {
    return other->start_all_reduce(buffer_of(std::span(&there, 1)), ReduceOp::sum, "there");
  };
  Work first = rank() % 2 == 0 ? start_here() : start_there();
  Work second = rank() % 2 == 0 ? start_there() : start_here();
  first.wait();
  second.wait();
  EXPECT_EQ(here, size());
  EXPECT_EQ(there, 100 * size());
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryKind, Collectives,
    testing::Values(
        Kind{"Mpi", [] { return MpiCommunicator::duplicate_world(); }},
        Kind{"MpiInPartsOf16Bytes", [] { return MpiCommunicator::duplicate_world(16); }},
        Kind{"MpiInPartsOfOneElement", [] { return MpiCommunicator::duplicate_world(1); }},
        Kind{"Self", [] { return std::make_unique<SelfCommunicator>(); }}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace lockstep
