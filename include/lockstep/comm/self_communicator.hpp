#pragma once

#include <memory>
#include <string_view>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// The group of one rank: every collective is done at once and changes nothing but what a group of
/// one must copy. Needs no MPI.
class SelfCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  Work start_all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) override;
  Work start_broadcast(Buffer buffer, int root, std::string_view purpose) override;
  Work start_all_gather(Buffer send, Buffer receive, std::string_view purpose) override;
  Work start_reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                            std::string_view purpose) override;
  void barrier(std::string_view purpose) override;
  std::unique_ptr<Communicator> duplicate(std::string_view purpose) override;
};

}  // namespace lockstep
