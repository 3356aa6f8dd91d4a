#include "lockstep/model/autocast.hpp"

#include <ATen/autocast_mode.h>

#include "lockstep/model/dtype.hpp"

namespace lockstep {

AutocastScope::AutocastScope(bool enabled, DType dtype)
    : enabled_before_(at::autocast::is_autocast_enabled(at::kCPU)),
      dtype_before_(dtype_of(at::autocast::get_autocast_dtype(at::kCPU))) {
  at::autocast::set_autocast_dtype(at::kCPU, scalar_type_of(dtype));
  at::autocast::set_autocast_enabled(at::kCPU, enabled);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, enabled_before_);
  at::autocast::set_autocast_dtype(at::kCPU, scalar_type_of(dtype_before_));
}

}  // namespace lockstep
