#include "app/scaling_bench.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "lockstep/base/wall_clock.hpp"
#include "lockstep/bench/all_reduce_bench.hpp"
#include "lockstep/bench/scaling_model.hpp"
#include "lockstep/bench/step_emulation.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/self_communicator.hpp"

#include "app/endless_training.hpp"

namespace lockstep {
namespace {

constexpr std::array projected_ranks{4, 16, 64, 256, 1024};
/// How long all messages take by slowed links, as a multiple of the computation.
constexpr std::array slowed_to{0.5, 1.0, 2.0};
constexpr std::int64_t largest_message_mib = 16;

/// Watches a training whose gradients go nowhere.
class StepWatch {
 public:
  StepWatch(const RunSettings& settings, const Job& job, TrainSetup& setup)
      : element_bytes_(setup.replica->parameters().gradients().element_size()),
        tail_(setup.replica->parameters().tail().numel()),
        training_(settings, job, setup, nobody_, [this](const auto& event) { note(event); }) {
    training_.run(2);  // the first step is slower than others
  }

  /// Of the step that is in the middle of `steps` by its length.
  StepProfile profile(std::int64_t steps) {
    std::vector<StepProfile> seen;
    for (std::int64_t step = 0; step < steps; ++step) {
      now_ = {};
      began_ = steady_seconds();
      training_.run(1);
      now_.seconds = steady_seconds() - began_;
      seen.push_back(now_);
    }
    const auto middle = seen.begin() + std::ssize(seen) / 2;
    std::ranges::nth_element(seen, middle, {}, &StepProfile::seconds);
    return *middle;
  }

  std::int64_t gradients() const { return training_.reducer().buckets().back().end_entry; }

 private:
  void note(const ReductionEvent& event) {
    if (event.kind == ReductionEvent::Kind::gradient_ready) {
      now_.gradients.push_back(steady_seconds() - began_);
      return;
    }
    const std::vector<Bucket>& buckets = training_.reducer().buckets();
    const Bucket& bucket = buckets[static_cast<std::size_t>(event.index)];
    const bool last = event.index + 1 == std::ssize(buckets);
    const std::int64_t elements = bucket.end - bucket.begin + (last ? tail_ : 0);
    now_.messages.push_back({.after_gradients = std::ssize(now_.gradients),
                             .bytes = static_cast<double>(elements * element_bytes_)});
  }

  std::int64_t element_bytes_;
  std::int64_t tail_;  // elements that go with the last message
  SelfCommunicator nobody_;
  StepProfile now_;
  double began_ = 0.0;
  EndlessTraining training_;
};

/// The slowest rank's times. Collective.
StepProfile slowest(Communicator& world, StepProfile profile, std::int64_t gradients) {
  agreed(world, [&] {
    if (std::ssize(profile.gradients) == gradients) return;
    throw UsageError("profile a step", "a rank had no samples in it",
                     "a last global batch with samples for all, or --drop_last");
  });
  world.all_reduce(buffer_of(profile.gradients), ReduceOp::max, "profile of a step");
  profile.seconds = all_reduce_value(world, profile.seconds, ReduceOp::max, "profile of a step");
  return profile;
}

double all_messages(const StepProfile& profile, const Link& link, int ranks) {
  double seconds = 0.0;
  for (const GradientMessage& message : profile.messages) {
    seconds += all_reduce_seconds(link, Route::ring, ranks, message.bytes);
  }
  return seconds;
}

/// A link without latency by which all messages take `seconds`.
Link slowed_link(const StepProfile& profile, double seconds, int ranks) {
  return {.bytes_per_second = all_messages(profile, {}, ranks) / seconds};
}

class ScalingFigures {
 public:
  ScalingFigures(Communicator& world, const GivenLink& given) : world_(world), given_(given) {
    for (const double multiple : slowed_to) {
      const std::string messages = fmt::format("messages {:g} x computation", multiple);
      compared_.push_back({.name = messages + ", waiting ranks", .unit = "ms"});
      compared_.push_back({.name = messages + ", model", .unit = "ms"});
    }
    for (const int ranks : projected_ranks) {
      for (const char* route : {"ring", "tree"}) {
        projected_.push_back(
            {.name = fmt::format("projected: {} ranks, {}", ranks, route), .unit = "ms"});
      }
    }
  }

