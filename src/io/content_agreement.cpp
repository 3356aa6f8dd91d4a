#include "io/content_agreement.hpp"

#include <algorithm>
#include <string>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/agreement.hpp"

#include "io/content_packing.hpp"

namespace lockstep {
namespace {

constexpr const char* attempted = "write an array file";

void check_array(const ArrayView& array, int world_size) {
  const std::string name =
      "array '" + array.path + "', " + description_of(array.dtype, array.shape);
  if (array.path.size() < 2 || array.path.front() != '/' || array.path.back() == '/' ||
      array.path.find("//") != std::string::npos) {
    throw Error(attempted, name + ": the path must look like '/group/name'");
  }
  if (std::any_of(array.shape.begin(), array.shape.end(), [](auto extent) { return extent < 0; })) {
    throw Error(attempted, name + ": a negative extent");
  }
  if (array.placement == Placement::per_rank &&
      (array.shape.empty() || array.shape[0] != world_size)) {
    throw Error(attempted,
                name + ": dimension 0 must be the number of ranks, " + std::to_string(world_size));
  }
  if (array.placement == Placement::rows && array.shape.empty()) {
    throw Error(attempted, name + ": a scalar has no rows");
  }
  const bool may_hold_nothing = array.placement == Placement::rows && array.shape[0] < world_size;
  if (array.data == nullptr && element_count(array.shape) > 0 && !may_hold_nothing) {
    throw Error(attempted, name + ": it has no data");
  }
}

std::vector<std::string> descriptions_of(const std::vector<ArrayView>& arrays) {
  std::vector<std::string> texts;
  for (const ArrayView& array : arrays) {
    texts.push_back("'" + array.path + "', " + description_of(array.dtype, array.shape) +
                    ", placement " + std::to_string(static_cast<int>(array.placement)) +
                    (array.units.empty() ? "" : ", units '" + array.units + "'"));
  }
  return texts;
}

void check_same(const std::vector<std::string>& mine, const std::vector<std::string>& roots) {
  const auto [here, there] = std::mismatch(mine.begin(), mine.end(), roots.begin(), roots.end());
  if (here == mine.end() && there == roots.end()) return;
  throw Error(
      attempted,
      "the ranks name different arrays: " + (here == mine.end() ? std::string("none") : *here) +
          " here where rank 0 has " + (there == roots.end() ? std::string("none") : *there));
}

}  // namespace

Content agreed_content(const Content& content, Communicator& comm) {
  const std::vector<std::string> mine = descriptions_of(content.arrays);
  Packer packer;
  packer.add(static_cast<std::int64_t>(mine.size()));
  for (const std::string& text : mine) packer.add(text);
  pack(packer, content.attributes);
  packer.add(static_cast<std::int64_t>(content.groups.size()));
  for (const SettingsGroup& group : content.groups) {
    packer.add(group.path);
    pack(packer, group.settings);
  }

  const std::string message = broadcast_text(comm, packer.bytes(), 0, "content of a file");
  Unpacker unpacker(message);
  std::vector<std::string> roots(static_cast<std::size_t>(unpacker.integer()));
  for (std::string& text : roots) text = unpacker.text();
  Content agreed{.arrays = content.arrays, .attributes = unpack_attributes(unpacker), .groups = {}};
  agreed.groups.resize(static_cast<std::size_t>(unpacker.integer()));
  for (SettingsGroup& group : agreed.groups) {
    group.path = unpacker.text();
    group.settings = unpack_settings(unpacker);
  }

  Agreement agreement(comm);
  agreement.attempt([&] {
    check_same(mine, roots);
    for (const ArrayView& array : content.arrays) check_array(array, comm.size());
  });
  agreement.settle();
  return agreed;
}

}  // namespace lockstep
