#include "lockstep/train/outlook.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/train/recorder.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t steps_before_estimate = 10;
constexpr double least_seconds_told = 1.0;
constexpr double seconds_between_lines = 0.2;

}  // namespace

void Outlook::step_done(const LoopState& loop, double steps_left) {
  const double now = seconds_();
  // The first step is slower than the others, so it does not count.
  if (++steps_ == 1) first_step_ = now;
  const double per_step =
      (now - first_step_) / static_cast<double>(std::max<std::int64_t>(steps_ - 1, 1));
  const double left = per_step * steps_left;
  if (steps_ == steps_before_estimate && left >= least_seconds_told) {
    log_.info(fmt::format("estimate: the training takes about {} more", duration_text(left)));
  }
  if (now - shown_ < seconds_between_lines) return;
  shown_ = now;
  log_.progress(fmt::format("epoch {}/{}  step {}  loss {:.4f}  {} left", loop.position.epoch + 1,
                            loop.horizon.epochs, loop.position.global_step, loss_,
                            duration_text(left)));
}

}  // namespace lockstep
