#include <optional>
#include <string>
#include <utility>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/communicator.hpp"
#include "lockstep/data/hdf5_dataset.hpp"
#include "lockstep/io/hdf5_file.hpp"
#include "lockstep/io/io_thread.hpp"

#include "data/equal_data.hpp"
#include "data/hdf5_open.hpp"
#include "data/hdf5_samples.hpp"
#include "data/hdf5_search.hpp"
#include "data/subset_dataset.hpp"

namespace lockstep {
namespace {

SampleSearch training_search(const Hdf5Options& options) {
  return {.words = {"train", "training"},
          .plain = true,
          .image_key = options.image_key,
          .label_key = options.label_key};
}

/// The keys of the validation samples: their own, or those of the training samples where they are
/// names within a group.
SampleSearch validation_search(const Hdf5Options& options, bool own_file) {
  SampleSearch search{.words = {"validation", "val", "valid"},
                      .plain = own_file,
                      .image_setting = "val_image_key",
                      .label_setting = "val_label_key"};
  // Where a part of the training samples is to be validated on, the test samples are for later.
  if (own_file || options.val_fraction == 0.0) search.words.emplace_back("test");
  const auto chosen = [](const std::string& own, const std::string& other) {
    return own != "auto" || other.starts_with('/') ? own : other;
  };
  search.image_key = chosen(options.val_image_key, options.image_key);
  search.label_key = chosen(options.val_label_key, options.label_key);
  // A key of their own may lie anywhere.
  search.plain = search.plain || options.val_image_key != "auto";
  return search;
}

SampleKeys found_in(const Hdf5File& file, const SampleSearch& search) {
  const std::optional<SampleKeys> keys = find_samples(file, search);
  if (keys) return *keys;
  const std::string attempted = "find the images in " + file.path().string();
  if (search.image_key != "auto") {
    throw UsageError(attempted,
                     unknown_name_text("data set", "/" + search.image_key, file.datasets()),
                     "name them by --" + search.image_setting + ", or leave that out");
  }
  throw UsageError(attempted, "no data set can be; the file holds " + contents_text(file),
                   "name them by --" + search.image_setting);
}

std::unique_ptr<Dataset> read_training(const Hdf5File& file, const Hdf5Options& options) {
  return reading(options.train_data, [&] {
    return read_hdf5_samples(
        file, found_in(file, training_search(options)),
        {.image = options.image,
         .layout = options.image_layout,
         .shape_text = options.image.shape_text(),
         .shape_remedy = "leave in_channels and image_size out, and they follow the data"});
  });
}

std::unique_ptr<Dataset> read_validation(const Hdf5File& file, const SampleKeys& keys,
                                         const Hdf5Options& options, const Dataset& training) {
  const ImageShape shape = training.image_shape();
  ImageOptions image{.in_channels = shape.channels, .num_classes = training.num_classes()};
  if (shape.height == shape.width) image.image_size = shape.height;
  const std::string text = "those of " + training.name() + " are " + text_of(shape);
  const std::string remedy = "training and validation images must be of one size";
  return reading(file.path().string(), [&] {
    auto validation = read_hdf5_samples(file, keys,
                                        {.image = image,
                                         .layout = options.image_layout,
                                         .shape_text = text,
                                         .shape_remedy = remedy});
    if (validation->image_shape() == shape) return validation;
    throw UsageError("read " + validation->name(),
                     "images are " + text_of(validation->image_shape()) + ", but " + text, remedy);
  });
}

Splits read_splits(const Hdf5Options& options) {
  const Hdf5File file = open_data("train_data", options.train_data);
  const bool own_file = !options.val_data.empty();
  const SampleSearch search = validation_search(options, own_file);
  std::optional<SampleKeys> keys;
  std::optional<Hdf5File> other;
  if (own_file) other = open_data("val_data", options.val_data);
  reading(options.train_data, [&] {
    if (!own_file) keys = find_samples(file, search);
    if (keys || own_file || options.val_image_key == "auto") return;
    found_in(file, search);
  });
  if (options.val_fraction > 0.0 && (own_file || keys)) {
    throw UsageError("split off validation data",
                     "val_fraction is set, but there is validation data in " +
                         (own_file ? options.val_data : options.train_data + ":" + keys->name),
                     "set val_fraction to 0");
  }
  Splits splits;
  splits.training = read_training(file, options);
  if (other) {
    keys = reading(options.val_data, [&] { return found_in(*other, search); });
    splits.validation = read_validation(*other, *keys, options, *splits.training);
  } else if (keys) {
    splits.validation = read_validation(file, *keys, options, *splits.training);
  } else if (options.val_fraction > 0.0) {
    splits = split_off_validation(std::move(splits.training), options.val_fraction);
  }
  return splits;
}

}  // namespace

FieldTable Hdf5Builder::fields() {
  const std::string keys = ", as inputs/README.md says";
  FieldTable table{
      field("train_data", options_.train_data,
            "file with the training samples, or the folder of cifar10's files"),
      field("val_data", options_.val_data,
            "HDF5 file with the validation samples; empty: those of train_data, where there are "
            "some"),
      field("val_fraction", options_.val_fraction,
            "part of the training samples to validate on instead", from_up_to(0.0, 1.0)),
      field("image_key", options_.image_key, "name of the data set of images; auto: found" + keys),
      field("label_key", options_.label_key, "name of the data set of labels; auto: found" + keys),
      field("val_image_key", options_.val_image_key,
            "the same for validation images; auto: as image_key"),
      field("val_label_key", options_.val_label_key,
            "the same for validation labels; auto: as label_key"),
      field("image_layout", options_.image_layout,
            "order of the images' dimensions; auto: the attribute layout, or what the shape tells",
            {"auto", "NCHW", "NHWC", "NHW"}),
  };
  for (Field& image : lockstep::fields(options_.image)) table.push_back(std::move(image));
  return table;
}

Splits Hdf5Builder::build(IoThread& io, Communicator& comm, std::uint64_t /*seed*/) const {
  Splits splits = agreed(comm, [&] { return io.run([this] { return read_splits(options_); }); });
  splits.fingerprint = common_fingerprint(comm, *splits.training);
  if (splits.validation) static_cast<void>(common_fingerprint(comm, *splits.validation));
  return splits;
}

}  // namespace lockstep
