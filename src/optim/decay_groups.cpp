#include "optim/decay_groups.hpp"

#include <utility>

namespace lockstep {

FieldTable fields(WeightDecay& decay) {
  return {field("weight_decay", decay.factor,
                "sgd: L2 penalty's factor, added to the gradient; adamw: times the learning rate, "
                "the part of a weight taken off it",
                at_least(0.0)),
          field("decay_norm_and_bias", decay.norm_and_bias,
                "whether norms and biases decay as other weights do")};
}

std::vector<at::Tensor> DecayGroup::views(const at::Tensor& flat) const {
  std::vector<at::Tensor> result;
  result.reserve(ranges.size());
  for (const ElementRange& range : ranges) {
    result.push_back(flat.narrow(0, range.begin, range.end - range.begin));
  }
  return result;
}

std::vector<DecayGroup> decay_groups(const WeightDecay& decay, std::int64_t elements,
                                     std::span<const ElementRange> weights) {
  if (decay.norm_and_bias || decay.factor == 0.0) return {{decay.factor, {{0, elements}}}};
  DecayGroup decayed{decay.factor, {weights.begin(), weights.end()}};
  DecayGroup others{0.0, {}};
  std::int64_t done = 0;
  for (const ElementRange& range : weights) {
    if (range.begin > done) others.ranges.push_back({done, range.begin});
    done = range.end;
  }
  if (elements > done) others.ranges.push_back({done, elements});
  std::vector<DecayGroup> groups;
  if (!decayed.ranges.empty()) groups.push_back(std::move(decayed));
  if (!others.ranges.empty()) groups.push_back(std::move(others));
  return groups;
}

}  // namespace lockstep
