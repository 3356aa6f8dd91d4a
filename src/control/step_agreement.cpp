#include "lockstep/control/step_agreement.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace lockstep {
namespace {

constexpr const char* purpose = "agreement on what to do next";
using Words = std::array<std::int64_t, 5>;

Words words_of(const Wishes& wishes) {
  return {wishes.stop_signal, wishes.write_failed, wishes.time_is_up, wishes.checkpoint_due,
          wishes.metrics_due};
}

Wishes wishes_of(const std::vector<std::int64_t>& words) {
  return {.stop_signal = words[0],
          .write_failed = words[1] != 0,
          .time_is_up = words[2] != 0,
          .checkpoint_due = words[3] != 0,
          .metrics_due = words[4] != 0};
}

}  // namespace

StepAgreement::StepAgreement(Communicator& comm)
    : comm_(comm.duplicate(purpose)), words_(Words().size()) {}

Wishes StepAgreement::settle() {
  under_way_.wait();
  under_way_ = Work();
  const Wishes agreed = wishes_of(words_);
  std::fill(words_.begin(), words_.end(), 0);
  return agreed;
}

Wishes StepAgreement::exchange(const Wishes& mine) {
  const Wishes agreed = settle();
  std::ranges::copy(words_of(mine), words_.begin());
  under_way_ = comm_->start_all_reduce(buffer_of(std::span(words_)), ReduceOp::max, purpose);
  return agreed;
}

}  // namespace lockstep
