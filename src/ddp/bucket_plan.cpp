#include "lockstep/ddp/bucket_plan.hpp"

#include "lockstep/base/error.hpp"

namespace lockstep {

std::vector<Bucket> plan_buckets(std::span<const std::int64_t> entry_offsets, std::int64_t size,
                                 std::int64_t bucket_elements, std::int64_t last_bucket_elements) {
  check(!entry_offsets.empty(), "plan gradient buckets", "there is no parameter");
  const auto count = static_cast<std::int64_t>(entry_offsets.size());
  const auto offset = [&](std::int64_t entry) {
    return entry == count ? size : entry_offsets[static_cast<std::size_t>(entry)];
  };

  std::int64_t last_first = count - 1;
  while (last_first > 0 && size - offset(last_first - 1) <= last_bucket_elements) --last_first;

  std::vector<Bucket> buckets;
  const auto close = [&](std::int64_t first, std::int64_t end) {
    buckets.push_back({first, end, offset(first), offset(end)});
  };
  std::int64_t first = 0;
  for (std::int64_t entry = 1; entry < last_first; ++entry) {
    if (offset(entry + 1) - offset(first) <= bucket_elements) continue;
    close(first, entry);
    first = entry;
  }
  if (first < last_first) close(first, last_first);
  close(last_first, count);
  return buckets;
}

}  // namespace lockstep
