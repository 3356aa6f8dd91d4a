#include "lockstep/train/options.hpp"

namespace lockstep {

FieldTable training_fields(TrainOptions& options) {
  return {
      field("epochs", options.epochs, "passes over the training data", at_least(1)),
      field("seed", options.seed, "seed of weights, order and synthetic data", at_least(0)),
      field("dtype", options.dtype, "element type of weights and optimizer",
            {"float32", "float64"}),
      field("use_amp", options.use_amp,
            "compute in bfloat16 by autocast where the processor does it natively (float32 only)"),
  };
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
      field("eval_every", options.eval_every, "epochs between validations; 0 never", at_least(0)),
      field("save_every", options.save_every, "epochs between checkpoints; 0 only at the end",
            at_least(0)),
      field("keep_last", options.keep_last, "checkpoints to keep; 0 all", at_least(0)),
      field("log_interval", options.log_interval, "optimizer steps between log lines", at_least(1)),
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
