// Expected values: the known answers of the Random123 distribution (kat_vectors, philox4x32 with 10
// rounds), and further blocks from an implementation in Python that gives the same known answers.
#include "lockstep/base/philox.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using testing::ElementsAre;

TEST(Philox, GivesTheKnownAnswers) {
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_THAT(philox4x32({0, 0, 0, 0}, {0, 0}),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox4x32({ones, ones, ones, ones}, {ones, ones}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(
      philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

std::vector<std::uint32_t> words(PhiloxStream draws, int count) {
  std::vector<std::uint32_t> values;
  for (int i = 0; i < count; ++i) values.push_back(draws.next_uint32());
  return values;
}

TEST(PhiloxStream, CountsOnFromBlockToBlock) {
  EXPECT_THAT(words(PhiloxStream(0, 0), 8),
              ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8,    // counter 0
                          0xf8e4cca4, 0x5cb200db, 0xb1a574eb, 0x097eff67));  // counter 1
}

TEST(PhiloxStream, PutsSeedCoordinateAndStreamIntoKeyAndCounter) {
  // Key {4, 3}, counter {0, 7, 2, 1}.
  EXPECT_THAT(words(PhiloxStream(0x300000004, 0x100000002, 7), 4),
              ElementsAre(0x1e2d9afa, 0x63ba50ad, 0xb404fb93, 0xdf49ab49));
}

}  // namespace
}  // namespace lockstep
