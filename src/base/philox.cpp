#include "lockstep/base/philox.hpp"

namespace lockstep {
namespace {

constexpr std::uint32_t multiplier_0 = 0xD2511F53;
constexpr std::uint32_t multiplier_1 = 0xCD9E8D57;
constexpr std::uint32_t weyl_0 = 0x9E3779B9;
constexpr std::uint32_t weyl_1 = 0xBB67AE85;
constexpr int rounds = 10;

constexpr std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32U);
}
constexpr std::uint32_t low(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t product_0 = std::uint64_t{multiplier_0} * counter[0];
    const std::uint64_t product_1 = std::uint64_t{multiplier_1} * counter[2];
    counter = {high(product_1) ^ counter[1] ^ key[0], low(product_1),
               high(product_0) ^ counter[3] ^ key[1], low(product_0)};
    key[0] += weyl_0;
    key[1] += weyl_1;
  }
  return counter;
}

PhiloxStream::PhiloxStream(std::uint64_t seed, std::uint64_t coordinate, std::uint32_t stream)
    : counter_{0, stream, low(coordinate), high(coordinate)}, key_{low(seed), high(seed)} {}

std::uint32_t PhiloxStream::next_uint32() {
  if (used_ == block_.size()) {
    block_ = philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

}  // namespace lockstep
