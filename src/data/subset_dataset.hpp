#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// Some samples of another data set, numbered anew in the order of `ids`.
class SubsetDataset : public Dataset {
 public:
  SubsetDataset(std::shared_ptr<const Dataset> whole, std::vector<std::int64_t> ids,
                std::string name)
      : whole_(std::move(whole)), ids_(std::move(ids)), name_(std::move(name)) {}

  const std::string& name() const override { return name_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(ids_.size()); }
  ImageShape image_shape() const override { return whole_->image_shape(); }
  std::int64_t num_classes() const override { return whole_->num_classes(); }
  std::int64_t label(std::int64_t id) const override { return whole_->label(id_in_whole(id)); }
  std::int64_t read(std::int64_t id, std::span<float> image) const override {
    return whole_->read(id_in_whole(id), image);
  }

 private:
  std::int64_t id_in_whole(std::int64_t id) const { return ids_.at(static_cast<std::size_t>(id)); }

  std::shared_ptr<const Dataset> whole_;
  std::vector<std::int64_t> ids_;
  std::string name_;
};

/// Takes `dataset` apart: round(fraction * size) samples, but at least one in each part, for
/// validation. Which ones depends on the size and the fraction alone. Both parts keep the order.
/// Throws UsageError where there are fewer than two samples.
Splits split_off_validation(std::unique_ptr<Dataset> dataset, double fraction);

}  // namespace lockstep
