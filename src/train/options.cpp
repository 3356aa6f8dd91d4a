#include "lockstep/train/options.hpp"

#include <utility>
#include <vector>

#include "lockstep/train/retention.hpp"

namespace lockstep {

FieldTable training_fields(TrainOptions& options) {
  return {
      field("epochs", options.epochs, "passes over the training data", at_least(1)),
      field("seed", options.seed, "seed of weights, order and synthetic data", at_least(0)),
      field("dtype", options.dtype, "element type of weights and optimizer",
            {"float32", "float64"}),
      field("use_amp", options.use_amp, "mixed precision by autocast (float32 weights only)"),
      field("amp_dtype", options.amp_dtype,
            "what autocast computes in; auto: bf16 where all processors or GPUs have it, else fp16 "
            "on "
            "GPUs and nothing on CPUs; fp16 comes with loss scaling and is slow on CPUs",
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

RunDirectory run_directory(const TrainOptions& options) {
  if (options.checkpoint_dir == "auto") return RunDirectory(options.output_dir);
  return {options.output_dir, options.checkpoint_dir};
}

FieldTable run_fields(TrainOptions& options) {
  std::vector<std::string> best{"none"};
  for (std::string& name : retention_metrics()) best.push_back(std::move(name));
  return {
      field("output_dir", options.output_dir, "directory of everything the run writes"),
      field("checkpoint_dir", options.checkpoint_dir,
            "directory of this run's checkpoints alone; auto: checkpoints in output_dir"),
      field("run_name", options.run_name,
            "what to call the run in logs, tables and plots; empty: as its directory"),
      field("resume_from", options.resume_from,
            "none, auto (the newest checkpoint of output_dir, if any) or a checkpoint file"),
      field(
          "on_resize", options.on_resize,
          "what a run that is resumed on another number of ranks keeps: its global batch, by more "
          "accumulation steps where needed, or batch_size, which makes it another training",
          {"keep_global_batch", "keep_batch_size"}),
      field("new_horizon", options.new_horizon,
            "let epochs change on resume; the learning rate aims at the new end"),
      field("new_data", options.new_data,
            "let the training data change on resume; the epoch begins anew"),
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
      field("save_every_steps", options.save_every_steps,
            "optimizer steps between further checkpoints; 0 none", at_least(0)),
      field("save_every_minutes", options.save_every_minutes,
            "minutes after a checkpoint until the next one is due; 0: time does not matter",
            at_least(0.0)),
      field("checkpoint_write", options.checkpoint_write,
            "async: from a copy in memory, while training goes on; sync: training waits",
            {"async", "sync"}),
      field("keep_last", options.keep_last, "newest checkpoints to keep; 0 all", at_least(0)),
      field("keep_every", options.keep_every,
            "also keep for ever the checkpoint of every so many epochs; 0 none", at_least(0)),
      field("keep_best", options.keep_best,
            "also keep the checkpoint of the epoch that was best by this", best),
      field("log_interval", options.log_interval, "optimizer steps between log lines", at_least(1)),
      field("metrics_interval", options.metrics_interval,
            "seconds between rewrites of metrics.h5 within an epoch; 0: at its end only",
            at_least(0.0)),
      field("stop_margin", options.stop_margin,
            "seconds before the end of a Slurm job at which the training stops with a checkpoint, "
            "more where checkpoints take long; 0: the end does not matter",
            at_least(0.0)),
      field("enable_profiling", options.enable_profiling,
            "write a trace of three early steps of each rank for chrome://tracing"),
      field("profile_startup", options.profile_startup,
            "say how long each part of the start took, from the launch to the first step"),
  };
}

FieldTable machine_fields(TrainOptions& options) {
  return {
      field(
          "device", options.device,
          "what ranks compute on: cuda, a GPU each; cpu; auto: GPUs where every rank sees one and "
          "the program was built for them",
          {"auto", "cpu", "cuda"}),
      field("backend", options.backend,
            "what gradients go by; auto: nccl between GPUs, else mpi, which between GPUs goes "
            "through host memory",
            {"auto", "nccl", "mpi"}),
      field("deterministic", options.deterministic,
            "on GPUs: only operations that give the same bits each time, which may be slower; on "
            "CPUs it is always so"),
      field("tf32", options.tf32,
            "on GPUs: float32 convolutions may round to 10 bits of mantissa, as in PyTorch"),
      field("hang_timeout", options.hang_timeout,
            "seconds without a move before a rank counts as hanging and the job is ended; 0: never",
            at_least(0.0)),
      field("threads", options.threads,
            "compute threads a rank; auto shares the processors of the node out", between(1, 4096)),
      field("allow_single", options.allow_single,
            "train as one rank although the scheduler started several tasks"),
  };
}

FieldTable fault_fields(TrainOptions& options) {
  return {
      field("fault", options.fault,
            "what is to go wrong once, e.g. rank=1,phase=step,step=5,kind=throw; phases: setup, "
            "load, step, checkpoint, evaluate, finish; kinds: throw, bad_alloc, segv, abort, kill, "
            "stop, stall, write_error, nan"),
  };
}

}  // namespace lockstep
