#include <algorithm>
#include <cstring>
#include <map>

#include <fcntl.h>

#include "lockstep/base/error.hpp"
#include "lockstep/io/array_file.hpp"

#include "io/agreement.hpp"
#include "io/content_packing.hpp"
#include "io/hdf5.hpp"
#include "io/posix_file.hpp"
#include "io/slices.hpp"
#include "io/user_block.hpp"

namespace lockstep {

struct ArrayFileReader::State {
  std::filesystem::path path;
  Communicator* comm = nullptr;
  hdf5::FileHandle file;  ///< rank 0's only
  std::vector<ArrayInfo> arrays;
  std::vector<Attribute> attributes;
  std::map<std::string, Settings, std::less<>> groups;
  Settings no_settings;

  void open(const FileFormat& format);
  void check_format(const FileFormat& format) const;
  void look_around();
  std::string packed() const;
  void unpack(const std::string& message);
  std::string attempt_to_read(std::string_view array_path) const;
  std::vector<std::byte> read_whole(const ArrayInfo& info);
};

namespace {

template <typename T>
const T* attribute_of(const std::vector<Attribute>& attributes, std::string_view name) {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == name) return std::get_if<T>(&attribute.value);
  }
  return nullptr;
}

Settings texts_among(std::vector<Attribute> attributes) {
  Settings settings;
  for (Attribute& attribute : attributes) {
    if (auto* text = std::get_if<std::string>(&attribute.value)) {
      settings.emplace_back(std::move(attribute.name), std::move(*text));
    }
  }
  return settings;
}

std::size_t bytes_of(const ArrayInfo& info) {
  return static_cast<std::size_t>(element_count(info.shape)) * size_of(info.dtype);
}

/// Row or column `rank` out of a whole array: blocks of `block` bytes, `size` blocks apart.
void copy_own_part(const std::vector<std::byte>& whole, const ArrayTarget& target, int rank,
                   int size) {
  const auto ranks = static_cast<std::size_t>(size);
  const std::size_t rows =
      target.placement == Placement::per_rank ? 1 : static_cast<std::size_t>(target.shape[0]);
  const std::size_t block = whole.size() / (rows * ranks);
  auto* out = static_cast<std::byte*>(target.data);
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(out + row * block,
                whole.data() + (row * ranks + static_cast<std::size_t>(rank)) * block, block);
  }
}

}  // namespace

void ArrayFileReader::State::open(const FileFormat& format) {
  // The system says more clearly than the library why a file cannot be read.
  open_file(path, O_RDONLY, "open");
  if (format.user_block) check_user_block(path);
  // No locks: what carries this name was finished before it got it.
  file = hdf5::open_file(path, false);
  attributes = hdf5::read_attributes(file.get());
  check_format(format);
  look_around();
}

void ArrayFileReader::State::check_format(const FileFormat& format) const {
  const std::string attempted = "open '" + path.string() + "'";
  const std::string* name = attribute_of<std::string>(attributes, "format");
  const std::int64_t* found = attribute_of<std::int64_t>(attributes, "format_version");
  if (name == nullptr || found == nullptr || *name != format.name) {
    throw Error(attempted, "it is not a " + format.name + " file; its root attribute format is " +
                               (name == nullptr ? "missing" : "'" + *name + "'"));
  }
  if (*found > format.version) {
    throw Error(attempted,
                "it has format version " + std::to_string(*found) +
                    ", this program reads up to version " + std::to_string(format.version),
                "use the newer Lockstep that wrote it");
  }
}

void ArrayFileReader::State::look_around() {
  const hdf5::Listing listing = hdf5::list_objects(file.get());
  for (const std::string& group : listing.groups) {
    const hdf5::ObjectHandle opened = hdf5::open_object(file.get(), group);
    groups[group] = texts_among(hdf5::read_attributes(opened.get()));
  }
  for (const std::string& name : listing.datasets) {
    const hdf5::ObjectHandle dataset = hdf5::open_object(file.get(), name);
    const std::optional<DType> dtype = hdf5::dtype_of(hdf5::type_of(dataset).get());
    if (!dtype) throw Error(attempt_to_read(name), "its elements are of a type that is not used");
    ArrayInfo info{.path = name, .dtype = *dtype, .shape = hdf5::shape_of(dataset)};
    if (hdf5::has_attribute(dataset.get(), "units")) {
      const auto units = hdf5::read_attribute(dataset.get(), "units");
      if (units && std::holds_alternative<std::string>(*units)) {
        info.units = std::get<std::string>(*units);
      }
    }
    arrays.push_back(std::move(info));
  }
}

std::string ArrayFileReader::State::packed() const {
  Packer packer;
  pack(packer, attributes);
  packer.add(static_cast<std::int64_t>(groups.size()));
  for (const auto& [group, settings] : groups) {
    packer.add(group);
    pack(packer, settings);
  }
  packer.add(static_cast<std::int64_t>(arrays.size()));
  for (const ArrayInfo& info : arrays) {
    packer.add(info.path);
    packer.add(name_of(info.dtype));
    packer.add(info.shape);
    packer.add(info.units);
  }
  return packer.bytes();
}

