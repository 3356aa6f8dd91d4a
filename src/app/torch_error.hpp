#pragma once

#include <exception>
#include <optional>
#include <string>

#include <c10/util/Exception.h>

#include "lockstep/base/error.hpp"

namespace lockstep {

/// Of an error of LibTorch's what is for people: one line, without the place in its source.
std::string text_of(const c10::Error& error);

/// An exception of LibTorch's in Lockstep's words, and std::bad_alloc, with what to lower where
/// memory is full; nothing of others. For explain_errors_by().
std::optional<Error> explain_torch_error(const std::exception& error);

}  // namespace lockstep
