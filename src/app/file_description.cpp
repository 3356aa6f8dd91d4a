#include "app/file_description.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "lockstep/base/content_hash.hpp"
#include "lockstep/base/dtype.hpp"
#include "lockstep/base/error.hpp"
#include "lockstep/base/narrow.hpp"
#include "lockstep/base/text.hpp"
#include "lockstep/io/hdf5_file.hpp"

namespace lockstep {
namespace {

// Those that say what a run is, in the order they are shown in.
constexpr std::array shown_settings{"dataset",  "train_data", "model",  "optimizer",
                                    "schedule", "lr",         "epochs", "batch_size",
                                    "seed",     "checkpoint", "split"};
constexpr std::array shown_provenance{"world_size", "precision", "lockstep_version"};

std::string text_of(const AttributeValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return shortest_text(*number);
  return std::to_string(std::get<std::int64_t>(value));
}

std::string extents_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> extents;
  for (const std::int64_t extent : shape) extents.push_back(std::to_string(extent));
  return fmt::format("[{}]", joined(extents, ", "));
}

std::string first_line(const Hdf5File& file) {
  const std::optional<AttributeValue> format = file.attribute("/", "format");
  const std::optional<AttributeValue> version = file.attribute("/", "format_version");
  const std::optional<AttributeValue> program = file.attribute("/", "lockstep_version");
  const std::string size = fmt::format("{} bytes", std::filesystem::file_size(file.path()));
  if (!format) return "HDF5 data that name no format; " + size;
  std::string line = text_of(*format);
  if (version) line += ", format version " + text_of(*version);
  if (program) line += ", by Lockstep " + text_of(*program);
  return line + "; " + size;
}

/// The root's other attributes.
std::string attribute_lines(const Hdf5File& file) {
  constexpr std::array told{"format", "format_version", "lockstep_version"};
  std::string lines;
  for (const Attribute& attribute : file.attributes("/")) {
    if (std::find(told.begin(), told.end(), attribute.name) != told.end()) continue;
    lines += "  " + attribute.name + " = " + text_of(attribute.value) + "\n";
  }
  return lines;
}

template <std::size_t Count>
std::string settings_line(const Hdf5File& file, const char* group,
                          const std::array<const char*, Count>& shown) {
  std::vector<Attribute> settings;
  try {
    settings = file.attributes(group);
  } catch (const Error&) {  // data and files of others have none
    return {};
  }
  std::vector<std::string> parts;
  for (const char* name : shown) {
    for (const Attribute& setting : settings) {
      if (setting.name == name) parts.push_back(setting.name + " = " + text_of(setting.value));
    }
  }
  parts.push_back(fmt::format("{} entries in all", settings.size()));
  return fmt::format("{}: {}\n", group, joined(parts, ", "));
}

std::int64_t integer_at(const Hdf5File& file, const std::string& path) {
  std::int64_t value = 0;
  file.read(path, DType::int64, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

std::string position_line(const Hdf5File& file) {
  constexpr std::array needed{"/sampler/epoch", "/sampler/offset", "/sampler/global_step",
                              "/sampler/consumed_samples"};
  for (const char* path : needed) {
    if (!file.contains(path)) return {};
  }
  return fmt::format(
      "position: {} done and {} of the next; {}, {}\n",
      counted(integer_at(file, needed[0]), "epoch"), counted(integer_at(file, needed[1]), "sample"),
      counted(integer_at(file, needed[2]), "step"), counted(integer_at(file, needed[3]), "sample"));
}

/// Empty where the elements are of no DType: what HDF5 would have to convert is not hashed.
std::string hash_text(const Hdf5File& file, const std::string& path, std::int64_t elements) {
  const std::optional<DType> dtype = file.dtype(path);
  if (!dtype) return {};
  std::vector<std::byte> bytes(narrow<std::size_t>(elements) * size_of(*dtype));
  file.read(path, *dtype, bytes);
  ContentHash hash;
  hash.add(bytes);
  return "  xxh3 " + hash.text();
}

std::string dataset_lines(const Hdf5File& file, bool with_hashes) {
  const std::vector<std::string> paths = file.datasets();
  std::size_t width = 0;
  for (const std::string& path : paths) width = std::max(width, path.size());
  std::string lines;
  std::int64_t total = 0;
  for (const std::string& path : paths) {
    const ElementType type = file.element_type(path);
    const std::vector<std::int64_t> shape = file.shape(path);
    lines += fmt::format("  {:<{}}  {} {}", path, width, type.name, extents_text(shape));
    if (type.is_number()) {
      const std::int64_t bytes = element_count(shape) * type.bits / 8;
      total += bytes;
      lines += fmt::format("  {} bytes", bytes);
    }
    if (with_hashes) lines += hash_text(file, path, element_count(shape));
    const std::optional<AttributeValue> units = file.attribute(path, "units");
    lines += units ? "  " + text_of(*units) + "\n" : "\n";
  }
  return fmt::format("{} data sets, {} bytes:\n", paths.size(), total) + lines;
}

}  // namespace

std::string description_of_file(const std::filesystem::path& path, bool with_hashes) {
  const Hdf5File file(path);
  return first_line(file) + "\n" + attribute_lines(file) +
         settings_line(file, "/config", shown_settings) +
         settings_line(file, "/provenance", shown_provenance) + position_line(file) +
         dataset_lines(file, with_hashes);
}

}  // namespace lockstep
