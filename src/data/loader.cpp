#include "lockstep/data/loader.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "data/batch_maker.hpp"
#include "data/epoch_walk.hpp"

namespace lockstep {

FieldTable fields(LoaderOptions& options) {
  return {
      field("num_workers", options.num_workers,
            "threads that read batches ahead; 0: read when a batch is needed", between(0, 1024)),
      field("prefetch", options.prefetch, "batches read ahead", at_least(1)),
  };
}

/// The queue between the worker threads and next(). A worker takes the epoch's next micro-batch and
/// the place at the queue's end in one step, so batches leave in order whoever finishes first; the
/// place is shared with the worker, so a queue that is emptied meanwhile does not disturb it.
class Loader::Pipeline {
 public:
  Pipeline(BatchMaker maker, const BatchPlan& plan, SampleOrder order, std::uint64_t seed,
           const LoaderOptions& options, const BatchMemory& memory)
      : memory_(*memory.resource),
        maker_(std::move(maker)),
        plan_(plan),
        sample_order_(order),
        seed_(seed),
        prefetch_(static_cast<std::size_t>(options.prefetch)) {
    try {
      for (std::int64_t i = 0; i < options.num_workers; ++i) {
        workers_.emplace_back([this, begins = memory.thread_begins] {
          if (begins) begins();
          work();
        });
      }
    } catch (...) {
      stop();  // threads that did start must not outlive what they use
      throw;
    }
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() { stop(); }

  void start_epoch(std::int64_t epoch, std::int64_t offset) {
    const std::int64_t size = maker_.dataset().size();
    window_at(size, offset, plan_);  // throws where the offset is outside the epoch
    {
      const std::lock_guard lock(mutex_);
      queue_.clear();
      failure_ = nullptr;
      walk_.emplace(size, plan_, offset);
      epoch_ = epoch;
      if (sample_order_ == SampleOrder::shuffled) epoch_order_.emplace(seed_, epoch, size);
    }
    room_.notify_all();
  }

  std::optional<Batch> next() {
    std::unique_lock lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    if (workers_.empty()) {
      const std::shared_ptr<Place> place = take_place();
      if (!place) return std::nullopt;
      lock.unlock();
      fill(*place);
      lock.lock();
    } else {
      ready_.wait(lock, [this] { return queue_.empty() ? !walk_ : queue_.front()->done; });
    }
    if (queue_.empty()) return std::nullopt;
    const std::shared_ptr<Place> place = std::move(queue_.front());
    queue_.pop_front();
    if (place->failure) {
      failure_ = place->failure;
      queue_.clear();
      walk_.reset();
      std::rethrow_exception(failure_);
    }
    lock.unlock();
    room_.notify_one();
    return std::move(place->batch);
  }

  void recycle(Batch batch) {
    const std::lock_guard lock(mutex_);
    if (spare_.size() <= prefetch_) spare_.push_back(std::move(batch));
  }

 private:
  /// A batch's place in the queue. `done` is guarded by the mutex; until it is set the rest belongs
  /// to the thread that fills it.
  struct Place {
    // In one memory all of them, so that batches are moved and not copied.
    explicit Place(std::pmr::memory_resource& memory)
        : batch{.images = std::pmr::vector<float>(&memory),
                .labels = std::pmr::vector<std::int64_t>(&memory)} {}

    MicroBatch micro_batch;
    std::int64_t epoch = 0;
    std::optional<EpochOrder> order;
    Batch batch;
    std::exception_ptr failure;
    bool done = false;
  };

  /// The epoch's next place, at the end of the queue; null where the epoch is over. With the lock.
  std::shared_ptr<Place> take_place() {
    const std::optional<MicroBatch> micro_batch = walk_ ? walk_->next() : std::nullopt;
    if (!micro_batch) {
      walk_.reset();
      return nullptr;
    }
    auto place = std::make_shared<Place>(memory_);
    place->micro_batch = *micro_batch;
    place->epoch = epoch_;
    place->order = epoch_order_;
    if (!spare_.empty()) {
      place->batch = std::move(spare_.back());
      spare_.pop_back();
    }
    queue_.push_back(place);
    return place;
  }

  void fill(Place& place) const {
    try {
      maker_.make(place.batch, place.micro_batch, place.epoch, place.order);
    } catch (...) {
      place.failure = std::current_exception();
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      room_.wait(lock, [this] { return stopping_ || (walk_ && queue_.size() < prefetch_); });
      if (stopping_) return;
      const std::shared_ptr<Place> place = take_place();
      if (place) {
        lock.unlock();
        fill(*place);
        lock.lock();
        place->done = true;
      }
      ready_.notify_one();
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    room_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  std::pmr::memory_resource& memory_;
  const BatchMaker maker_;
  const BatchPlan plan_;
  const SampleOrder sample_order_;
  const std::uint64_t seed_;
  const std::size_t prefetch_;

  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable ready_;
  bool stopping_ = false;
  std::optional<EpochWalk> walk_;  // unset: no more batches to make
  std::int64_t epoch_ = 0;
  std::optional<EpochOrder> epoch_order_;
  std::deque<std::shared_ptr<Place>> queue_;
  std::vector<Batch> spare_;
  std::exception_ptr failure_;

  std::vector<std::thread> workers_;
};

Loader::Loader(const Dataset& dataset, const BatchPlan& plan, SampleOrder order, std::uint64_t seed,
               int rank, int world, const LoaderOptions& options, const ImageTransform& transform,
               const BatchMemory& memory) {
  check_plan(dataset.size(), plan);
  pipeline_ = std::make_unique<Pipeline>(BatchMaker(dataset, transform, seed, rank, world), plan,
                                         order, seed, options, memory);
}

Loader::~Loader() = default;

void Loader::start_epoch(std::int64_t epoch, std::int64_t offset) {
  pipeline_->start_epoch(epoch, offset);
}

std::optional<Batch> Loader::next() {
  return pipeline_->next();
}

void Loader::recycle(Batch batch) {
  pipeline_->recycle(std::move(batch));
}

}  // namespace lockstep
