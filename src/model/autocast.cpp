#include "lockstep/model/autocast.hpp"

#include <ATen/autocast_mode.h>

#include "lockstep/model/dtype.hpp"

namespace lockstep {

AutocastScope::AutocastScope(bool enabled, DType dtype, at::DeviceType device)
    : device_(device),
      enabled_before_(at::autocast::is_autocast_enabled(device_)),
      dtype_before_(dtype_of(at::autocast::get_autocast_dtype(device_))) {
  at::autocast::set_autocast_dtype(device_, scalar_type_of(dtype));
  at::autocast::set_autocast_enabled(device_, enabled);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, scalar_type_of(dtype_before_));
}

}  // namespace lockstep
