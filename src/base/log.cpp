#include "lockstep/base/log.hpp"

#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/wall_clock.hpp"

namespace lockstep {
namespace {

constexpr const char* erase_line = "\r\033[K";

nlohmann::ordered_json json_of(const LogValue& value) {
  return std::visit(
      [](const auto& held) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, double>) {
          // JSON has no NaN or infinity; as strings they are kept rather than lost.
          if (!std::isfinite(held)) return std::isnan(held) ? "nan" : held > 0 ? "inf" : "-inf";
        }
        return held;
      },
      value);
}

}  // namespace

struct Log::Sinks {
  int rank;
  bool terminal = false;
  bool progress_shown = false;
  std::vector<std::string> early;           // what was said before there was a log.txt
  std::shared_ptr<spdlog::logger> people;   // rank 0: standard output and log.txt
  std::shared_ptr<spdlog::logger> trouble;  // standard error
  std::shared_ptr<spdlog::logger> machines;

  void clear_progress() {
    if (!progress_shown) return;
    std::fputs(erase_line, stdout);
    std::fflush(stdout);
    progress_shown = false;
  }
};

Log::Log(int rank) : sinks_(std::make_unique<Sinks>()) {
  sinks_->rank = rank;
  sinks_->terminal = rank == 0 && isatty(STDOUT_FILENO) == 1;
  sinks_->people = std::make_shared<spdlog::logger>("people");
  sinks_->trouble = std::make_shared<spdlog::logger>(
      "trouble", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  sinks_->trouble->set_pattern("%v");
  if (rank == 0) {
    auto console = std::make_shared<spdlog::sinks::stdout_sink_mt>();
    console->set_pattern("%v");
    sinks_->people->sinks().push_back(std::move(console));
  }
  sinks_->people->flush_on(spdlog::level::info);
}

Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;
Log::~Log() = default;

void Log::open_files(const std::filesystem::path& directory) {
  if (sinks_->rank != 0) return;
  try {
    auto text =
        std::make_shared<spdlog::sinks::basic_file_sink_mt>((directory / "log.txt").string());
    text->set_pattern("%Y-%m-%d %H:%M:%S  %v");
    spdlog::logger file("file", text);
    for (const std::string& line : sinks_->early) file.info(line);
    sinks_->early.clear();
    sinks_->people->sinks().push_back(std::move(text));
    sinks_->machines = std::make_shared<spdlog::logger>(
        "machines",
        std::make_shared<spdlog::sinks::basic_file_sink_mt>((directory / "log.jsonl").string()));
    sinks_->machines->set_pattern("%v");
    sinks_->machines->flush_on(spdlog::level::info);
  } catch (const spdlog::spdlog_ex& failure) {
    throw Error("open the log files in " + directory.string(), failure.what());
  }
}

void Log::info(std::string_view text) {
  sinks_->clear_progress();
  sinks_->people->info(text);
  if (sinks_->rank == 0 && !sinks_->machines) sinks_->early.emplace_back(text);
}

void Log::warn(std::string_view text) {
  sinks_->clear_progress();
  if (sinks_->rank == 0) {
    info("warning: " + std::string(text));
  } else {
    sinks_->trouble->warn("[rank " + std::to_string(sinks_->rank) +
                          "] warning: " + std::string(text));
  }
}

void Log::error(std::string_view text) {
  sinks_->clear_progress();
  sinks_->trouble->error("lockstep: [rank " + std::to_string(sinks_->rank) + "] " +
                         std::string(text));
}

void Log::event(std::string_view name, const LogFields& fields) {
  if (!sinks_->machines) return;
  nlohmann::ordered_json record;
  record["event"] = name;
  record["time"] = wall_seconds();
  for (const auto& [key, value] : fields) record[key] = json_of(value);
  sinks_->machines->info(
      record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void Log::progress(std::string_view text) {
  if (!sinks_->terminal) return;
  std::fputs(erase_line, stdout);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  sinks_->progress_shown = true;
}

}  // namespace lockstep
