#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lockstep/comm/communicator.hpp"
#include "lockstep/io/array.hpp"

namespace lockstep {

using AttributeValue = std::variant<std::int64_t, double, std::string>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

/// A group that holds one string attribute a setting, such as /config.
struct SettingsGroup {
  std::string path;
  std::vector<std::pair<std::string, std::string>> settings;
};

/// All that goes into one file. Paths, dtypes, shapes, placements and units must be the same on all
/// ranks; of attributes and settings rank 0's are written.
struct Content {
  std::vector<ArrayView> arrays;
  std::vector<Attribute> attributes;  ///< of the root group
  std::vector<SettingsGroup> groups;
};

/// What marks a kind of file: the root attributes `format` and `format_version`.
struct FileFormat {
  std::string name;
  std::int64_t version = 1;
  /// Whether 512 bytes in front of the HDF5 content and a list of hashes behind it let a reader
  /// tell that the file is complete and undamaged. Costs reading the file once more when it is
  /// written and when it is opened, and another fsync.
  bool user_block = false;
};

/// What a write did.
struct WriteReport {
  std::int64_t file_bytes = 0;
  int collective_writes = 0;  ///< of data, by MPI-IO; 0 where no MPI is in use
};

struct WriteOptions {
  /// Most bytes a rank hands to one collective write: MPI counts are ints. Equal on all ranks.
  std::int64_t largest_transfer = std::int64_t{1} << 30;
  /// Called as the writing moves on, at least once a collective write.
  std::function<void()> moved = [] {};
};

/// Writes `content` to `path`: under a temporary name beside it, all data sets together by a
/// collective write, synced by every rank, then renamed, so that a reader sees the old file or the
/// whole new one. Needs the space for all of it before data goes out. Data sets carry no times:
/// equal content gives equal files. Collective; called on the IO thread. If any rank fails, the
/// temporary is removed and all ranks throw the same Error, that of the lowest failing rank.
WriteReport write_array_file(const std::filesystem::path& path, const FileFormat& format,
                             const Content& content, Communicator& comm,
                             const WriteOptions& options = {});

/// Reads a file that write_array_file() made. Rank 0 alone opens it and broadcasts what it reads,
/// so all ranks see the same file or throw the same AgreedError. Arrays of up to 1 MiB, 32 MiB of
/// them at most, are read when the file is opened and kept. Called on the IO thread; construction
/// and reads are collective, destruction is not.
class ArrayFileReader {
 public:
  /// Throws Error where the file is missing, not HDF5, incomplete, of another format or of a newer
  /// version. Where the format has a user block, all ranks first read all of the file, in balanced
  /// shares, and damage to any bit is an Error too. `comm` is borrowed.
  ArrayFileReader(std::filesystem::path path, const FileFormat& format, Communicator& comm);
  ArrayFileReader(ArrayFileReader&&) noexcept;
  ArrayFileReader& operator=(ArrayFileReader&&) noexcept;
  ~ArrayFileReader();

  const std::filesystem::path& path() const;

  // These are known after construction; not collective.
  /// Every data set, in order of path.
  const std::vector<ArrayInfo>& arrays() const;
  /// Null where there is no such data set.
  const ArrayInfo* find(std::string_view array_path) const;
  const std::vector<Attribute>& attributes() const;
  /// The string attributes of a group, in order of name; empty where there is no such group.
  const std::vector<std::pair<std::string, std::string>>& settings(std::string_view group) const;

  /// Fills `target`, the same on all ranks but for its memory. Throws AgreedError naming file, data
  /// set, what was expected and what was found unless dtype and shape are the file's and the
  /// placement fits the number of ranks.
  void read(const ArrayTarget& target);
  /// The whole data set on every rank.
  std::vector<std::byte> read(std::string_view array_path);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep
