#include "lockstep/base/error.hpp"

#include <system_error>
#include <utility>

#include "lockstep/base/text.hpp"

namespace lockstep {
namespace {

std::string join(const std::string& attempted, const std::string& reason,
                 const std::string& remedy) {
  std::string text = attempted;
  if (!reason.empty()) text += ": " + reason;
  if (!remedy.empty()) text += "\n  try: " + remedy;
  return text;
}

}  // namespace

Error::Error(std::string attempted, std::string reason, std::string remedy)
    : std::runtime_error(join(attempted, reason, remedy)),
      attempted_(std::move(attempted)),
      reason_(std::move(reason)),
      remedy_(std::move(remedy)) {}

void throw_problems(const std::string& attempted, const std::vector<std::string>& problems) {
  if (problems.empty()) return;
  if (problems.size() == 1) throw UsageError(attempted, problems.front());
  throw UsageError(attempted,
                   std::to_string(problems.size()) + " errors\n  " + joined(problems, "\n  "));
}

std::string errno_text(int code) {
  return std::generic_category().message(code);
}

}  // namespace lockstep
