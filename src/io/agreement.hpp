#pragma once

#include <optional>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/communicator.hpp"

namespace lockstep {

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
    } catch (const Error& error) {
      keep(error);
    } catch (const std::exception& error) {
      keep(Error("write or read a file", error.what()));
    }
  }

  /// As attempt(), on rank 0 alone.
  template <typename F>
  void attempt_on_root(F&& work) {
    if (comm_.rank() == 0) attempt(std::forward<F>(work));
  }

  /// Whether no rank failed so far. Collective.
  bool holds();

  /// Throws the same Error on every rank, that of the lowest failing rank, if any failed.
  /// Collective.
  void settle();

 private:
  void keep(const Error& error);
  int lowest_failing_rank();

  Communicator& comm_;
  std::optional<Error> failure_;
};

}  // namespace lockstep
