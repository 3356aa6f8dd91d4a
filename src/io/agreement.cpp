#include "io/agreement.hpp"

#include <string>

#include "io/packed.hpp"

namespace lockstep {

void Agreement::keep(const Error& error) {
  if (!failure_) failure_ = error;
}

int Agreement::lowest_failing_rank() {
  const std::int64_t mine = failure_ ? comm_.rank() : comm_.size();
  return static_cast<int>(all_reduce_value(comm_, mine, ReduceOp::min, "file status"));
}

bool Agreement::holds() {
  return lowest_failing_rank() == comm_.size();
}

void Agreement::settle() {
  const int failing = lowest_failing_rank();
  if (failing == comm_.size()) return;
  Packer packer;
  if (failing == comm_.rank()) {
    packer.add(failure_->attempted());
    packer.add(failure_->reason());
    packer.add(failure_->remedy());
  }
  const std::string message = broadcast_text(comm_, packer.bytes(), failing, "file error");
  Unpacker unpacker(message);
  std::string attempted = unpacker.text();
  std::string reason = unpacker.text();
  std::string remedy = unpacker.text();
  if (failing != 0) reason = "on rank " + std::to_string(failing) + ": " + reason;
  throw Error(std::move(attempted), std::move(reason), std::move(remedy));
}

}  // namespace lockstep
