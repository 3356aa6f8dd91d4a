#include "lockstep/base/content_hash.hpp"

#include <cstdio>

#include <xxhash.h>

#include "lockstep/base/error.hpp"

namespace lockstep {

struct ContentHash::State {
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> xxh3{XXH3_createState(),
                                                                &XXH3_freeState};
};

ContentHash::ContentHash() : state_(std::make_unique<State>()) {
  check(state_->xxh3 != nullptr, "start a hash", "out of memory");
  XXH3_128bits_reset(state_->xxh3.get());
}
ContentHash::ContentHash(ContentHash&&) noexcept = default;
ContentHash& ContentHash::operator=(ContentHash&&) noexcept = default;
ContentHash::~ContentHash() = default;

void ContentHash::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_->xxh3.get(), bytes.data(), bytes.size());
}

std::array<std::uint64_t, 2> ContentHash::halves() const {
  const XXH128_hash_t value = XXH3_128bits_digest(state_->xxh3.get());
  return {value.high64, value.low64};
}

std::string ContentHash::text() const {
  std::array<char, 33> digits{};
  for (std::size_t half = 0; half < 2; ++half) {
    std::snprintf(digits.data() + 16 * half, 17, "%016llx",
                  static_cast<unsigned long long>(halves()[half]));
  }
  return digits.data();
}

}  // namespace lockstep
