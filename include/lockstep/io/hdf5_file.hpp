#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/base/dtype.hpp"
#include "lockstep/io/array_file.hpp"

namespace lockstep {

/// The elements of a data set, of whatever type.
struct ElementType {
  enum class Kind { integer, floating_point, other };  ///< integers include truth values
  Kind kind = Kind::other;
  std::int64_t bits = 0;
  bool is_signed = false;
  std::string name;  ///< for people: "uint16", "float64", "text"

  bool is_number() const { return kind != Kind::other; }
};

/// Any HDF5 file, opened for reading by this rank alone. Not collective; called on the IO thread.
/// Errors name the file and the object.
class Hdf5File {
 public:
  explicit Hdf5File(std::filesystem::path path);
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  ~Hdf5File();

  const std::filesystem::path& path() const;

  /// The absolute paths of all data sets, sorted.
  std::vector<std::string> datasets() const;
  /// Whether a data set has that path.
  bool contains(std::string_view dataset) const;
  std::vector<std::int64_t> shape(std::string_view dataset) const;
  /// Empty where the elements are of no DType (strings, 16-bit integers, ...).
  std::optional<DType> dtype(std::string_view dataset) const;
  ElementType element_type(std::string_view dataset) const;

  /// The whole data set in row-major order, as `dtype`: HDF5 converts between kinds of numbers.
  /// `into` must have exactly its size in bytes.
  void read(std::string_view dataset, DType dtype, std::span<std::byte> into) const;
  /// Entries first <= i < first + count along the first dimension.
  void read_rows(std::string_view dataset, DType dtype, std::int64_t first, std::int64_t count,
                 std::span<std::byte> into) const;

  /// The attributes of a group or data set that are one number or one string, in order of name.
  std::vector<Attribute> attributes(std::string_view object) const;
  /// One of them; empty where there is none of that name.
  std::optional<AttributeValue> attribute(std::string_view object, std::string_view name) const;

 private:
  void read_box(std::string_view dataset, DType dtype, const std::vector<std::int64_t>& start,
                const std::vector<std::int64_t>& count, std::span<std::byte> into) const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lockstep
