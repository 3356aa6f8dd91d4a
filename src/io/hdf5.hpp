#pragma once

// The HDF5 functions io uses, one throwing wrapper each, with handles that close what they own.
// Every function throws Error with the library's own reasons; only the IO thread calls them.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hdf5.h>

#include "lockstep/base/dtype.hpp"
#include "lockstep/base/unique_handle.hpp"
#include "lockstep/comm/communicator.hpp"
#include "lockstep/io/array_file.hpp"
#include "lockstep/io/hdf5_file.hpp"

namespace lockstep::hdf5 {

template <herr_t (*Close)(hid_t)>
struct HandleTraits {
  using type = hid_t;
  static hid_t empty() { return H5I_INVALID_HID; }
  static void release(hid_t id) noexcept { Close(id); }
};
using FileHandle = UniqueHandle<HandleTraits<H5Fclose>>;
using ObjectHandle = UniqueHandle<HandleTraits<H5Oclose>>;  // group or data set
using AttributeHandle = UniqueHandle<HandleTraits<H5Aclose>>;
using Dataspace = UniqueHandle<HandleTraits<H5Sclose>>;
using Datatype = UniqueHandle<HandleTraits<H5Tclose>>;
using PropertyList = UniqueHandle<HandleTraits<H5Pclose>>;

/// A file that several ranks have open. Closing it is collective, so only close_file() does it: one
/// that is destroyed open, because the ranks no longer act together, is abandoned.
struct CollectiveFileTraits {
  using type = hid_t;
  static hid_t empty() { return H5I_INVALID_HID; }
  static void release(hid_t) noexcept {}
};
using CollectiveFile = UniqueHandle<CollectiveFileTraits>;

/// The library from its start to its end, for the whole process (hdf5_library.cpp). With a file
/// still open, one that was abandoned or that could not be closed, the end does not come, neither
/// here nor from MPI_Finalize, which would bring it about: it would communicate or crash.
class Library {
 public:
  Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();
};

// --- errors (hdf5_error.cpp)

/// Throws Error with the library's error stack as reason, and a remedy where it tells of a lock.
[[noreturn]] void fail(const std::string& attempted);
/// `id`, unless it is negative.
hid_t checked(hid_t id, const std::string& attempted);
void check_status(int status, const std::string& attempted);

// --- types (hdf5_types.cpp)

/// The element type in files, little-endian. The 16-bit floats are HDF5 floats of their own layout,
/// so that other programs read them as numbers.
Datatype file_type(DType dtype);
/// The element type in memory.
Datatype memory_type(DType dtype);
/// The DType with the same kind and size of number; empty where there is none.
std::optional<DType> dtype_of(hid_t type);
ElementType element_type_of(hid_t type);

// --- files (hdf5_file_access.cpp)

/// Creates a file for all ranks of `comm`, through MPI-IO where `comm` is MPI's. Collective.
CollectiveFile create_file(const std::filesystem::path& path, bool user_block, Communicator& comm);
/// Opens a file for reading by this process. `locked`: under the library's lock, as befits a file
/// that others may be writing.
FileHandle open_file(const std::filesystem::path& path, bool locked);
/// Flushes and closes. Collective.
void close_file(CollectiveFile& file, const std::filesystem::path& path);

// --- objects (hdf5_object.cpp)

ObjectHandle create_group(hid_t file, const std::string& path);
/// Without times, not chunked, its space allocated at once and not filled.
ObjectHandle create_dataset(hid_t file, const std::string& path, DType dtype,
                            const std::vector<std::int64_t>& shape);
ObjectHandle open_object(hid_t file, const std::string& path);
/// Where in the file its elements begin, the user block counted; 0 where it has none.
std::int64_t offset_of(const ObjectHandle& dataset);
std::vector<std::int64_t> shape_of(const ObjectHandle& dataset);
Datatype type_of(const ObjectHandle& dataset);

/// A rectangular part of an array; of a scalar (no dimensions) all of it.
struct Box {
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> count;
};
/// A part of the data set into memory of shape `part.count`.
void read(const ObjectHandle& dataset, DType dtype, const Box& part, void* data,
          const std::string& attempted);
/// The whole data set into memory of its own shape.
void read_all(const ObjectHandle& dataset, DType dtype, void* data, const std::string& attempted);

struct Listing {
  std::vector<std::string> groups;  ///< the root "/" included
  std::vector<std::string> datasets;
};
/// What hard links reach from the root, sorted; each object once, whatever paths lead to it.
Listing list_objects(hid_t file);

// --- attributes (hdf5_attribute.cpp)

void write_attribute(hid_t object, const std::string& name, const AttributeValue& value);
/// Empty where the attribute is neither one number nor one string.
std::optional<AttributeValue> read_attribute(hid_t object, const std::string& name);
bool has_attribute(hid_t object, const std::string& name);
/// All that read_attribute() can read, in order of name.
std::vector<Attribute> read_attributes(hid_t object);

}  // namespace lockstep::hdf5