  /// Measures what is not in `profile`, and adds all. Collective.
  void add(const StepProfile& profile) {
    step_.blocks.push_back(1e3 * profile.seconds);
    Link link;
    if (world_.size() > 1) {
      link = measured_link();
      latency_.blocks.push_back(1e6 * link.latency_seconds);
      bandwidth_.blocks.push_back(1e-9 * link.bytes_per_second);
      compare(profile, link);
    }
    if (given_.latency_us > 0.0) link.latency_seconds = 1e-6 * given_.latency_us;
    if (given_.gb_per_second > 0.0) link.bytes_per_second = 1e9 * given_.gb_per_second;
    auto figure = projected_.begin();
    for (const int ranks : projected_ranks) {
      for (const Route route : {Route::ring, Route::tree}) {
        (figure++)->blocks.push_back(1e3 * step_seconds(profile, link, route, ranks));
      }
    }
  }

  std::vector<Figure> get() {
    for (Figure& figure : projected_) {
      figure.remark =
          fmt::format("{:.1f} % of a rank alone", 100.0 * median(step_) / median(figure));
    }
    std::vector<Figure> figures{step_};
    if (world_.size() > 1) {
      figures.insert(figures.end(), {latency_, bandwidth_, emulated_, modelled_});
      figures.insert(figures.end(), compared_.begin(), compared_.end());
    }
    figures.insert(figures.end(), projected_.begin(), projected_.end());
    return figures;
  }

 private:
  Link measured_link() {
    memory_.resize((largest_message_mib << 20) / sizeof(float));
    const auto bytes = static_cast<std::int64_t>(std::span(memory_).size_bytes());
    const std::vector<Figure> sizes = bench_all_reduce(
        world_, world_, {.data = memory_.data(), .bytes = bytes}, /*blocks=*/1, [] {});
    return fitted_link(world_.size(), 1e-6 * median(sizes.front()), static_cast<double>(bytes),
                       1e-6 * median(sizes.back()));
  }

  void compare(const StepProfile& profile, const Link& link) {
    double bytes = 0.0;
    for (const GradientMessage& message : profile.messages) bytes += message.bytes;
    memory_.resize(std::max(memory_.size(), static_cast<std::size_t>(bytes) / sizeof(float)));
    emulated_.blocks.push_back(1e3 * emulated_step_seconds(profile, world_, world_, memory_));
    modelled_.blocks.push_back(1e3 * step_seconds(profile, link, Route::tree, world_.size()));
    auto figure = compared_.begin();
    for (const double multiple : slowed_to) {
      const Link slow = slowed_link(profile, multiple * profile.seconds, world_.size());
      SlowedCommunicator comm(world_, slow, Route::ring);
      (figure++)->blocks.push_back(1e3 * emulated_step_seconds(profile, comm, world_, memory_));
      (figure++)->blocks.push_back(1e3 * step_seconds(profile, slow, Route::ring, world_.size()));
    }
  }

  Communicator& world_;
  GivenLink given_;
  std::vector<float> memory_;
  Figure step_{.name = "step without messages", .unit = "ms", .remark = "slowest rank"};
  Figure latency_{.name = "latency between these ranks", .unit = "us"};
  Figure bandwidth_{.name = "bandwidth between these ranks", .unit = "GB/s"};
  Figure emulated_{.name = "these links, waiting ranks", .unit = "ms"};
  Figure modelled_{.name = "these links, model", .unit = "ms"};
  std::vector<Figure> compared_;
  std::vector<Figure> projected_;
};

void check_request(const Job& job, const GivenLink& given, int ranks) {
  if (job.compute.on_gpu()) {
    throw UsageError("project a step", "its parts are timed on CPUs only", "--device cpu");
  }
  if (ranks == 1 && (given.latency_us == 0.0 || given.gb_per_second == 0.0)) {
    throw UsageError("project a step", "one rank has no links to measure",
                     "two ranks or more, or both --link_latency and --link_bandwidth");
  }
}

}  // namespace

std::vector<Figure> bench_scaling(const CommandContext& context, const RunSettings& settings,
                                  const Job& job, Files& files, std::int64_t blocks,
                                  std::int64_t steps, const GivenLink& given,
                                  const BeforeBlock& before_block) {
  Communicator& world = context.session.world();
  agreed(world, [&] { check_request(job, given, world.size()); });
  TrainSetup setup = set_up(context, settings, job, /*resume=*/nullptr, files);
  StepWatch watch(settings, job, setup);
  ScalingFigures figures(world, given);
  for (std::int64_t block = 0; block < blocks; ++block) {
    before_block();
    figures.add(slowest(world, watch.profile(steps), watch.gradients()));
  }
  return figures.get();
}

}  // namespace lockstep
