#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lockstep {

/// A value of a machine-readable record.
using LogValue = std::variant<bool, std::int64_t, double, std::string>;
using LogFields = std::vector<std::pair<std::string, LogValue>>;

/// Where a run reports to. Rank 0 speaks on standard output and, once files are opened, in log.txt
/// (text for people) and log.jsonl (one JSON object a line, for machines); other ranks are silent
/// but for warnings and errors, which go to standard error with their rank. Not collective.
class Log {
 public:
  explicit Log(int rank);
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;
  ~Log();

  /// Opens log.txt and log.jsonl in `directory` for appending (rank 0 only; elsewhere nothing is
  /// done). Throws Error where a file cannot be opened.
  void open_files(const std::filesystem::path& directory);

  void info(std::string_view text);
  void warn(std::string_view text);
  void error(std::string_view text);

  /// One line in log.jsonl: {"event": <name>, "time": <seconds since 1970>, fields...}.
  void event(std::string_view name, const LogFields& fields);

  /// Replaces the progress line at the foot of the terminal; does nothing where standard output is
  /// no terminal, so job logs stay free of it.
  void progress(std::string_view text);

 private:
  struct Sinks;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace lockstep
