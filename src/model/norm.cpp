#include "lockstep/model/norm.hpp"

#include <numeric>

#include <ATen/ops/batch_norm.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

namespace lockstep {
namespace {

constexpr double eps = 1e-5;
constexpr double momentum = 0.1;

class BatchNorm : public Norm {
 public:
  BatchNorm(NetworkTensors& tensors, const std::string& name, std::int64_t channels)
      : weight_(tensors.add_parameter(name + ".weight", at::ones({channels}))),
        bias_(tensors.add_parameter(name + ".bias", at::zeros({channels}))),
        running_mean_(tensors.add_buffer(name + ".running_mean", at::zeros({channels}))),
        running_var_(tensors.add_buffer(name + ".running_var", at::ones({channels}))),
        batches_(tensors.add_buffer(name + ".num_batches_tracked", at::zeros({}, at::kLong))) {}

  at::Tensor forward(const at::Tensor& x, bool training) override {
    if (training) batches_.add_(1);
    const bool one_value = training && x.numel() == x.size(1);
    // ATen would divide by zero and leave NaN in the running variance for good.
    const at::Tensor variance = one_value ? running_var_.clone() : running_var_;
    return at::batch_norm(x, weight_, bias_, running_mean_, variance, training, momentum, eps,
                          /*cudnn_enabled=*/true);
  }

 private:
  at::Tensor weight_;
  at::Tensor bias_;
  at::Tensor running_mean_;
  at::Tensor running_var_;
  at::Tensor batches_;
};

class GroupNorm : public Norm {
 public:
  GroupNorm(NetworkTensors& tensors, const std::string& name, std::int64_t channels)
      : groups_(std::gcd(std::int64_t{32}, channels)),
        weight_(tensors.add_parameter(name + ".weight", at::ones({channels}))),
        bias_(tensors.add_parameter(name + ".bias", at::zeros({channels}))) {}

  at::Tensor forward(const at::Tensor& x, bool /*training*/) override {
    return at::group_norm(x, groups_, weight_, bias_, eps);
  }

 private:
  std::int64_t groups_;
  at::Tensor weight_;
  at::Tensor bias_;
};

template <typename Layer>
NormFactory factory_of() {
  return [](NetworkTensors& tensors, const std::string& name, std::int64_t channels) {
    return std::make_unique<Layer>(tensors, name, channels);
  };
}

}  // namespace

NormFactory batch_norm() {
  return factory_of<BatchNorm>();
}

NormFactory group_norm() {
  return factory_of<GroupNorm>();
}

}  // namespace lockstep
