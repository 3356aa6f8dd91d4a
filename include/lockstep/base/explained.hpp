#pragma once

#include <exception>
#include <optional>

#include "lockstep/base/error.hpp"

namespace lockstep {

/// What `error` says to the person at the terminal: an Error itself; memory that ran out in these
/// words; another library's exception as explain_errors_by() was told, or else its what().
Error explained(const std::exception& error);

/// Has explained() ask `explain` about exceptions that are not Lockstep's; it returns nothing of
/// those it knows no better. For the whole process, and before there are other threads.
void explain_errors_by(std::optional<Error> (*explain)(const std::exception&));

}  // namespace lockstep
