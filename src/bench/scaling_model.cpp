#include "lockstep/bench/scaling_model.hpp"

#include <algorithm>
#include <cmath>

namespace lockstep {
namespace {

double messages_of(Route route, int ranks) {
  return 2.0 * (route == Route::ring ? ranks - 1.0 : std::ceil(std::log2(ranks)));
}

/// What each rank sends, as part of what is reduced.
double part_sent(int ranks) {
  return 2.0 * (ranks - 1.0) / ranks;
}

}  // namespace

double all_reduce_seconds(const Link& link, Route route, int ranks, double bytes) {
  return messages_of(route, ranks) * link.latency_seconds +
         part_sent(ranks) * bytes / link.bytes_per_second;
}

Link fitted_link(int ranks, double small_seconds, double large_bytes, double large_seconds) {
  // Where noise hides the difference, all of the time is taken for the transfer.
  const double transfer =
      large_seconds > small_seconds ? large_seconds - small_seconds : large_seconds;
  return {.latency_seconds = small_seconds / messages_of(Route::tree, ranks),
          .bytes_per_second = part_sent(ranks) * large_bytes / transfer};
}

double step_seconds(const StepProfile& profile, const Link& link, Route route, int ranks) {
  double arrived = 0.0;
  for (const GradientMessage& message : profile.messages) {
    const auto gradients = static_cast<std::size_t>(message.after_gradients);
    const double ready = gradients == 0 ? 0.0 : profile.gradients[gradients - 1];
    arrived = std::max(arrived, ready) + all_reduce_seconds(link, route, ranks, message.bytes);
  }
  const double computed = profile.gradients.empty() ? 0.0 : profile.gradients.back();
  return profile.seconds + std::max(0.0, arrived - computed);
}

}  // namespace lockstep
