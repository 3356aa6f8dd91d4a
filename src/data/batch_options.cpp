#include "lockstep/data/batch_options.hpp"

#include "lockstep/base/product.hpp"

namespace lockstep {

FieldTable fields(BatchOptions& options) {
  return {
      field("batch_size", options.batch_size, "samples a rank and micro-batch", at_least(1)),
      field("global_batch_size", options.global_batch_size,
            "samples an optimizer step, over all ranks and accumulation steps; auto: batch_size x "
            "ranks x grad_accum_steps",
            at_least(1)),
      field("grad_accum_steps", options.grad_accum_steps,
            "micro-batches whose gradients are summed for one optimizer step", at_least(1)),
      field("drop_last", options.drop_last,
            "leave out an epoch's last samples where they do not fill a global batch"),
  };
}

BatchPlan batch_plan(const BatchOptions& options, int world) {
  const std::int64_t by_rank =
      product(product(options.batch_size, world), options.grad_accum_steps);
  return {.global_batch = options.global_batch_size.value_or(by_rank),
          .grad_accum_steps = options.grad_accum_steps,
          .drop_last = options.drop_last};
}

}  // namespace lockstep
