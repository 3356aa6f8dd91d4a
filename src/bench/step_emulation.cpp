#include "lockstep/bench/step_emulation.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "lockstep/base/wall_clock.hpp"

namespace lockstep {
namespace {

void wait_until(double moment) {
  const double left = moment - steady_seconds();
  if (left > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(left));
}

/// A message that has arrived no earlier than at `due`.
class LateWork : public Work::Impl {
 public:
  LateWork(Work work, double due) : work_(std::move(work)), due_(due) {}

  void wait() override {
    work_.wait();
    wait_until(due_);
  }
  bool done() override { return work_.done() && steady_seconds() >= due_; }

 private:
  Work work_;
  double due_;
};

}  // namespace

SlowedCommunicator::SlowedCommunicator(Communicator& comm, const Link& link, Route route)
    : comm_(comm), link_(link), route_(route) {}

Work SlowedCommunicator::start_all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) {
  const double bytes =
      static_cast<double>(buffer.count) * static_cast<double>(size_of(buffer.dtype));
  free_at_ =
      std::max(free_at_, steady_seconds()) + all_reduce_seconds(link_, route_, comm_.size(), bytes);
  return Work(std::make_unique<LateWork>(comm_.start_all_reduce(buffer, op, purpose), free_at_));
}

Work SlowedCommunicator::start_broadcast(Buffer buffer, int root, std::string_view purpose) {
  return comm_.start_broadcast(buffer, root, purpose);
}

Work SlowedCommunicator::start_all_gather(Buffer send, Buffer receive, std::string_view purpose) {
  return comm_.start_all_gather(send, receive, purpose);
}

Work SlowedCommunicator::start_reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                                              std::string_view purpose) {
  return comm_.start_reduce_scatter(send, receive, op, purpose);
}

void SlowedCommunicator::barrier(std::string_view purpose) {
  comm_.barrier(purpose);
}

std::unique_ptr<Communicator> SlowedCommunicator::duplicate(std::string_view purpose) {
  return comm_.duplicate(purpose);
}

double emulated_step_seconds(const StepProfile& profile, Communicator& comm, Communicator& hosts,
                             std::span<float> memory) {
  std::vector<Work> works;
  std::size_t used = 0;
  hosts.barrier("begin of an emulated step");
  const double began = steady_seconds();
  std::int64_t gradients = 0;
  for (const double ready : profile.gradients) {
    wait_until(began + ready);
    ++gradients;
    while (works.size() < profile.messages.size() &&
           profile.messages[works.size()].after_gradients <= gradients) {
      const auto elements =
          static_cast<std::size_t>(profile.messages[works.size()].bytes) / sizeof(float);
      works.push_back(comm.start_all_reduce(buffer_of(memory.subspan(used, elements)),
                                            ReduceOp::sum, "emulated gradients"));
      used += elements;
    }
    if (!works.empty()) works.back().done();
  }
  for (Work& work : works) work.wait();
  const double update =
      profile.seconds - (profile.gradients.empty() ? 0.0 : profile.gradients.back());
  wait_until(steady_seconds() + update);
  return all_reduce_value(hosts, steady_seconds() - began, ReduceOp::max, "slowest rank");
}

}  // namespace lockstep
