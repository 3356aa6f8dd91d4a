#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/communicator.hpp"
#include "lockstep/data/hdf5_dataset.hpp"
#include "lockstep/io/hdf5_file.hpp"
#include "lockstep/io/io_thread.hpp"

#include "data/hdf5_samples.hpp"
#include "data/subset_dataset.hpp"

namespace lockstep {
namespace {

Hdf5File open_data(const std::string& option, const std::string& path) {
  const std::string attempted = "open " + option + " '" + path + "'";
  if (path.empty()) {
    throw UsageError("open " + option, "no file is named", "--" + option + " FILE");
  }
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) {
    throw UsageError(attempted,
                     "there is no such file (looked for from " +
                         std::filesystem::current_path(failure).string() + ")",
                     "paths are relative to where the program is started");
  }
  return Hdf5File(path);
}

bool holds_group(const Hdf5File& file, const std::string& group, const Hdf5Options& options) {
  return file.contains(group + "/" + options.image_key);
}

Splits read_splits(const Hdf5Options& options) {
  const Hdf5File file = open_data("train_data", options.train_data);
  const bool grouped = holds_group(file, "/train", options);
  const bool own_validation = grouped && holds_group(file, "/validation", options);
  if (options.val_fraction > 0.0 && (!options.val_data.empty() || own_validation)) {
    throw UsageError("split off validation data",
                     "val_fraction is set, but there is validation data in " +
                         (options.val_data.empty() ? options.train_data : options.val_data),
                     "set val_fraction to 0");
  }
  Splits splits;
  splits.training = read_hdf5_samples(file, grouped ? "/train" : "", options);
  if (!options.val_data.empty()) {
    const Hdf5File other = open_data("val_data", options.val_data);
    splits.validation = read_hdf5_samples(
        other, holds_group(other, "/validation", options) ? "/validation" : "", options);
  } else if (own_validation) {
    splits.validation = read_hdf5_samples(file, "/validation", options);
  } else if (options.val_fraction > 0.0) {
    splits = split_off_validation(std::move(splits.training), options.val_fraction);
  }
  return splits;
}

/// Nodes may hold different copies of a file, which would train without an error.
void require_equal_data(Communicator& comm, const Dataset& dataset) {
  const std::vector<std::string> prints =
      all_gather_text(comm, fingerprint(dataset), "fingerprints of the data");
  for (std::size_t rank = 1; rank < prints.size(); ++rank) {
    if (prints[rank] != prints[0]) {
      throw UsageError("read " + dataset.name(),
                       "rank " + std::to_string(rank) + " read other data than rank 0",
                       "give all nodes the same file");
    }
  }
}

}  // namespace

FieldTable Hdf5Builder::fields() {
  return {
      field("train_data", options_.train_data, "HDF5 file with the training samples"),
      field("val_data", options_.val_data,
            "HDF5 file with the validation samples; empty: the group validation of train_data, "
            "where there is one"),
      field("val_fraction", options_.val_fraction,
            "part of the training samples to validate on instead", from_up_to(0.0, 1.0)),
      field("image_key", options_.image_key, "name of the data set of images in the file"),
      field("label_key", options_.label_key, "name of the data set of labels in the file"),
      field("num_classes", options_.num_classes, "classes to tell apart", at_least(1)),
      field("in_channels", options_.in_channels, "channels of an image", at_least(1)),
      field("image_size", options_.image_size, "height and width of an image", at_least(1)),
  };
}

Splits Hdf5Builder::build(IoThread& io, Communicator& comm, std::uint64_t /*seed*/) const {
  Splits splits = agreed(comm, [&] { return io.run([this] { return read_splits(options_); }); });
  require_equal_data(comm, *splits.training);
  if (splits.validation) require_equal_data(comm, *splits.validation);
  return splits;
}

}  // namespace lockstep
