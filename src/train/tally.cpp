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

std::array<double, tally_fields> numbers_of(const Tally& tally) {
  return {tally.loss_sum, static_cast<double>(tally.correct),
          static_cast<double>(tally.correct_top5), static_cast<double>(tally.nonfinite),
          static_cast<double>(tally.samples)};
}

Tally tally_of(std::span<const double> numbers) {
  const auto count = [&](std::size_t field) { return static_cast<std::int64_t>(numbers[field]); };
  return {.loss_sum = numbers[0],
          .correct = count(1),
          .correct_top5 = count(2),
          .nonfinite = count(3),
          .samples = count(4)};
}

void TallyReduction::start(Communicator& comm, const Tally& mine, const char* purpose) {
  sums_ = std::make_unique<std::array<double, tally_fields>>(numbers_of(mine));
  work_ = comm.start_all_reduce(buffer_of(std::span<double>(*sums_)), ReduceOp::sum, purpose);
}

Tally TallyReduction::finish() {
  work_.wait();
  return tally_of(std::span<const double>(*sums_));
}

Tally reduced(Communicator& comm, const Tally& mine, const char* purpose) {
  TallyReduction reduction;
  reduction.start(comm, mine, purpose);
  return reduction.finish();
}

}  // namespace lockstep
