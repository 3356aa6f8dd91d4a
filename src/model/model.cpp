#include "lockstep/model/model.hpp"

#include "lockstep/model/dtype.hpp"

namespace lockstep {
namespace {

void convert(at::Tensor tensor, at::ScalarType type, MemoryFormat format, at::Device device) {
  at::Tensor converted = tensor.detach().to(device);
  if (converted.is_floating_point()) converted = converted.to(type);
  if (converted.dim() == 4) {
    converted =
        converted.contiguous(format == MemoryFormat::channels_last ? at::MemoryFormat::ChannelsLast
                                                                   : at::MemoryFormat::Contiguous);
  }
  tensor.set_data(converted);
}

}  // namespace

void convert(Model& model, DType dtype, MemoryFormat format, at::Device device) {
  const at::ScalarType type = scalar_type_of(dtype);
  for (const std::vector<NamedTensor>& tensors : {model.parameters(), model.buffers()}) {
    for (const NamedTensor& named : tensors) convert(named.tensor, type, format, device);
  }
}

at::Device device_of(const Model& model) {
  const std::vector<NamedTensor> parameters = model.parameters();
  return parameters.empty() ? at::Device(at::kCPU) : parameters.front().tensor.device();
}

std::int64_t parameter_count(const Model& model) {
  std::int64_t count = 0;
  for (const NamedTensor& parameter : model.parameters()) count += parameter.tensor.numel();
  return count;
}

}  // namespace lockstep
