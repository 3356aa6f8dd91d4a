#include "control/beat_socket.hpp"

#include <vector>

#include <gtest/gtest.h>
#include <poll.h>

namespace lockstep {
namespace {

constexpr std::int64_t key = 77;

void wait_for_datagram(const BeatSocket& socket) {
  pollfd waiting{.fd = socket.descriptor(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&waiting, 1, 20'000), 1);
}

TEST(BeatSocket, CarriesBeatsOfMoreRanksThanADatagramHolds) {
  BeatSocket here;
  BeatSocket there;
  const std::vector<Endpoint> endpoints = there.endpoints();
  ASSERT_FALSE(endpoints.empty());
  BeatMessage message{.culprit = 3, .ranks = {}};
  for (std::int64_t rank = 0; rank < 45; ++rank) {
    message.ranks.push_back({.rank = rank,
                             .beat = {.phase = Phase::evaluate,
                                      .doing = Doing::own_work,
                                      .step = 10 + rank,
                                      .moves = 20 + rank,
                                      .io_moves = 30 + rank,
                                      .signal = 40 + rank,
                                      .pulse = 50 + rank}});
  }
  here.send(key, message, std::vector<Endpoint>{endpoints[0]});
  std::int64_t expected = 0;
  while (expected < 45) {
    wait_for_datagram(there);
    for (const BeatMessage& part : there.receive(key)) {
      EXPECT_EQ(part.culprit, 3);
      for (const auto& [rank, beat] : part.ranks) {
        EXPECT_EQ(rank, expected);
        EXPECT_EQ(beat.phase, Phase::evaluate);
        EXPECT_EQ(beat.doing, Doing::own_work);
        EXPECT_EQ(beat.step, 10 + rank);
        EXPECT_EQ(beat.moves, 20 + rank);
        EXPECT_EQ(beat.io_moves, 30 + rank);
        EXPECT_EQ(beat.signal, 40 + rank);
        EXPECT_EQ(beat.pulse, 50 + rank);
        ++expected;
      }
    }
  }
}

TEST(BeatSocket, DropsWhatIsNotOfTheJob) {
  BeatSocket here;
  BeatSocket there;
  const BeatMessage message{.culprit = -1, .ranks = {{.rank = 1, .beat = {}}}};
  here.send(key + 1, message, there.endpoints());
  wait_for_datagram(there);
  EXPECT_TRUE(there.receive(key).empty());
}

}  // namespace
}  // namespace lockstep
