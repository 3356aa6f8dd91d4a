#include "lockstep/base/content_hash.hpp"

#include <cstring>
#include <string_view>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::span<const char> chars(std::string_view text) {
  return {text.data(), text.size()};
}

TEST(ContentHash, IsXxh3With128Bits) {
  // As `printf abc | xxhsum -H2` prints it.
  EXPECT_EQ(ContentHash().text(), "99aa06d3014798d86001c324468d497f");
  ContentHash hash;
  hash.add_values(chars("abc"));
  EXPECT_EQ(hash.text(), "06b05ab6733a618578af5f94892f3950");
  EXPECT_EQ(hash.halves()[0], 0x06b05ab6733a6185U);
  EXPECT_EQ(hash.halves()[1], 0x78af5f94892f3950U);
}

TEST(ContentHash, DoesNotDependOnThePieces) {
  ContentHash hash;
  hash.add_values(chars("a"));
  hash.add_values(chars(""));
  hash.add_values(chars("bc"));
  EXPECT_EQ(hash.text(), "06b05ab6733a618578af5f94892f3950");
}

}  // namespace
}  // namespace lockstep