void ArrayFileReader::State::unpack(const std::string& message) {
  Unpacker unpacker(message);
  attributes = unpack_attributes(unpacker);
  groups.clear();
  for (std::int64_t count = unpacker.integer(); count > 0; --count) {
    std::string group = unpacker.text();
    groups[group] = unpack_settings(unpacker);
  }
  arrays.clear();
  for (std::int64_t count = unpacker.integer(); count > 0; --count) {
    ArrayInfo info;
    info.path = unpacker.text();
    info.dtype = dtype_named(unpacker.text());
    info.shape = unpacker.integers();
    info.units = unpacker.text();
    arrays.push_back(std::move(info));
  }
}

std::string ArrayFileReader::State::attempt_to_read(std::string_view array_path) const {
  return "read data set '" + std::string(array_path) + "' of '" + path.string() + "'";
}

std::vector<std::byte> ArrayFileReader::State::read_whole(const ArrayInfo& info) {
  std::vector<std::byte> bytes(bytes_of(info));
  Agreement agreement(*comm);
  agreement.attempt_on_root([&] {
    hdf5::read_all(hdf5::open_object(file.get(), info.path), info.dtype, bytes.data(),
                   attempt_to_read(info.path));
  });
  agreement.settle();
  comm->broadcast(buffer_of(std::span(bytes)), 0, "array from a file");
  return bytes;
}

ArrayFileReader::ArrayFileReader(std::filesystem::path path, const FileFormat& format,
                                 Communicator& comm)
    : state_(std::make_unique<State>()) {
  state_->path = std::move(path);
  state_->comm = &comm;
  Agreement agreement(comm);
  agreement.attempt_on_root([&] { state_->open(format); });
  agreement.settle();
  state_->unpack(broadcast_text(comm, state_->packed(), 0, "contents of a file"));
}

ArrayFileReader::ArrayFileReader(ArrayFileReader&&) noexcept = default;
ArrayFileReader& ArrayFileReader::operator=(ArrayFileReader&&) noexcept = default;
ArrayFileReader::~ArrayFileReader() = default;

const std::filesystem::path& ArrayFileReader::path() const {
  return state_->path;
}

const std::vector<ArrayInfo>& ArrayFileReader::arrays() const {
  return state_->arrays;
}

const ArrayInfo* ArrayFileReader::find(std::string_view array_path) const {
  const auto found = std::find_if(state_->arrays.begin(), state_->arrays.end(),
                                  [&](const ArrayInfo& info) { return info.path == array_path; });
  return found == state_->arrays.end() ? nullptr : &*found;
}

const std::vector<Attribute>& ArrayFileReader::attributes() const {
  return state_->attributes;
}

const Settings& ArrayFileReader::settings(std::string_view group) const {
  const auto found = state_->groups.find(group);
  return found == state_->groups.end() ? state_->no_settings : found->second;
}

void ArrayFileReader::read(const ArrayTarget& target) {
  Communicator& comm = *state_->comm;
  const std::string attempted = state_->attempt_to_read(target.path);
  const ArrayInfo* info = find(target.path);
  const int own = rank_dimension(target.placement);
  const bool whole = own < 0;
  Agreement agreement(comm);
  agreement.attempt([&] {
    const std::string expected = description_of(target.dtype, target.shape);
    if (info == nullptr)
      throw Error(attempted, "expected " + expected + ", found no such data set");
    if (info->dtype != target.dtype || info->shape != target.shape) {
      throw Error(attempted,
                  "expected " + expected + ", found " + description_of(info->dtype, info->shape));
    }
    if (!whole && (target.shape.size() <= static_cast<std::size_t>(own) ||
                   target.shape[static_cast<std::size_t>(own)] != comm.size())) {
      throw Error(attempted, "dimension " + std::to_string(own) + " of " + expected +
                                 " must be the number of ranks, " + std::to_string(comm.size()));
    }
    if (whole && comm.rank() == 0) {
      hdf5::read_all(hdf5::open_object(state_->file.get(), info->path), info->dtype, target.data,
                     attempted);
    }
  });
  agreement.settle();
  if (whole) {
    comm.broadcast(buffer_of(std::span(static_cast<std::byte*>(target.data), bytes_of(*info))), 0,
                   "array from a file");
  } else if (element_count(info->shape) > 0) {
    copy_own_part(state_->read_whole(*info), target, comm.rank(), comm.size());
  }
}

std::vector<std::byte> ArrayFileReader::read(std::string_view array_path) {
  const ArrayInfo* info = find(array_path);
  if (info == nullptr) throw Error(state_->attempt_to_read(array_path), "there is none");
  return state_->read_whole(*info);
}

}  // namespace lockstep
