#include "lockstep/comm/agreement.hpp"

#include <algorithm>
#include <vector>

#include "lockstep/base/explained.hpp"
#include "lockstep/comm/mpi_session.hpp"
#include "lockstep/comm/packed.hpp"

namespace lockstep {
namespace {

AgreedError agreed_error_of(std::exception_ptr failure) {
  const auto from = [](ExitCode exit_code, const Error& error) {
    return AgreedError(exit_code, error.attempted(), error.reason(), error.remedy());
  };
  try {
    std::rethrow_exception(std::move(failure));
  } catch (const AgreedError& error) {
    return error;
  } catch (const UsageError& error) {
    return from(ExitCode::usage, error);
  } catch (const std::exception& error) {
    return from(ExitCode::failure, explained(error));
  } catch (...) {
    return {ExitCode::failure, "an exception of unknown type", {}, {}};
  }
}

std::string packed(const AgreedError& error) {
  Packer packer;
  packer.add(static_cast<std::int64_t>(error.exit_code()));
  packer.add(error.attempted());
  packer.add(error.reason());
  packer.add(error.remedy());
  return packer.bytes();
}

AgreedError unpacked(const std::string& message, const std::string& where) {
  Unpacker unpacker(message);
  const auto exit_code = static_cast<ExitCode>(unpacker.integer());
  std::string attempted = where + unpacker.text();
  std::string reason = unpacker.text();
  return {exit_code, std::move(attempted), std::move(reason), unpacker.text()};
}

}  // namespace

void Agreement::keep(std::exception_ptr failure) {
  if (!failure_) failure_ = agreed_error_of(std::move(failure));
}

int Agreement::lowest_failing_rank() {
  const std::int64_t mine = failure_ ? comm_.rank() : comm_.size();
  return static_cast<int>(all_reduce_value(comm_, mine, ReduceOp::min, "agreement on an outcome"));
}

bool Agreement::holds() {
  return lowest_failing_rank() == comm_.size();
}

void Agreement::settle() {
  const int failing = lowest_failing_rank();
  if (failing == comm_.size()) return;
  const std::vector<std::string> errors =
      all_gather_text(comm_, failure_ ? packed(*failure_) : "", "errors of the ranks");
  const std::string host = broadcast_text(comm_, roots_task_ ? "" : MpiSession::host_name(),
                                          failing, "host of a failing rank");
  const bool all_alike = std::all_of(errors.begin(), errors.end(),
                                     [&](const auto& error) { return error == errors[0]; });
  const std::string where =
      all_alike || host.empty() ? "" : "on rank " + std::to_string(failing) + " (" + host + "): ";
  throw unpacked(errors[static_cast<std::size_t>(failing)], where);
}

}  // namespace lockstep
