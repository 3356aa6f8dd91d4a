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
  samples += other.samples;
  return *this;
}

double Tally::mean_loss() const {
  return ratio(loss_sum, samples);
}
double Tally::accuracy() const {
  return ratio(static_cast<double>(correct), samples);
}

void TallyReduction::start(Communicator& comm, const Tally& mine, const char* purpose) {
  sums_ = std::make_unique<double[]>(3);
  sums_[0] = mine.loss_sum;
  sums_[1] = static_cast<double>(mine.correct);
  sums_[2] = static_cast<double>(mine.samples);
  work_ = comm.start_all_reduce(buffer_of(std::span(sums_.get(), 3)), ReduceOp::sum, purpose);
}

Tally TallyReduction::finish() {
  work_.wait();
  return {.loss_sum = sums_[0],
          .correct = static_cast<std::int64_t>(sums_[1]),
          .samples = static_cast<std::int64_t>(sums_[2])};
}

Tally reduced(Communicator& comm, const Tally& mine, const char* purpose) {
  TallyReduction reduction;
  reduction.start(comm, mine, purpose);
  return reduction.finish();
}

}  // namespace lockstep
