#pragma once

#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/base/exit_code.hpp"
#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// An error that every rank of a communicator knows of and throws alike: rank 0 alone needs to
/// report it, and all may leave in good order.
class AgreedError : public Error {
 public:
  AgreedError(ExitCode exit_code, std::string attempted, std::string reason, std::string remedy)
      : Error(std::move(attempted), std::move(reason), std::move(remedy)), exit_code_(exit_code) {}

  /// usage where a UsageError was at the bottom of it.
  ExitCode exit_code() const { return exit_code_; }

 private:
  ExitCode exit_code_;
};

/// Makes a failure on any rank a failure on all. Ranks attempt the same pieces of work, where a
/// rank that failed goes on taking part in what is collective, and then settle.
class Agreement {
 public:
  /// `comm` is borrowed.
  explicit Agreement(Communicator& comm) : comm_(comm) {}

  /// Does `work`; an exception is kept unless there is an earlier one. Not collective.
  template <typename F>
  void attempt(F&& work) {
    try {
      std::forward<F>(work)();
    } catch (...) {
      keep(std::current_exception());
    }
  }

  /// As attempt(), on rank 0 alone.
  template <typename F>
  void attempt_on_root(F&& work) {
    if (comm_.rank() != 0) return;
    const bool failed_before = failure_.has_value();
    attempt(std::forward<F>(work));
    if (!failed_before) roots_task_ = failure_.has_value();
  }

  /// Whether no rank failed so far. Collective.
  bool holds();

  /// Throws the same AgreedError on every rank, that of the lowest failing rank, if any failed. It
  /// names rank and host, unless the work was the same on all ranks and failed alike, or was rank
  /// 0's alone. Collective.
  void settle();

 private:
  void keep(std::exception_ptr failure);
  int lowest_failing_rank();

  Communicator& comm_;
  std::optional<AgreedError> failure_;
  bool roots_task_ = false;
};

/// Does `work` on every rank and returns its result; where it throws on any, all throw AgreedError.
/// `work` must not be collective, unless it throws on all ranks or on none. Collective.
template <typename F>
auto agreed(Communicator& comm, F&& work) {
  Agreement agreement(comm);
  if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
    agreement.attempt(std::forward<F>(work));
    agreement.settle();
  } else {
    std::optional<std::invoke_result_t<F>> result;
    agreement.attempt([&] { result.emplace(std::forward<F>(work)()); });
    agreement.settle();
    return std::move(*result);
  }
}

}  // namespace lockstep
