#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"
#include "lockstep/comm/self_communicator.hpp"
#include "lockstep/io/checkpoint_file.hpp"
#include "lockstep/io/io_thread.hpp"
#include "lockstep/io/sealed_file.hpp"

#include "app/commands.hpp"
#include "app/file_description.hpp"

namespace lockstep {
namespace {

struct Request {
  std::filesystem::path path;
  bool verify = false;
  bool hashes = false;
};

constexpr const char* usage = "lockstep inspect FILE [--verify] [--hashes]";

Request request_of(const std::vector<std::string>& arguments) {
  Request request;
  for (const std::string& argument : arguments) {
    if (argument == "--verify") {
      request.verify = true;
    } else if (argument == "--hashes") {
      request.hashes = true;
    } else if (argument.starts_with("-") || !request.path.empty()) {
      throw UsageError("inspect a file", "'" + argument + "' is one argument too many", usage);
    } else {
      request.path = argument;
    }
  }
  if (request.path.empty()) throw UsageError("inspect a file", "none is named", usage);
  return request;
}

void check_is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return;
  throw UsageError("inspect " + path.string(),
                   std::filesystem::is_directory(path, ignored) ? "that is a directory"
                                                                : "there is no such file",
                   "a checkpoint, metrics.h5, predictions.h5 or an HDF5 file of data");
}

/// Whether the file looks like HDF5: the signature is at 0, 512, 1024, 2048 and so on.
bool looks_like_hdf5(const std::filesystem::path& path) {
  constexpr std::array signature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  std::ifstream file(path, std::ios::binary);
  const auto bytes = static_cast<std::streamoff>(std::filesystem::file_size(path));
  for (std::streamoff at = 0; at < bytes; at = at == 0 ? 512 : 2 * at) {
    std::array<char, signature.size()> found{};
    file.seekg(at);
    if (!file.read(found.data(), found.size())) return false;
    if (found == signature) return true;
  }
  return false;
}

/// Does `work` in a process of its own, since HDF5 may crash on a damaged file. Called before there
/// are other threads.
ExitCode in_child(const std::function<ExitCode()>& work) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Error("start a process to read the file with", errno_text(errno));
  if (child == 0) {
    const ExitCode code = work();
    std::fflush(nullptr);
    ::_exit(static_cast<int>(code));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return static_cast<ExitCode>(WEXITSTATUS(status));
  std::printf("damaged: the HDF5 library crashed (%s) while reading it\n",
              ::strsignal(WTERMSIG(status)));
  return ExitCode::failure;
}

ExitCode describe(const Request& request) {
  try {
    IoThread io;
    const std::string text =
        io.run([&] { return description_of_file(request.path, request.hashes); });
    std::fputs(text.c_str(), stdout);
    // A checkpoint tells by its first bytes that it is one; this one's are damaged or missing.
    if (!begins_with_seal(request.path) && text.starts_with(checkpoint_format().name)) {
      std::puts("damaged: it does not begin with Lockstep's mark of a finished file");
      return ExitCode::failure;
    }
    return ExitCode::success;
  } catch (const std::exception& error) {
    std::printf("damaged: %s\n", error.what());
    return ExitCode::failure;
  }
}

/// Prints what is wrong with a sealed file as far as it is looked at, and the state of its hashes.
bool seal_holds(const Request& request) {
  try {
    const Seal seal = read_seal(request.path);
    if (request.verify) {
      SelfCommunicator alone;
      verify_sealed_file(request.path, checkpoint_format(), alone);
    }
    std::printf("hashes: %s of up to 4 MiB, root %s; %s\n", counted(seal.blocks, "block").c_str(),
                seal.hash.c_str(),
                request.verify ? "all agree with the content" : "not compared (--verify does)");
    return true;
  } catch (const Error& error) {
    std::printf("%s\n", error.reason().c_str());
    return false;
  }
}

}  // namespace

std::string inspect_help() {
  return fmt::format(
      "usage: {}\n\n"
      "Describes a checkpoint, metrics.h5, predictions.h5 or an HDF5 file of data: kind, "
      "versions,\n"
      "the run's settings in short, its position, all data sets with types, shapes and sizes.\n"
      "Without --verify a checkpoint's first block and length are checked; with it, all of it is\n"
      "compared with its hashes, which other files do not have. --hashes shows one of each data\n"
      "set's numbers: where two files show the same, they are equal to the bit.\n\n"
      "exit codes: 0 fine, 1 damaged, 2 no file or none that Lockstep knows\n",
      usage);
}

ExitCode inspect_command(const std::vector<std::string>& arguments) {
  const Request request = request_of(arguments);
  check_is_file(request.path);
  std::printf("%s\n", request.path.c_str());
  if (begins_with_seal(request.path)) {
    if (!seal_holds(request)) return ExitCode::failure;
  } else {
    if (!looks_like_hdf5(request.path)) {
      throw UsageError("inspect " + request.path.string(), "it is neither HDF5 nor a checkpoint");
    }
    if (request.verify) std::puts("hashes: it has none, so only its tables can be looked at");
  }
  return in_child([&] { return describe(request); });
}

}  // namespace lockstep
