#include "data/subset_dataset.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "lockstep/base/error.hpp"
#include "lockstep/data/epoch_order.hpp"

namespace lockstep {
namespace {

constexpr std::uint64_t split_seed = 0x73706C6974;  // any number but what people choose as a seed

}  // namespace

Splits split_off_validation(std::unique_ptr<Dataset> dataset, double fraction) {
  const std::int64_t size = dataset->size();
  if (size < 2) {
    throw UsageError("split " + dataset->name(),
                     "its " + std::to_string(size) + " samples cannot be split in two");
  }
  const std::int64_t wanted = std::llround(fraction * static_cast<double>(size));
  const std::int64_t held_out = std::clamp<std::int64_t>(wanted, 1, size - 1);
  const EpochOrder order(split_seed, 0, size);
  std::vector<bool> chosen(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < held_out; ++i) chosen[static_cast<std::size_t>(order.at(i))] = true;
  std::vector<std::int64_t> training;
  std::vector<std::int64_t> validation;
  for (std::int64_t id = 0; id < size; ++id) {
    (chosen[static_cast<std::size_t>(id)] ? validation : training).push_back(id);
  }
  const std::shared_ptr<const Dataset> whole = std::move(dataset);
  return {std::make_unique<SubsetDataset>(whole, std::move(training),
                                          whole->name() + " (training part)"),
          std::make_unique<SubsetDataset>(whole, std::move(validation),
                                          whole->name() + " (validation part)"),
          {}};
}

}  // namespace lockstep
