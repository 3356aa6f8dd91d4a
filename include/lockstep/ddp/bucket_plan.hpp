#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

/// A run of neighbouring entries of a flat layout that is reduced in one message.
struct Bucket {
  std::int64_t first_entry = 0;
  std::int64_t end_entry = 0;  ///< one past the last
  std::int64_t begin = 0;      ///< elements of the flat buffer: [begin, end), padding included
  std::int64_t end = 0;

  friend bool operator==(const Bucket&, const Bucket&) = default;
};

/// Cuts a flat buffer into buckets. Pure: equal arguments give equal buckets on all ranks and in
/// all runs.
///
/// `entry_offsets` are ascending and start at 0, in the order in which backward passes finish
/// gradients; the buffer ends at `size` (elements all). What is reduced late has little computation
/// left to hide behind, so buckets become smaller towards the end. The last one has as many of the
/// last entries as fit into `last_bucket_elements`, at least one. Those before it are filled from
/// the front, each closed where the next entry would make it exceed `bucket_elements` or half of
/// all that is left; that half counts as `last_bucket_elements` where it is less. A larger entry is
/// a bucket of its own.
std::vector<Bucket> plan_buckets(std::span<const std::int64_t> entry_offsets, std::int64_t size,
                                 std::int64_t bucket_elements, std::int64_t last_bucket_elements);

}  // namespace lockstep
