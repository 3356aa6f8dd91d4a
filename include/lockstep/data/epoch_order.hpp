#pragma once

#include <cstdint>

namespace lockstep {

/// The order in which one epoch visits the samples 0..size-1: a permutation that is a pure function
/// of (seed, epoch, size), never of ranks, workers or history, so every rank can ask for any
/// position. Takes no memory.
///
/// The algorithm is part of the promise that a run can be repeated; changing it changes every
/// trajectory. With a = ceil(sqrt(size)) and b = ceil(size / a), a position x < a * b is the pair
/// (l, r) = (x / b, x % b). `rounds` Feistel rounds are applied, in turn to l and to r:
///   round 0, 2, ...: l = (l + F(round, r)) mod a
///   round 1, 3, ...: r = (r + F(round, l)) mod b
/// F(round, half) is the first 64 bits (word 0 low, word 1 high) of Philox4x32-10 at counter
/// {half, stream + round, epoch low, epoch high} under key {seed low, seed high}. A result of
/// `size` or more is sent through the rounds again until it is below (cycle walking; a * b exceeds
/// size by less than a, so this is rare). Source: Black and Rogaway, "Ciphers with arbitrary finite
/// domains", CT-RSA 2002.
class EpochOrder {
 public:
  static constexpr std::uint32_t rounds = 8;
  static constexpr std::uint32_t stream = 0x6F726400;  // keeps these draws apart from other uses

  /// Throws Error where `size` is negative.
  EpochOrder(std::uint64_t seed, std::int64_t epoch, std::int64_t size);

  std::int64_t size() const { return size_; }
  /// The sample visited at `position`; throws Error unless 0 <= position < size().
  std::int64_t at(std::int64_t position) const;

 private:
  std::uint64_t permuted(std::uint64_t x) const;
  std::uint64_t round_value(std::uint32_t round, std::uint64_t half) const;

  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::int64_t size_;
  std::uint64_t left_size_;
  std::uint64_t right_size_;
};

}  // namespace lockstep
