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

/// An error that every rank knows of and throws alike: rank 0 alone needs to report it, and all may
/// leave in good order.
class AgreedError : public Error {
 public:
  AgreedError(ExitCode exit_code, const std::string& text) : Error(text), exit_code_(exit_code) {}
  ExitCode exit_code() const { return exit_code_; }

 private:
  ExitCode exit_code_;
};

/// How a piece of work went on one rank; `text` is empty where it went well.
struct Outcome {
  ExitCode exit_code = ExitCode::success;
  std::string text;
};

Outcome outcome_of(std::exception_ptr failure);

/// Throws the AgreedError of the lowest rank whose work failed, on all ranks. Collective.
void agree_on(Communicator& comm, const Outcome& mine);

/// Does `work` on every rank and returns its result; where it throws on any, all throw AgreedError.
/// `work` must not be collective, unless it throws on all ranks or on none. Collective.
template <typename F>
auto agreed(Communicator& comm, F&& work) {
  using Result = std::invoke_result_t<F>;
  std::exception_ptr failure;
  if constexpr (std::is_void_v<Result>) {
    try {
      std::forward<F>(work)();
    } catch (...) {
      failure = std::current_exception();
    }
    agree_on(comm, outcome_of(failure));
  } else {
    std::optional<Result> result;
    try {
      result.emplace(std::forward<F>(work)());
    } catch (...) {
      failure = std::current_exception();
    }
    agree_on(comm, outcome_of(failure));
    return std::move(*result);
  }
}

}  // namespace lockstep
