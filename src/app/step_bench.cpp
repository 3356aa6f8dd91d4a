#include "app/step_bench.hpp"

#include "app/compute.hpp"
#include "app/endless_training.hpp"

namespace lockstep {
namespace {

/// What the blocks of all ranks showed.
class StepFigures {
 public:
  StepFigures(Communicator& world, std::int64_t steps) : world_(world), steps_(steps) {}

  /// Collective.
  void add(const BlockTimes& times) {
    const double seconds = of_ranks(times.seconds, ReduceOp::max);
    const double ms_a_step = 1e3 / static_cast<double>(steps_);
    rate_.blocks.push_back(static_cast<double>(times.images) / seconds);
    step_.blocks.push_back(ms_a_step * seconds);
    data_.blocks.push_back(ms_a_step * of_ranks(times.data_seconds, ReduceOp::max));
    gradients_.blocks.push_back(ms_a_step * of_ranks(times.gradient_seconds, ReduceOp::min));
    hidden_.blocks.push_back(of_ranks(100.0 * times.hidden_part, ReduceOp::min));
  }

  std::vector<Figure> get(bool on_gpu) const {
    std::vector<Figure> figures{rate_, step_, data_, gradients_};
    if (!on_gpu) figures.push_back(hidden_);
    return figures;
  }

 private:
  double of_ranks(double value, ReduceOp op) const {
    return all_reduce_value(world_, value, op, "figures of a block");
  }

  Communicator& world_;
  std::int64_t steps_;  // a block
  Figure rate_{.name = "training", .unit = "images/s", .remark = "all ranks"};
  Figure step_{.name = "step", .unit = "ms"};
  Figure data_{.name = "wait for data", .unit = "ms a step", .remark = "slowest rank"};
  Figure gradients_{
      .name = "wait for gradients", .unit = "ms a step", .remark = "rank that waits least"};
  Figure hidden_{.name = "gradients reduced by the end of the backward pass", .unit = "%"};
};

}  // namespace

std::vector<Figure> bench_step(const CommandContext& context, const RunSettings& settings,
                               const Job& job, Files& files, std::int64_t blocks,
                               std::int64_t steps, const BeforeBlock& before_block) {
  Communicator& world = context.session.world();
  TrainSetup setup = set_up(context, settings, job, /*resume=*/nullptr, files);
  const Backend backend = connect_backend(context, settings.train, job.compute);
  StepFigures figures(world, steps);
  {
    EndlessTraining training(settings, job, setup, backend.device ? *backend.device : world);
    training.run(2);  // the first step is slower than others
    for (std::int64_t block = 0; block < blocks; ++block) {
      before_block();
      figures.add(training.run(steps));
    }
  }
  if (backend.finish) backend.finish();
  return figures.get(job.compute.on_gpu());
}

}  // namespace lockstep
