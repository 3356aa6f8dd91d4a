#include "lockstep/model/model.hpp"

#include "lockstep/model/dtype.hpp"

namespace lockstep {
namespace {

void convert(at::Tensor tensor, at::ScalarType type, MemoryFormat format) {
  at::Tensor converted = tensor.detach();
  if (converted.is_floating_point()) converted = converted.to(type);
  if (converted.dim() == 4) {
    converted =
        converted.contiguous(format == MemoryFormat::channels_last ? at::MemoryFormat::ChannelsLast
                                                                   : at::MemoryFormat::Contiguous);
  }
  tensor.set_data(converted);
}

}  // namespace

void convert(Model& model, DType dtype, MemoryFormat format) {
  const at::ScalarType type = scalar_type_of(dtype);
  for (const NamedTensor& parameter : model.parameters()) convert(parameter.tensor, type, format);
  for (const NamedTensor& buffer : model.buffers()) convert(buffer.tensor, type, format);
}

std::int64_t parameter_count(const Model& model) {
  std::int64_t count = 0;
  for (const NamedTensor& parameter : model.parameters()) count += parameter.tensor.numel();
  return count;
}

}  // namespace lockstep
