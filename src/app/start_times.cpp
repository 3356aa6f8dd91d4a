#include "app/start_times.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "lockstep/base/wall_clock.hpp"

namespace lockstep {
namespace {

/// In ticks since the machine came up: field 22 of proc_pid_stat(5); below 0 where there is none.
double start_ticks() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  // Field 2 is the program's name in parentheses, which may hold anything.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return -1.0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  std::istringstream number(field);
  double ticks = -1.0;
  number >> ticks;
  return ticks;
}

}  // namespace

double process_age_seconds() {
  const double ticks = start_ticks();
  timespec now{};
  if (ticks < 0.0 || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0.0;
  const double up = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  return std::max(0.0, up - ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

StartTimes::StartTimes(double launched) : last_(steady_seconds()) {
  parts_.emplace_back("load the program", std::max(0.0, wall_seconds() - launched));
}

void StartTimes::done(std::string part) {
  const double now = steady_seconds();
  parts_.emplace_back(std::move(part), now - last_);
  last_ = now;
}

void StartTimes::report(Communicator& world, Log& log) const {
  std::vector<double> slowest;
  for (const auto& [part, seconds] : parts_) slowest.push_back(seconds);
  slowest.push_back(std::accumulate(slowest.begin(), slowest.end(), 0.0));
  std::vector<double> fastest = slowest;
  world.all_reduce(buffer_of(slowest), ReduceOp::max, "parts of the start");
  world.all_reduce(buffer_of(fastest), ReduceOp::min, "parts of the start");

  std::string text = "start, in seconds on the slowest and the fastest rank:";
  LogFields fields;
  for (std::size_t i = 0; i < slowest.size(); ++i) {
    const std::string name = i < parts_.size() ? parts_[i].first : "all";
    text += fmt::format("\n  {:<24}{:>8.3f}{:>8.3f}", name, slowest[i], fastest[i]);
    fields.emplace_back(name, slowest[i]);
  }
  log.info(text);
  log.event("start_times", fields);
}

}  // namespace lockstep
