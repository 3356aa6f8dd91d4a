#include "lockstep/data/cifar10.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"

#include "data/equal_data.hpp"
#include "data/memory_dataset.hpp"

namespace lockstep {
namespace {

constexpr ImageShape shape{3, 32, 32};
constexpr std::int64_t num_classes = 10;
constexpr std::int64_t record_bytes = 1 + 3 * 32 * 32;
constexpr const char* usual_folder = "cifar-10-batches-bin";
constexpr const char* remedy =
    "--train_data is to name the folder of data_batch_1.bin to data_batch_5.bin and "
    "test_batch.bin, "
    "from https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz";

struct Records {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> labels;
};

std::vector<char> content_of(const std::filesystem::path& path) {
  std::error_code failure;
  const auto bytes = std::filesystem::file_size(path, failure);
  if (failure) throw UsageError("read " + path.string(), failure.message(), remedy);
  if (bytes == 0 || bytes % record_bytes != 0) {
    throw UsageError("read " + path.string(),
                     "its " + std::to_string(bytes) + " bytes are no whole number of records of " +
                         std::to_string(record_bytes) + " bytes",
                     "CIFAR-10's own files have 30730000 bytes each; unpack them again");
  }
  std::vector<char> content(bytes);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(content.data(), std::ssize(content))) {
    throw UsageError("read " + path.string(), "it cannot be read to its end", remedy);
  }
  return content;
}

void append(const std::filesystem::path& path, Records& records) {
  const std::vector<char> content = content_of(path);
  for (auto record = content.begin(); record != content.end(); record += record_bytes) {
    const auto label = static_cast<std::uint8_t>(*record);
    if (label >= num_classes) {
      throw UsageError("read " + path.string(),
                       "record " + std::to_string((record - content.begin()) / record_bytes) +
                           " has label " + std::to_string(label) + ", expected 0 to 9",
                       remedy);
    }
    records.labels.push_back(label);
    records.pixels.insert(records.pixels.end(), record + 1, record + record_bytes);
  }
}

std::unique_ptr<Dataset> read_samples(const std::filesystem::path& folder,
                                      const std::vector<std::string>& files,
                                      const std::string& part) {
  Records records;
  for (const std::string& file : files) append(folder / file, records);
  return std::make_unique<MemoryDataset>(folder.string() + ":" + part, shape, num_classes,
                                         std::move(records.pixels), 1.0 / 255.0,
                                         std::move(records.labels));
}

Splits read_splits(const Cifar10Options& options) {
  if (options.train_data.empty()) {
    throw UsageError("open train_data", "no folder is named", remedy);
  }
  std::filesystem::path folder = options.train_data;
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw UsageError("open train_data '" + folder.string() + "'", "there is no such folder",
                     remedy);
  }
  if (std::filesystem::is_directory(folder / usual_folder, ignored)) folder /= usual_folder;
  require_fit(options.image, folder.string(), shape, num_classes);
  Splits splits;
  splits.training = read_samples(folder,
                                 {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                  "data_batch_4.bin", "data_batch_5.bin"},
                                 "train");
  splits.validation = read_samples(folder, {"test_batch.bin"}, "test");
  return splits;
}

}  // namespace

FieldTable Cifar10Builder::fields() {
  FieldTable table{field("train_data", options_.train_data,
                         "file with the training samples, or the folder of cifar10's files")};
  for (Field& image : lockstep::fields(options_.image)) table.push_back(std::move(image));
  return table;
}

Splits Cifar10Builder::build(IoThread& /*io*/, Communicator& comm, std::uint64_t /*seed*/) const {
  Splits splits = agreed(comm, [&] { return read_splits(options_); });
  splits.fingerprint = common_fingerprint(comm, *splits.training);
  static_cast<void>(common_fingerprint(comm, *splits.validation));
  return splits;
}

}  // namespace lockstep
