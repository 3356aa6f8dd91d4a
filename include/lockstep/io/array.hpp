#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/base/dtype.hpp"

namespace lockstep {

/// How an array's content is spread over the ranks that write or read it. The data set in the file
/// always has the full shape, whatever the number of ranks.
enum class Placement {
  replicated,  ///< every rank holds the same; each writes its share of all that is replicated
  from_root,   ///< every rank holds the shape, rank 0's content counts and rank 0 writes it
  per_rank,    ///< the first dimension is the world size; each rank holds row `rank`
  rows         ///< each rank holds its balanced_share() of the first dimension; for writing only
};

/// An array to be written: row-major elements at `data`, borrowed until the write returns.
struct ArrayView {
  std::string path;  ///< absolute, e.g. "/model/stem.weight"
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;  ///< of the whole data set; {} is a scalar, extents may be 0
  const void* data = nullptr;       ///< what this rank holds of it, see Placement
  Placement placement = Placement::replicated;
  std::string units{};  ///< stored as attribute `units` unless empty
};

/// Memory for an array to be read into, laid out as in ArrayView.
struct ArrayTarget {
  std::string path;
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  void* data = nullptr;
  Placement placement = Placement::replicated;  ///< from_root reads as replicated does
};

/// What a file tells about one of its data sets.
struct ArrayInfo {
  std::string path;
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::string units{};
};

/// Product of the extents: 1 for a scalar.
std::int64_t element_count(const std::vector<std::int64_t>& shape);

/// Of an array's elements.
std::int64_t byte_count(DType dtype, const std::vector<std::int64_t>& shape);

/// Whether the data set has the target's dtype and shape.
bool fits(const ArrayInfo& info, const ArrayTarget& target);

/// "float32 [64, 3, 3, 3]", for messages.
std::string description_of(DType dtype, const std::vector<std::int64_t>& shape);

}  // namespace lockstep
