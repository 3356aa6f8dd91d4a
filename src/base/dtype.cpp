#include "lockstep/base/dtype.hpp"

#include <array>
#include <string>
#include <vector>

#include "lockstep/base/error.hpp"
#include "lockstep/base/text.hpp"

namespace lockstep {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Entry, 7> entries{{{DType::uint8, "uint8", 1},
                                        {DType::int32, "int32", 4},
                                        {DType::int64, "int64", 8},
                                        {DType::float16, "float16", 2},
                                        {DType::bfloat16, "bfloat16", 2},
                                        {DType::float32, "float32", 4},
                                        {DType::float64, "float64", 8}}};

const Entry& entry(DType dtype) {
  for (const Entry& candidate : entries) {
    if (candidate.dtype == dtype) return candidate;
  }
  throw Error("look up an element type", "no such type");
}

}  // namespace

std::size_t size_of(DType dtype) {
  return entry(dtype).size;
}

std::string_view name_of(DType dtype) {
  return entry(dtype).name;
}

DType dtype_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Entry& candidate : entries) {
    if (candidate.name == name) return candidate.dtype;
    names.emplace_back(candidate.name);
  }
  throw UsageError("choose an element type", unknown_name_text("dtype", name, names));
}

}  // namespace lockstep
