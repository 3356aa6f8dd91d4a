#include "lockstep/io/hdf5_file.hpp"

#include <algorithm>
#include <utility>

#include <fcntl.h>

#include "lockstep/base/error.hpp"

#include "io/hdf5.hpp"
#include "io/posix_file.hpp"

namespace lockstep {

struct Hdf5File::State {
  std::filesystem::path path;
  hdf5::FileHandle file;
  std::vector<std::string> datasets;

  hdf5::ObjectHandle open(std::string_view dataset) const {
    if (!std::binary_search(datasets.begin(), datasets.end(), dataset)) {
      throw Error("open data set '" + std::string(dataset) + "' of '" + path.string() + "'",
                  "there is none of that name");
    }
    return hdf5::open_object(file.get(), std::string(dataset));
  }
};

Hdf5File::Hdf5File(std::filesystem::path path) : state_(std::make_unique<State>()) {
  // The system says more clearly than the library why a file cannot be read.
  static_cast<void>(open_file(path, O_RDONLY, "open"));
  state_->path = std::move(path);
  state_->file = hdf5::open_file(state_->path, true);
  state_->datasets = hdf5::list_objects(state_->file.get()).datasets;
}

Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;
Hdf5File::~Hdf5File() = default;

const std::filesystem::path& Hdf5File::path() const {
  return state_->path;
}

std::vector<std::string> Hdf5File::datasets() const {
  return state_->datasets;
}

bool Hdf5File::contains(std::string_view dataset) const {
  return std::binary_search(state_->datasets.begin(), state_->datasets.end(), dataset);
}

std::vector<std::int64_t> Hdf5File::shape(std::string_view dataset) const {
  return hdf5::shape_of(state_->open(dataset));
}

std::optional<DType> Hdf5File::dtype(std::string_view dataset) const {
  return hdf5::dtype_of(hdf5::type_of(state_->open(dataset)).get());
}

ElementType Hdf5File::element_type(std::string_view dataset) const {
  return hdf5::element_type_of(hdf5::type_of(state_->open(dataset)).get());
}

void Hdf5File::read(std::string_view dataset, DType dtype, std::span<std::byte> into) const {
  const std::vector<std::int64_t> extents = shape(dataset);
  read_box(dataset, dtype, std::vector<std::int64_t>(extents.size(), 0), extents, into);
}

void Hdf5File::read_rows(std::string_view dataset, DType dtype, std::int64_t first,
                         std::int64_t count, std::span<std::byte> into) const {
  std::vector<std::int64_t> extents = shape(dataset);
  if (extents.empty() || first < 0 || count < 0 || count > extents[0] - first) {
    throw Error("read entries " + std::to_string(first) + " to " + std::to_string(first + count) +
                    " of data set '" + std::string(dataset) + "' of '" + path().string() + "'",
                "its shape is " + description_of(dtype, extents));
  }
  std::vector<std::int64_t> start(extents.size(), 0);
  start[0] = first;
  extents[0] = count;
  read_box(dataset, dtype, start, extents, into);
}

void Hdf5File::read_box(std::string_view dataset, DType dtype,
                        const std::vector<std::int64_t>& start,
                        const std::vector<std::int64_t>& count, std::span<std::byte> into) const {
  const std::string attempted =
      "read data set '" + std::string(dataset) + "' of '" + path().string() + "'";
  const auto bytes = static_cast<std::size_t>(byte_count(dtype, count));
  if (into.size() != bytes) {
    throw Error(attempted, description_of(dtype, count) + " takes " + std::to_string(bytes) +
                               " bytes, the memory has " + std::to_string(into.size()));
  }
  hdf5::read(state_->open(dataset), dtype, {.start = start, .count = count}, into.data(),
             attempted);
}

std::vector<Attribute> Hdf5File::attributes(std::string_view object) const {
  const hdf5::ObjectHandle opened = hdf5::open_object(state_->file.get(), std::string(object));
  return hdf5::read_attributes(opened.get());
}

std::optional<AttributeValue> Hdf5File::attribute(std::string_view object,
                                                  std::string_view name) const {
  const hdf5::ObjectHandle opened = hdf5::open_object(state_->file.get(), std::string(object));
  if (!hdf5::has_attribute(opened.get(), std::string(name))) return std::nullopt;
  return hdf5::read_attribute(opened.get(), std::string(name));
}

}  // namespace lockstep
