#include "lockstep/control/job_end.hpp"

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

constexpr double squeue_deadline = 10.0;  // seconds

/// Reads all that comes until the other end is closed; false past the deadline.
bool read_until(Clock::time_point deadline, const FileDescriptor& source, std::string& text) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{.fd = source.get(), .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) == 0) return false;
    std::array<char, 512> part{};
    const ssize_t count = ::read(source.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
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
                                     double deadline_seconds) {
  const auto deadline =
      Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(deadline_seconds * 1e3));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  const FileDescriptor source(ends[0]);
  FileDescriptor sink(ends[1]);
  const std::optional<pid_t> child = start(command, sink.get());
  sink.reset();
  if (!child) return std::nullopt;
  std::string text;
  const bool in_time = read_until(deadline, source, text);
  if (!in_time) ::kill(-*child, SIGKILL);
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) continue;
  if (!in_time || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return text;
}

std::function<std::optional<double>()> job_end_question(const SlurmEnvironment& slurm) {
  if (!slurm.in_job()) return {};
  return [job = *slurm.job_id, told = slurm.job_end_time]() -> std::optional<double> {
    // env: a user's SLURM_TIME_FORMAT would change the answer's form.
    const auto text = output_of({"env", "SLURM_TIME_FORMAT=standard", "squeue", "--noheader",
                                 "--jobs=" + job, "--format=%e"},
                                squeue_deadline);
    if (text) return parse_job_end(*text);
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
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void JobEnd::ask_regularly(double interval_seconds) {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    lock.unlock();
    if (const std::optional<double> answer = question_()) seconds_.store(*answer);
    lock.lock();
    changed_.wait_for(lock, std::chrono::duration<double>(interval_seconds),
                      [this] { return ending_; });
  }
}

}  // namespace lockstep
