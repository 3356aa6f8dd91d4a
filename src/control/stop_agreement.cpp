#include "lockstep/control/stop_agreement.hpp"

#include <span>

namespace lockstep {
namespace {
constexpr const char* purpose = "agreement on stopping";
}  // namespace

StopAgreement::StopAgreement(Communicator& comm) : comm_(comm.duplicate(purpose)), words_(1, 0) {}

Wishes StopAgreement::settle() {
  under_way_.wait();
  under_way_ = Work();
  const Wishes agreed{.stop_signal = words_[0]};
  words_[0] = 0;
  return agreed;
}

Wishes StopAgreement::exchange(const Wishes& mine) {
  const Wishes agreed = settle();
  words_[0] = mine.stop_signal;
  under_way_ = comm_->start_all_reduce(buffer_of(std::span(words_)), ReduceOp::max, purpose);
  return agreed;
}

}  // namespace lockstep
