#include "control/hang_report.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

namespace lockstep {
namespace {

constexpr std::size_t most_lines = 8;

std::string place(const Beat& beat) {
  return fmt::format("in phase {}, step {}", phase_name(beat.phase), beat.step);
}

std::string name_of(std::size_t rank, std::span<const Member> members) {
  return fmt::format("rank {} ({})", rank, members[rank].host);
}

std::string signal_text(std::int64_t signal) {
  const char* const name = sigabbrev_np(static_cast<int>(signal));
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

std::string cause(const Verdict& verdict, std::span<const Sighting> ranks,
                  std::span<const double> ages, std::span<const Member> members) {
  const auto first = static_cast<std::size_t>(verdict.culprits[0]);
  const std::string who = name_of(first, members);
  const std::string where = place(ranks[first].beat);
  if (verdict.signal != 0) {
    return fmt::format("{} died of {} {}", who, signal_text(verdict.signal), where);
  }
  if (verdict.culprits.size() > 1 && verdict.culprits.size() == ranks.size()) {
    return fmt::format("all ranks stand still at the same place, {}, for {:.0f} s", where,
                       ages[first]);
  }
  if (ranks.size() == 1) {
    return fmt::format("{} stands still {} for {:.0f} s", who, where, ages[first]);
  }
  std::string others;
  if (verdict.culprits.size() > 1) {
    others = fmt::format(" and {} more", verdict.culprits.size() - 1);
  }
  return fmt::format(
      "{}{} stands still {} for {:.0f} s{}, and the others come to wait for it", who, others, where,
      ages[first], verdict.frozen ? ": the process is stopped or its node cannot be reached" : "");
}

/// Those that moved least first; of these, those that have been still the longest.
std::vector<std::size_t> slowest(std::span<const Sighting> ranks, std::span<const double> ages) {
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t rank) { return ranks[rank].beat.doing == Doing::left; });
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t rank) {
      return std::pair(ranks[rank].heard ? ranks[rank].beat.moves : -1, -ages[rank]);
    };
    return key(a) < key(b);
  });
  return order;
}

std::string line(std::size_t rank, std::int64_t most_moves, const Sighting& sighting, double age,
                 std::span<const Member> members) {
  if (!sighting.heard) return name_of(rank, members) + ": never heard of";
  const std::int64_t behind = most_moves - sighting.beat.moves;
  return fmt::format(
      "{}: {}, {}, {:.0f} s ago{}", name_of(rank, members), place(sighting.beat),
      sighting.beat.doing == Doing::own_work ? "in work of its own" : "in what ranks do together",
      age, behind > 0 ? fmt::format(", {} beats behind", behind) : "");
}

}  // namespace

std::string hang_report(const Verdict& verdict, std::span<const Sighting> ranks,
                        std::span<const double> ages, std::span<const Member> members,
                        int observer) {
  std::int64_t most_moves = 0;
  for (const Sighting& rank : ranks) most_moves = std::max(most_moves, rank.beat.moves);
  std::string text = fmt::format("lockstep: [rank {}] watchdog on {}: {}; the job is ended\n",
                                 observer, members[static_cast<std::size_t>(observer)].host,
                                 cause(verdict, ranks, ages, members));
  const std::vector<std::size_t> order = slowest(ranks, ages);
  for (const std::size_t rank : std::span(order).first(std::min(order.size(), most_lines))) {
    text += "  " + line(rank, most_moves, ranks[rank], ages[rank], members) + "\n";
  }
  if (order.size() > most_lines) {
    text += fmt::format("  and {} further on\n", order.size() - most_lines);
  }
  return text;
}

}  // namespace lockstep
