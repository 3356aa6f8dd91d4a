#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

/// What joins two ranks: a message of b bytes takes latency_seconds + b / bytes_per_second (the
/// model of Hockney, 1994).
struct Link {
  double latency_seconds = 0.0;
  double bytes_per_second = 1.0;
};

/// How an all-reduce goes by such links.
enum class Route {
  ring,  ///< 2 (n - 1) messages of an n-th each, one after the other (Patarasuk and Yuan, 2009)
  tree   ///< 2 ceil(log2 n) messages, halving and doubling, of 2 (n - 1) / n in all (Thakur,
         ///< Rabenseifner and Gropp, 2005)
};

double all_reduce_seconds(const Link& link, Route route, int ranks, double bytes);

/// The link whose trees give the two times measured between `ranks` ranks, two or more, of which
/// that of `small_bytes` is taken for latency alone.
Link fitted_link(int ranks, double small_seconds, double large_bytes, double large_seconds);

/// A message that can start as soon as so many gradients are there.
struct GradientMessage {
  std::int64_t after_gradients = 0;
  double bytes = 0.0;
};

/// An optimizer step of one rank on which no message is waited for.
struct StepProfile {
  std::vector<double> gradients;  ///< seconds from the step's begin to each gradient, ascending
  std::vector<GradientMessage> messages;  ///< in the order in which they start
  double seconds = 0.0;                   ///< of all, up to the updated weights
};

/// How long the step takes where its messages go one after the other, each as soon as it can, while
/// the computation goes on, and the update waits for the last. All ranks compute alike.
double step_seconds(const StepProfile& profile, const Link& link, Route route, int ranks);

}  // namespace lockstep
