#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lockstep/comm/communicator.hpp"

namespace lockstep {

/// Sums over samples, from which losses and accuracies are formed once all ranks' are added up:
/// never a mean of means.
struct Tally {
  double loss_sum = 0.0;
  std::int64_t correct = 0;       ///< samples whose class has the highest score
  std::int64_t correct_top5 = 0;  ///< samples with fewer than five classes above theirs
  std::int64_t nonfinite = 0;     ///< samples whose loss is NaN or infinite; loss_sum shows it too
  std::int64_t samples = 0;

  Tally& operator+=(const Tally& other);

  /// loss_sum / samples; NaN where there is no sample.
  double mean_loss() const;
  /// correct / samples; NaN where there is no sample.
  double accuracy() const;
  /// correct_top5 / samples; NaN where there is no sample.
  double accuracy_top5() const;
  /// Samples a second; 0 where no time has passed.
  double rate(double seconds) const;
};

constexpr std::size_t tally_fields = 5;

/// A tally as numbers that add up, and back, in the order of its fields. Counts are exact below
/// 2^53.
std::array<double, tally_fields> numbers_of(const Tally& tally);
Tally tally_of(std::span<const double> numbers);

/// Adds up all ranks' tallies without waiting: started at one place, known at another.
class TallyReduction {
 public:
  TallyReduction() = default;
  /// Collective. Counts stay exact below 2^53.
  void start(Communicator& comm, const Tally& mine, const char* purpose);
  /// Waits and returns the global tally. Collective.
  Tally finish();

 private:
  // Apart from the object, so that it may move while the message is under way.
  std::unique_ptr<std::array<double, tally_fields>> sums_;
  Work work_;
};

/// The sum of all ranks' tallies. Collective.
Tally reduced(Communicator& comm, const Tally& mine, const char* purpose);

}  // namespace lockstep
