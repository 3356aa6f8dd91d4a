#include "lockstep/train/options.hpp"

namespace lockstep {

FieldTable training_fields(TrainOptions& options) {
  return {
      field("epochs", options.epochs, "passes over the training data", at_least(1)),
      field("seed", options.seed, "seed of weights, order and synthetic data", at_least(0)),
      field("dtype", options.dtype, "element type of weights and optimizer",
            {"float32", "float64"}),
      field("use_amp", options.use_amp, "mixed precision by autocast (float32 weights only)"),
      field("amp_dtype", options.amp_dtype,
            "what autocast computes in; auto: bf16 where all processors have it, else not at all; "
            "fp16 comes with loss scaling and is slow on CPUs",
            {"auto", "bf16", "fp16"}),
      field("label_smoothing", options.label_smoothing,
            "share of a label spread over all classes in the training loss", from_up_to(0.0, 1.0)),
      field("max_grad_norm", options.max_grad_norm,
            "largest norm of all gradients together, beyond which they are scaled down; 0: none",
            at_least(0.0)),
      field("ema_decay", options.ema_decay,
            "decay of an exponential average of the weights, which is what is validated; 0: none",
            from_up_to(0.0, 1.0)),
      field("max_skipped_steps", options.max_skipped_steps,
            "steps in a row whose gradient is not finite before the run gives up", at_least(1)),
  };
}

PrecisionRequest precision_request(const TrainOptions& options) {
  return {.dtype = dtype_named(options.dtype),
          .use_amp = options.use_amp,
          .amp_dtype = options.amp_dtype};
}

FieldTable run_fields(TrainOptions& options) {
  return {
      field("output_dir", options.output_dir, "directory of everything the run writes"),
      field("resume_from", options.resume_from,
            "none, auto (the newest checkpoint of output_dir, if any) or a checkpoint file"),
      field("overwrite", options.overwrite, "remove the run that output_dir holds, and start anew"),
      field("stop_after_epochs", options.stop_after_epochs,
            "end once this many epochs are done; the learning rate still aims at epochs",
            at_least(1)),
      field("max_steps", options.max_steps,
            "end after this optimizer step of the run, with a checkpoint; the learning rate still "
            "aims at epochs",
            at_least(1)),
      field("eval_every", options.eval_every, "epochs between validations; 0 never", at_least(0)),
      field("save_every", options.save_every, "epochs between checkpoints; 0 only at the end",
            at_least(0)),
      field("keep_last", options.keep_last, "checkpoints to keep; 0 all", at_least(0)),
      field("log_interval", options.log_interval, "optimizer steps between log lines", at_least(1)),
      field("enable_profiling", options.enable_profiling,
            "write a trace of three early steps of each rank for chrome://tracing"),
  };
}

FieldTable machine_fields(TrainOptions& options) {
  return {
      field("threads", options.threads,
            "compute threads a rank; auto shares the processors of the node out", between(1, 4096)),
      field("allow_single", options.allow_single,
            "train as one rank although the scheduler started several tasks"),
  };
}

}  // namespace lockstep
