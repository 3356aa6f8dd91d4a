#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep {

/// An error for the person at the terminal: what was attempted, why it failed, what to try.
/// what() joins the three into "<attempted>: <reason>\n  try: <remedy>". Rank and host are added
/// where the error is reported, so throwing needs no communicator.
class Error : public std::runtime_error {
 public:
  explicit Error(std::string attempted, std::string reason = {}, std::string remedy = {});

  const std::string& attempted() const { return attempted_; }
  const std::string& reason() const { return reason_; }
  const std::string& remedy() const { return remedy_; }

 private:
  std::string attempted_;
  std::string reason_;
  std::string remedy_;
};

/// An error in what the user asked for: command line, configuration, launch. Ends the program with
/// ExitCode::usage before anything is written.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Throws Error unless `condition` holds.
inline void check(bool condition, const char* attempted, const char* reason) {
  if (!condition) throw Error(attempted, reason);
}

/// Throws UsageError listing `problems` unless there are none.
void throw_problems(const std::string& attempted, const std::vector<std::string>& problems);

/// The text of errno value `code`, as strerror_r gives it.
std::string errno_text(int code);

}  // namespace lockstep
