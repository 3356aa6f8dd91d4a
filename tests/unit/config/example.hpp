#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "lockstep/base/error.hpp"
#include "lockstep/config/configuration.hpp"

#include "support/temporary_directory.hpp"

namespace lockstep {

/// A configuration with one setting of each kind.
struct Example {
  std::int64_t batch_size = 64;
  double lr = 0.1;
  bool use_amp = false;
  bool shuffle = true;
  std::string run_name = "first";
  std::string optimizer = "sgd";
  std::optional<std::int64_t> global_batch_size;
  Configuration config;

  Example() {
    config.add("Training",
               {field("batch_size", batch_size, "samples a rank takes at a time", at_least(1)),
                field("global_batch_size", global_batch_size, "samples a step", at_least(1)),
                field("use_amp", use_amp, "compute in bfloat16 where that is safe"),
                field("run_name", run_name, "name of the run")});
    config.add("Optimizer", {field("optimizer", optimizer, "how weights move", {"sgd", "adam"}),
                             field("lr", lr, "learning rate", above(0))});
    config.add("Data", {field("shuffle", shuffle, "draw a new order each epoch")});
  }
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;

  Requests read(std::vector<std::string> arguments) {
    return config.read({.arguments = std::move(arguments)});
  }

  /// The reason of the error that validate() throws; empty where it throws none.
  std::string wrong() const {
    try {
      config.validate();
    } catch (const UsageError& error) {
      return error.reason();
    }
    return "";
  }
};

/// A folder of the test's own, removed with all that is in it.
class TemporaryFolder {
 public:
  std::string path() const { return directory_.path().string(); }
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = directory_.path() / name;
    put_content(file, text);
    return file.string();
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace lockstep
