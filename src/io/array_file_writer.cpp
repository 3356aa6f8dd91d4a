#include <algorithm>
#include <set>
#include <system_error>

#include <fcntl.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/narrow.hpp"
#include "lockstep/base/version.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/io/array_file.hpp"
#include "lockstep/io/sealed_file.hpp"

#include "io/content_agreement.hpp"
#include "io/hdf5.hpp"
#include "io/part_writer.hpp"
#include "io/posix_file.hpp"

namespace lockstep {
namespace {

/// Creates the groups above `path` that `present` lacks, the outermost first.
void create_groups_above(hid_t file, const std::string& path, std::set<std::string>& present) {
  for (std::size_t end = path.find('/', 1); end != std::string::npos;
       end = path.find('/', end + 1)) {
    const std::string group = path.substr(0, end);
    if (present.insert(group).second) hdf5::create_group(file, group);
  }
}

/// Creates all that the file is to hold; returns the data sets, whose
/// elements are still missing.
std::vector<hdf5::ObjectHandle> create_objects(hid_t file, const FileFormat& format,
                                               const Content& content) {
  hdf5::write_attribute(file, "format", format.name);
  hdf5::write_attribute(file, "format_version", format.version);
  hdf5::write_attribute(file, "lockstep_version", std::string(version()));
  for (const Attribute& attribute : content.attributes) {
    hdf5::write_attribute(file, attribute.name, attribute.value);
  }
  std::set<std::string> present;
  for (const SettingsGroup& group : content.groups) {
    create_groups_above(file, group.path + "/", present);
    const hdf5::ObjectHandle opened = hdf5::open_object(file, group.path);
    for (const auto& [name, value] : group.settings) {
      hdf5::write_attribute(opened.get(), name, value);
    }
  }
  std::vector<hdf5::ObjectHandle> datasets;
  for (const ArrayView& array : content.arrays) {
    create_groups_above(file, array.path, present);
    datasets.push_back(hdf5::create_dataset(file, array.path, array.dtype, array.shape));
    if (!array.units.empty()) {
      hdf5::write_attribute(datasets.back().get(), "units", array.units);
    }
  }
  return datasets;
}

std::vector<std::int64_t> offsets_of(const std::vector<hdf5::ObjectHandle>& datasets) {
  std::vector<std::int64_t> offsets;
  for (const hdf5::ObjectHandle& dataset : datasets) offsets.push_back(hdf5::offset_of(dataset));
  return offsets;
}

std::int64_t data_bytes(const std::vector<ArrayView>& arrays) {
  std::int64_t bytes = 0;
  for (const ArrayView& array : arrays) bytes += byte_count(array.dtype, array.shape);
  return bytes;
}

std::int64_t end_of_data(const std::vector<ArrayView>& arrays,
                         const std::vector<std::int64_t>& offsets) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    end = std::max(end, offsets[i] + byte_count(arrays[i].dtype, arrays[i].shape));
  }
  return end;
}

/// Leaves a finished, synced file at `path`, or throws on all ranks with the file closed.
WriteReport write_in_place(const std::filesystem::path& path, const FileFormat& format,
                           const Content& content, Communicator& comm,
                           const WriteOptions& options) {
  WriteReport report;
  Agreement agreement(comm);
  // The system says more clearly than MPI-IO why a file cannot be created, and a full disk is best
  // known before HDF5 has a file that it must be able to close.
  agreement.attempt_on_root([&] {
    open_file(path, O_CREAT | O_TRUNC | O_WRONLY, "create");
    reserve_space(path, data_bytes(content.arrays));
  });
  agreement.settle();

  hdf5::CollectiveFile file;
  agreement.attempt([&] { file = hdf5::create_file(path, format.user_block, comm); });
  agreement.settle();

  std::vector<FilePart> parts;
  std::int64_t end = 0;
  agreement.attempt([&] {
    const std::vector<std::int64_t> offsets =
        offsets_of(create_objects(file.get(), format, content));
    parts = parts_of(content.arrays, offsets, comm.rank(), comm.size());
    end = end_of_data(content.arrays, offsets);
  });
  // Again, since HDF5 truncated the file.
  agreement.attempt_on_root([&] { reserve_space(path, end); });
  if (agreement.holds()) {
    report.collective_writes = write_parts(file, path, parts, options, comm, agreement);
  }
  // HDF5 cannot drop a file: to close it, it writes metadata, which needs room on a full disk.
  if (!agreement.holds()) agreement.attempt_on_root([&] { release_space(path); });
  agreement.attempt([&] { hdf5::close_file(file, path); });

  options.moved();
  agreement.attempt([&] { sync_file(path); });
  agreement.settle();
  options.moved();
  if (format.user_block) seal_file(path, format, comm);
  agreement.attempt(
      [&] { report.file_bytes = narrow<std::int64_t>(std::filesystem::file_size(path)); });
  agreement.settle();
  return report;
}

}  // namespace

WriteReport write_array_file(const std::filesystem::path& path, const FileFormat& format,
                             const Content& content, Communicator& comm,
                             const WriteOptions& options) {
  const Content agreed = agreed_content(content, comm);
  const std::filesystem::path temporary = temporary_path(path);
  try {
    const WriteReport report = write_in_place(temporary, format, agreed, comm, options);
    Agreement agreement(comm);
    agreement.attempt_on_root([&] { rename_durably(temporary, path); });
    agreement.settle();
    return report;
  } catch (...) {
    std::error_code ignored;
    if (comm.rank() == 0) std::filesystem::remove(temporary, ignored);
    throw;
  }
}

}  // namespace lockstep
