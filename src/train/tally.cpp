#include "lockstep/train/tally.hpp"

#include <limits>
#include <memory>
#include <span>

namespace lockstep {
namespace {

double ratio(double numerator, std::int64_t samples) {
  return samples == 0 ? std::numeric_limits<double>::quiet_NaN()
                      : numerator / static_cast<double>(samples);
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  loss_sum += other.loss_sum;
  correct += other.correct;
  correct_top5 += other.correct_top5;
  nonfinite += other.nonfinite;
  samples += other.samples;
  return *this;
}

double Tally::mean_loss() const {
  return ratio(loss_sum, samples);
}
double Tally::accuracy() const {
  return ratio(static_cast<double>(correct), samples);
}

double Tally::accuracy_top5() const {
  return ratio(static_cast<double>(correct_top5), samples);
}

double Tally::rate(double seconds) const {
  return seconds > 0.0 ? static_cast<double>(samples) / seconds : 0.0;
}

void TallyReduction::start(Communicator& comm, const Tally& mine, const char* purpose) {
  sums_ = std::make_unique<std::array<double, 5>>();
  *sums_ = {mine.loss_sum, static_cast<double>(mine.correct),
            static_cast<double>(mine.correct_top5), static_cast<double>(mine.nonfinite),
            static_cast<double>(mine.samples)};
  work_ = comm.start_all_reduce(buffer_of(std::span<double>(*sums_)), ReduceOp::sum, purpose);
}

Tally TallyReduction::finish() {
  work_.wait();
  const auto count = [this](std::size_t i) { return static_cast<std::int64_t>((*sums_)[i]); };
  return {.loss_sum = sums_->front(),
          .correct = count(1),
          .correct_top5 = count(2),
          .nonfinite = count(3),
          .samples = count(4)};
}

Tally reduced(Communicator& comm, const Tally& mine, const char* purpose) {
  TallyReduction reduction;
  reduction.start(comm, mine, purpose);
  return reduction.finish();
}

}  // namespace lockstep
