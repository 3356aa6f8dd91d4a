#include "lockstep/control/job_end.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <limits>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/base/file_descriptor.hpp"
#include "lockstep/base/text.hpp"

namespace lockstep {
namespace {

using Clock = std::chrono::steady_clock;

/// The time a command has, unless somebody calls it off before.
struct Limit {
  Clock::time_point deadline;
  const WakeEvent* calls_off;  ///< null: nobody does

  /// Waits until `source` (-1: nothing) may be read or `longest` is over; also a signal ends the
  /// waiting. False where the limit is reached.
  bool wait(int source, std::chrono::milliseconds longest) const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    const int off = calls_off == nullptr ? -1 : calls_off->descriptor();
    std::array<pollfd, 2> sources{pollfd{.fd = source, .events = POLLIN, .revents = 0},
                                  pollfd{.fd = off, .events = POLLIN, .revents = 0}};
    ::poll(sources.data(), sources.size(), static_cast<int>(std::min(left, longest).count()));
    return sources[1].revents == 0;
  }
};

/// Reads all that comes until the other end is closed; false where the limit is reached first.
bool read_until(const Limit& limit, const FileDescriptor& source, std::string& text) {
  while (limit.wait(source.get(), std::chrono::hours(1))) {
    std::array<char, 512> part{};
    const ssize_t count = ::read(source.get(), part.data(), part.size());
    if (count == 0) return true;
    if (count > 0) {
      text.append(part.data(), static_cast<std::size_t>(count));
    } else if (errno != EAGAIN && errno != EINTR) {
      return false;
    }
  }
  return false;
}

/// The status a child ends with; nothing where the limit is reached first.
std::optional<int> status_until(const Limit& limit, pid_t child) {
  do {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return std::nullopt;
  } while (limit.wait(-1, std::chrono::milliseconds(10)));
  return std::nullopt;
}

std::optional<pid_t> start(const std::vector<std::string>& command, int output) {
  std::vector<char*> arguments;
  for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files{};
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  // A training's signals are not the child's.
  posix_spawnattr_t attributes{};
  posix_spawnattr_init(&attributes);
  sigset_t all{};
  sigfillset(&all);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) return std::nullopt;
  return child;
}

}  // namespace

std::optional<double> parse_job_end(std::string_view text) {
  const std::string time(trimmed(text));
  if (time == "N/A" || time == "NONE" || time == "UNLIMITED" || time == "Unknown") {
    return std::numeric_limits<double>::infinity();
  }
  std::tm fields{};
  const char* const rest = strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &fields);
  if (rest == nullptr || *rest != '\0') return std::nullopt;
  fields.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&fields);
  if (seconds == -1) return std::nullopt;
  return static_cast<double>(seconds);
}

std::optional<std::string> output_of(const std::vector<std::string>& command,
                                     double deadline_seconds, const WakeEvent* calls_off) {
  const Limit limit{
      Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(deadline_seconds * 1e3)),
      calls_off};
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const FileDescriptor source(ends[0]);
  FileDescriptor sink(ends[1]);
  // A read must not wait where a signal ended the waiting for something to read.
  if (::fcntl(source.get(), F_SETFL, O_NONBLOCK) != 0) return std::nullopt;
  const std::optional<pid_t> child = start(command, sink.get());
  sink.reset();
  if (!child) return std::nullopt;
  std::string text;
  std::optional<int> status;
  if (read_until(limit, source, text)) status = status_until(limit, *child);
  if (!status) {
    ::kill(-*child, SIGKILL);
    while (::waitpid(*child, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  if (!status || !WIFEXITED(*status) || WEXITSTATUS(*status) != 0) return std::nullopt;
  return text;
}

JobEnd::Question job_end_question(const SlurmEnvironment& slurm, double deadline_seconds) {
  if (!slurm.in_job()) return {};
  // The plain number of one of an array's tasks is also the array's, of which squeue lists all.
  const bool in_array = slurm.array_job_id && slurm.array_task_id;
  const std::string job =
      in_array ? *slurm.array_job_id + "_" + *slurm.array_task_id : *slurm.job_id;
  return [job, told = slurm.job_end_time,
          deadline_seconds](const WakeEvent& calls_off) mutable -> std::optional<double> {
    // env: a user's SLURM_TIME_FORMAT would change the answer's form.
    const auto text = output_of({"env", "SLURM_TIME_FORMAT=standard", "squeue", "--noheader",
                                 "--jobs=" + job, "--format=%e"},
                                deadline_seconds, &calls_off);
    const std::optional<double> answer = text ? parse_job_end(*text) : std::nullopt;
    if (answer) {
      told.reset();  // from now on squeue knows better, also while it is silent
      return answer;
    }
    if (told) return static_cast<double>(*told);
    return std::nullopt;
  };
}

JobEnd::JobEnd(Question question, double interval_seconds)
    : question_(std::move(question)), seconds_(std::numeric_limits<double>::infinity()) {
  if (!question_) return;
  thread_ = std::thread([this, interval_seconds] { ask_regularly(interval_seconds); });
}

JobEnd::~JobEnd() {
  if (!thread_.joinable()) return;
  ending_.set();
  thread_.join();
}

void JobEnd::ask_regularly(double interval_seconds) {
  do {
    if (const std::optional<double> answer = question_(ending_)) seconds_.store(*answer);
  } while (!ending_.wait_for(interval_seconds));
}

}  // namespace lockstep
