#include "control/hang_judge.hpp"

#include <algorithm>
#include <limits>

namespace lockstep {
namespace {

bool watched(const Sighting& rank) {
  return rank.heard && rank.beat.doing != Doing::left;
}

}  // namespace

double HangJudge::age(int rank) const {
  return now_ - seen_[static_cast<std::size_t>(rank)].moved_at;
}

bool HangJudge::frozen(int rank) const {
  return now_ - seen_[static_cast<std::size_t>(rank)].pulse_at >= timeout_ / 2;
}

void HangJudge::note(double now, std::span<const Sighting> ranks) {
  const bool anew = !looked_ || now - now_ > timeout_ / 4;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    Seen& seen = seen_[i];
    const auto& [beat, news, heard] = ranks[i];
    if (anew || news != seen.news) seen.heard_at = now;
    if (anew || beat.moves != seen.moves || beat.io_moves != seen.io_moves) {
      seen.moved_at = seen.heard_at = now;
    }
    if (anew || beat.pulse != seen.pulse) seen.pulse_at = now;
    seen.pulse = beat.pulse;
    seen.moves = beat.moves;
    seen.io_moves = beat.io_moves;
    seen.news = news;
  }
  now_ = now;
  looked_ = true;
}

bool HangJudge::hangs_alone(const Seen& seen, const Beat& beat) const {
  return beat.doing == Doing::own_work && now_ - seen.moved_at >= timeout_ &&
         now_ - seen.heard_at < timeout_ / 2;
}

std::optional<Verdict> HangJudge::look(double now, std::span<const Sighting> ranks) {
  note(now, ranks);
  Verdict alone;
  Verdict together;
  Verdict stopped{.culprits = {}, .frozen = true};
  std::size_t all = 0;
  bool none_moves = true;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Beat& beat = ranks[i].beat;
    if (!watched(ranks[i])) continue;
    const int rank = static_cast<int>(i);
    if (frozen(rank)) stopped.culprits.push_back(rank);
    ++all;
    if (beat.signal != 0) return Verdict{.culprits = {rank}, .signal = beat.signal};
    if (hangs_alone(seen_[i], beat)) alone.culprits.push_back(rank);
    if (now - seen_[i].moved_at < timeout_) none_moves = false;
    if (beat.moves < fewest) together.culprits.clear();
    fewest = std::min(fewest, beat.moves);
    if (beat.moves == fewest) together.culprits.push_back(rank);
  }
  if (!alone.culprits.empty()) {
    alone.frozen = std::ranges::all_of(alone.culprits, [this](int rank) { return frozen(rank); });
    return alone;
  }
  if (!none_moves || all == 0) return std::nullopt;
  const bool some_run = stopped.culprits.size() < all;
  if (some_run && !stopped.culprits.empty()) return stopped;
  return together;
}

}  // namespace lockstep
