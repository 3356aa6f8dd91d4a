#include <algorithm>
#include <cstring>
#include <map>
#include <span>

#include <fcntl.h>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/io/array_file.hpp"
#include "lockstep/io/sealed_file.hpp"

#include "io/file_contents.hpp"
#include "io/hdf5.hpp"
#include "io/posix_file.hpp"

namespace lockstep {

struct ArrayFileReader::State {
  std::filesystem::path path;
  Communicator* comm = nullptr;
  hdf5::FileHandle file;  ///< rank 0's only
  FileContents contents;
  Settings no_settings;
  std::vector<std::byte> small_arrays;                                        ///< end to end
  std::map<std::string, std::span<const std::byte>, std::less<>> read_ahead;  ///< into them

  void open(const FileFormat& format);
  void read_small_arrays();
  std::string attempt_to_read(std::string_view array_path) const;
  void check_fits(const ArrayInfo* info, const ArrayTarget& target) const;
  void read_whole(const ArrayInfo& info, std::span<std::byte> into);
};

namespace {

/// Read when a file is opened: up to this many bytes a data set, and so many of all together.
constexpr std::size_t small_array = std::size_t{1} << 20;
constexpr std::size_t all_small_arrays = std::size_t{32} << 20;

std::size_t bytes_of(const ArrayInfo& info) {
  return static_cast<std::size_t>(byte_count(info.dtype, info.shape));
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

/// In one message: a file holds hundreds of them, and a broadcast each would take longer than what
/// is in them.
void ArrayFileReader::State::read_small_arrays() {
  std::vector<const ArrayInfo*> chosen;
  std::size_t total = 0;
  for (const ArrayInfo& info : contents.arrays) {
    const std::size_t bytes = bytes_of(info);
    if (bytes > small_array || total + bytes > all_small_arrays) continue;
    chosen.push_back(&info);
    total += bytes;
  }
  small_arrays.resize(total);
  Agreement agreement(*comm);
  std::size_t begin = 0;
  for (const ArrayInfo* info : chosen) {
    const std::span<std::byte> place = std::span(small_arrays).subspan(begin, bytes_of(*info));
    begin += place.size();
    read_ahead[info->path] = place;
    agreement.attempt_on_root([&] {
      hdf5::read_all(hdf5::open_object(file.get(), info->path), info->dtype, place.data(),
                     attempt_to_read(info->path));
    });
  }
  agreement.settle();
  comm->broadcast(buffer_of(std::span(small_arrays)), 0, "small arrays from a file");
}

/// All ranks ask for the same and know the same of the file, so all throw or none.
void ArrayFileReader::State::check_fits(const ArrayInfo* info, const ArrayTarget& target) const {
  const std::string expected = description_of(target.dtype, target.shape);
  const auto refuse = [&](const std::string& reason) {
    throw AgreedError(ExitCode::failure, attempt_to_read(target.path), reason, {});
  };
  if (info == nullptr) refuse("expected " + expected + ", found no such data set");
  if (!fits(*info, target)) {
    refuse("expected " + expected + ", found " + description_of(info->dtype, info->shape));
  }
  if (target.placement == Placement::rows) refuse("rows are for writing only");
  if (target.placement == Placement::per_rank &&
      (target.shape.empty() || target.shape[0] != comm->size())) {
    refuse("dimension 0 of " + expected + " must be the number of ranks, " +
           std::to_string(comm->size()));
  }
}

void ArrayFileReader::State::read_whole(const ArrayInfo& info, std::span<std::byte> into) {
  if (const auto found = read_ahead.find(info.path); found != read_ahead.end()) {
    std::copy(found->second.begin(), found->second.end(), into.begin());
    return;
  }
  Agreement agreement(*comm);
  agreement.attempt_on_root([&] {
    hdf5::read_all(hdf5::open_object(file.get(), info.path), info.dtype, into.data(),
                   attempt_to_read(info.path));
  });
  agreement.settle();
  comm->broadcast(buffer_of(into), 0, "array from a file");
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
  state_->read_small_arrays();
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
  const ArrayInfo* info = find(target.path);
  state_->check_fits(info, target);
  const std::size_t bytes = bytes_of(*info);
  if (target.placement != Placement::per_rank) {
    state_->read_whole(*info, {static_cast<std::byte*>(target.data), bytes});
  } else if (bytes > 0) {
    std::vector<std::byte> whole(bytes);
    state_->read_whole(*info, whole);
    copy_own_row(whole, target.data, state_->comm->rank(), state_->comm->size());
  }
}

std::vector<std::byte> ArrayFileReader::read(std::string_view array_path) {
  const ArrayInfo* info = find(array_path);
  if (info == nullptr) {
    throw AgreedError(ExitCode::failure, state_->attempt_to_read(array_path), "there is none", {});
  }
  std::vector<std::byte> bytes(bytes_of(*info));
  state_->read_whole(*info, bytes);
  return bytes;
}

}  // namespace lockstep
