#include "lockstep/ddp/bucket_plan.hpp"

#include <algorithm>

#include "lockstep/base/error.hpp"

namespace lockstep {

std::vector<Bucket> plan_buckets(std::span<const std::int64_t> entry_offsets, std::int64_t size,
                                 std::int64_t bucket_elements, std::int64_t last_bucket_elements) {
  check(!entry_offsets.empty(), "plan gradient buckets", "there is no parameter");
  const auto count = static_cast<std::int64_t>(entry_offsets.size());
  const auto offset = [&](std::int64_t entry) {
    return entry == count ? size : entry_offsets[static_cast<std::size_t>(entry)];
  };

  const auto left_at = [&](std::int64_t entry) { return size - offset(entry); };

  std::int64_t last_first = count - 1;
  while (last_first > 0 && left_at(last_first - 1) <= last_bucket_elements) --last_first;

  std::vector<Bucket> buckets;
  const auto close = [&](std::int64_t first, std::int64_t end) {
    buckets.push_back({first, end, offset(first), offset(end)});
  };
  for (std::int64_t first = 0; first < last_first;) {
    const std::int64_t most =
        std::min(bucket_elements, std::max(left_at(first) / 2, last_bucket_elements));
    std::int64_t end = first + 1;
    while (end < last_first && offset(end + 1) - offset(first) <= most) ++end;
    close(first, end);
    first = end;
  }
  close(last_first, count);
  return buckets;
}

}  // namespace lockstep
