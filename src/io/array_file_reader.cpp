#include <algorithm>
#include <cstring>

#include <fcntl.h>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/io/array_file.hpp"
#include "lockstep/io/sealed_file.hpp"

#include "io/file_contents.hpp"
#include "io/hdf5.hpp"
#include "io/posix_file.hpp"
#include "io/slices.hpp"

namespace lockstep {

struct ArrayFileReader::State {
  std::filesystem::path path;
  Communicator* comm = nullptr;
  hdf5::FileHandle file;  ///< rank 0's only
  FileContents contents;
  Settings no_settings;

  void open(const FileFormat& format);
  std::string attempt_to_read(std::string_view array_path) const;
  std::vector<std::byte> read_whole(const ArrayInfo& info);
};

namespace {

std::size_t bytes_of(const ArrayInfo& info) {
  return static_cast<std::size_t>(element_count(info.shape)) * size_of(info.dtype);
}

/// Row `rank` out of a whole array of `size` rows.
void copy_own_row(const std::vector<std::byte>& whole, void* to, int rank, int size) {
  const std::size_t row = whole.size() / static_cast<std::size_t>(size);
  std::memcpy(to, whole.data() + static_cast<std::size_t>(rank) * row, row);
}

}  // namespace

void ArrayFileReader::State::open(const FileFormat& format) {
  // The system says more clearly than the library why a file cannot be read.
  open_file(path, O_RDONLY, "open");
  // No locks: what carries this name was finished before it got it.
  file = hdf5::open_file(path, false);
  contents = contents_of(file, path, format);
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
  // Before HDF5 sees the file: the library may crash on one that is damaged.
  if (format.user_block) verify_sealed_file(state_->path, format, comm);
  Agreement agreement(comm);
  agreement.attempt_on_root([&] { state_->open(format); });
  agreement.settle();
  state_->contents =
      unpacked_contents(broadcast_text(comm, packed(state_->contents), 0, "contents of a file"));
}

ArrayFileReader::ArrayFileReader(ArrayFileReader&&) noexcept = default;
ArrayFileReader& ArrayFileReader::operator=(ArrayFileReader&&) noexcept = default;
ArrayFileReader::~ArrayFileReader() = default;

const std::filesystem::path& ArrayFileReader::path() const {
  return state_->path;
}

const std::vector<ArrayInfo>& ArrayFileReader::arrays() const {
  return state_->contents.arrays;
}

const ArrayInfo* ArrayFileReader::find(std::string_view array_path) const {
  const auto found = std::find_if(state_->contents.arrays.begin(), state_->contents.arrays.end(),
                                  [&](const ArrayInfo& info) { return info.path == array_path; });
  return found == state_->contents.arrays.end() ? nullptr : &*found;
}

const std::vector<Attribute>& ArrayFileReader::attributes() const {
  return state_->contents.attributes;
}

const Settings& ArrayFileReader::settings(std::string_view group) const {
  const auto found = state_->contents.groups.find(group);
  return found == state_->contents.groups.end() ? state_->no_settings : found->second;
}

void ArrayFileReader::read(const ArrayTarget& target) {
  Communicator& comm = *state_->comm;
  const std::string attempted = state_->attempt_to_read(target.path);
  const ArrayInfo* info = find(target.path);
  const bool whole = target.placement != Placement::per_rank;
  Agreement agreement(comm);
  agreement.attempt([&] {
    const std::string expected = description_of(target.dtype, target.shape);
    if (info == nullptr) {
      throw Error(attempted, "expected " + expected + ", found no such data set");
    }
    if (info->dtype != target.dtype || info->shape != target.shape) {
      throw Error(attempted,
                  "expected " + expected + ", found " + description_of(info->dtype, info->shape));
    }
    if (!whole && (target.shape.empty() || target.shape[0] != comm.size())) {
      throw Error(attempted, "dimension 0 of " + expected + " must be the number of ranks, " +
                                 std::to_string(comm.size()));
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
    copy_own_row(state_->read_whole(*info), target.data, comm.rank(), comm.size());
  }
}

std::vector<std::byte> ArrayFileReader::read(std::string_view array_path) {
  const ArrayInfo* info = find(array_path);
  if (info == nullptr) throw Error(state_->attempt_to_read(array_path), "there is none");
  return state_->read_whole(*info);
}

}  // namespace lockstep
