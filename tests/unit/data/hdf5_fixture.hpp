#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/data/hdf5_dataset.hpp"
#include "lockstep/io/io_thread.hpp"

namespace lockstep {

/// The files are written by make_data_files.py, which says what is in them.
inline std::string file(const std::string& name) {
  return LOCKSTEP_DATA_FILES "/" + name;
}

/// Four images of two channels and 3 x 3 pixels, four classes, unless a test says otherwise.
inline Hdf5Options options_for(const std::string& name) {
  Hdf5Options options;
  options.train_data = file(name);
  options.image = {.in_channels = 2, .image_size = 3, .num_classes = 4};
  return options;
}

/// Nothing said about the data but where it is.
inline Hdf5Options bare_options(const std::string& name) {
  Hdf5Options options;
  options.train_data = file(name);
  return options;
}

class Hdf5Data : public testing::Test {
 protected:
  Splits build(const Hdf5Options& options, std::uint64_t seed = 42) {
    return Hdf5Builder(options).build(io_, *comm_, seed);
  }

  /// What the error says, with its kind; every rank must throw the same kind.
  std::string refusal(const Hdf5Options& options) {
    try {
      build(options);
    } catch (const AgreedError& error) {
      return (error.exit_code() == ExitCode::usage ? "usage: " : "failure: ") +
             std::string(error.what());
    } catch (const UsageError& error) {
      return std::string("usage: ") + error.what();
    }
    return "accepted";
  }

  std::unique_ptr<MpiCommunicator> comm_ = MpiCommunicator::duplicate_world();
  IoThread io_;
};

inline std::vector<float> image_of(const Dataset& dataset, std::int64_t id) {
  std::vector<float> image(static_cast<std::size_t>(dataset.image_shape().size()));
  EXPECT_EQ(dataset.read(id, image), dataset.label(id));
  return image;
}

inline std::vector<std::int64_t> labels_of(const Dataset& dataset) {
  std::vector<std::int64_t> labels;
  for (std::int64_t id = 0; id < dataset.size(); ++id) labels.push_back(dataset.label(id));
  return labels;
}

}  // namespace lockstep
