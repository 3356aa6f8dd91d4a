#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// Throws on every rank the error of the lowest rank that has one, a UsageError as such; returns
/// where none has. Collective.
void settle_failure(Communicator& comm, const Error* failure);

/// Does `work`, which is not collective, on each rank. If it throws on any of them, every rank
/// throws the same error. Collective.
template <typename F>
auto all_or_none(Communicator& comm, F&& work) {
  std::optional<std::invoke_result_t<F>> result;
  std::unique_ptr<Error> failure;
  try {
    result.emplace(std::forward<F>(work)());
  } catch (const UsageError& error) {
    failure = std::make_unique<UsageError>(error);
  } catch (const Error& error) {
    failure = std::make_unique<Error>(error);
  } catch (const std::exception& error) {
    failure = std::make_unique<Error>("read data", error.what());
  }
  settle_failure(comm, failure.get());
  return std::move(*result);
}

}  // namespace lockstep
