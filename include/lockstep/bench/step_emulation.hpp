#pragma once

#include <span>

#include "lockstep/bench/scaling_model.hpp"
#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// A communicator whose all-reduces take as long as by slower links, in addition to what they take
/// anyway: one after the other, each all_reduce_seconds() of `link` from its start. Everything else
/// is as it is.
class SlowedCommunicator : public Communicator {
 public:
  /// `comm` is borrowed.
  SlowedCommunicator(Communicator& comm, const Link& link, Route route);

  int rank() const override { return comm_.rank(); }
  int size() const override { return comm_.size(); }
  Work start_all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) override;
  Work start_broadcast(Buffer buffer, int root, std::string_view purpose) override;
  Work start_all_gather(Buffer send, Buffer receive, std::string_view purpose) override;
  Work start_reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                            std::string_view purpose) override;
  void barrier(std::string_view purpose) override;
  std::unique_ptr<Communicator> duplicate(std::string_view purpose) override;

 private:
  Communicator& comm_;
  Link link_;
  Route route_;
  double free_at_ = 0.0;  // by the steady clock
};

/// A step with real messages in which the computation is a wait: gradients are there when `profile`
/// says, and messages are moved on at each. Returns the slowest rank's seconds. `memory` has room
/// for all messages; its content does not matter. Collective; `hosts` is for what ranks
/// tell each other around the step.
double emulated_step_seconds(const StepProfile& profile, Communicator& comm, Communicator& hosts,
                             std::span<float> memory);

}  // namespace lockstep
