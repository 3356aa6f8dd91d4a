#include "support/recording_communicator.hpp"

#include <gtest/gtest.h>

#include "lockstep/comm/mpi_communicator.hpp"

namespace lockstep {
namespace {

TEST(RecordingCommunicator, RecordsEachCallInOrderAndPassesItOn) {
  const auto inner = MpiCommunicator::duplicate_world();
  RecordingCommunicator comm(*inner);
  std::vector<float> values{1, 2, 3};
  std::vector<std::byte> part(2);
  std::vector<std::byte> whole(2 * static_cast<std::size_t>(comm.size()));

  comm.all_reduce(buffer_of(std::span(values)), ReduceOp::sum, "gradients, bucket 0");
  comm.broadcast(buffer_of(std::span(values)), 0, "weights");
  comm.all_gather(buffer_of(std::span(part)), buffer_of(std::span(whole)), "parts");
  comm.barrier("end");

  EXPECT_EQ(comm.sequence(),
            "all_reduce 3 float32 gradients, bucket 0\n"
            "broadcast 3 float32 weights\n"
            "all_gather 2 uint8 parts\n"
            "barrier 0 uint8 end\n");
  EXPECT_EQ(comm.bytes_of("all_reduce"), 12);
  EXPECT_FLOAT_EQ(values[2], 3.0F * static_cast<float>(comm.size()));
}

}  // namespace
}  // namespace lockstep
