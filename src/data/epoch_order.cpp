#include "lockstep/data/epoch_order.hpp"

#include <cmath>
#include <string>

#include "lockstep/base/error.hpp"
#include "lockstep/base/philox.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32U);
}
constexpr std::uint32_t low(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}

/// The smallest root with root * root >= x.
std::uint64_t ceil_sqrt(std::uint64_t x) {
  auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(x)));
  while (root * root < x) ++root;
  while (root > 0 && (root - 1) * (root - 1) >= x) --root;
  return root;
}

/// (a + b) mod n for a, b < n < 2^63.
std::uint64_t add_mod(std::uint64_t a, std::uint64_t b, std::uint64_t n) {
  const std::uint64_t sum = a + b;
  return sum < n ? sum : sum - n;
}

}  // namespace

EpochOrder::EpochOrder(std::uint64_t seed, std::int64_t epoch, std::int64_t size)
    : seed_(seed), epoch_(static_cast<std::uint64_t>(epoch)), size_(size) {
  if (size < 0) throw Error("order an epoch", "the size " + std::to_string(size) + " is negative");
  const auto samples = static_cast<std::uint64_t>(size);
  left_size_ = ceil_sqrt(samples);
  right_size_ = size == 0 ? 0 : (samples + left_size_ - 1) / left_size_;
}

std::int64_t EpochOrder::at(std::int64_t position) const {
  if (position < 0 || position >= size_) {
    throw Error("look up an epoch's order", "position " + std::to_string(position) +
                                                " is not among its " + std::to_string(size_));
  }
  auto x = static_cast<std::uint64_t>(position);
  do {
    x = permuted(x);
  } while (x >= static_cast<std::uint64_t>(size_));
  return static_cast<std::int64_t>(x);
}

std::uint64_t EpochOrder::permuted(std::uint64_t x) const {
  std::uint64_t left = x / right_size_;
  std::uint64_t right = x % right_size_;
  for (std::uint32_t round = 0; round < rounds; round += 2) {
    left = add_mod(left, round_value(round, right) % left_size_, left_size_);
    right = add_mod(right, round_value(round + 1, left) % right_size_, right_size_);
  }
  return left * right_size_ + right;
}

std::uint64_t EpochOrder::round_value(std::uint32_t round, std::uint64_t half) const {
  const auto words =
      philox4x32({low(half), stream + round, low(epoch_), high(epoch_)}, {low(seed_), high(seed_)});
  return (std::uint64_t{words[1]} << 32U) | words[0];
}

}  // namespace lockstep
