#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace lockstep {

/// What a rank is at, for messages and for faults that tests inject.
enum class Phase : std::int64_t { setup, load, step, evaluate, checkpoint, finish };

std::string_view phase_name(Phase phase);
std::optional<Phase> phase_named(std::string_view name);

/// Whether a rank that stands still is to blame for it.
enum class Doing : std::int64_t {
  own_work,  ///< needs no other rank
  joining,   ///< something that other ranks may keep waiting
  left       ///< is done, and not to be watched any more
};

/// A rank's last sign of life.
struct Beat {
  Phase phase = Phase::setup;
  Doing doing = Doing::joining;
  std::int64_t step = 0;
  std::int64_t moves = 0;     ///< beats of the main thread: the same sequence on all ranks
  std::int64_t io_moves = 0;  ///< of the IO thread
  std::int64_t signal = 0;    ///< the rank died of it
  std::int64_t pulse = 0;     ///< rounds of the rank's own watchdog
};

/// A beat where other threads and processes of the node can read it: fixed layout, no locks.
struct alignas(64) BeatSlot {
  std::atomic<std::int64_t> phase{0};
  std::atomic<std::int64_t> doing{static_cast<std::int64_t>(Doing::joining)};
  std::atomic<std::int64_t> step{0};
  std::atomic<std::int64_t> moves{0};
  std::atomic<std::int64_t> io_moves{0};
  std::atomic<std::int64_t> signal{0};
  std::atomic<std::int64_t> news{0};  ///< times that another node's rank was heard of
  std::atomic<std::int64_t> pulse{0};

  static_assert(std::atomic<std::int64_t>::is_always_lock_free);

  Beat load() const;
  void store(const Beat& beat);
};

class OwnWork;

/// How a rank shows that it moves: a few stores a beat. The main thread beats; io_moved() is the IO
/// thread's. Without a watchdog beats go to a slot of its own, where only crash reports read them.
class Heartbeat {
 public:
  Heartbeat() = default;
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// Begins work that needs no other rank and lasts as long as what is returned.
  [[nodiscard]] OwnWork own_work(Phase phase, std::int64_t step);
  /// Begins what other ranks take part in and may keep waiting.
  void joining(Phase phase, std::int64_t step) { beat(phase, Doing::joining, step); }
  /// A piece of work of the IO thread began or ended.
  void io_moved() { slot().io_moves.fetch_add(1, std::memory_order_relaxed); }

  /// From now on beats go to `slot`, which must outlive this or be replaced by null: own again.
  void attach(BeatSlot* slot);

  BeatSlot& slot() { return *slot_.load(std::memory_order_acquire); }

 private:
  friend class OwnWork;

  void beat(Phase phase, Doing doing, std::int64_t step);

  BeatSlot own_;
  std::atomic<BeatSlot*> slot_{&own_};
};

/// Work of a rank's own: a rank that stands still within it is to blame, whatever it does
/// afterwards may wait for others. Ends with the scope, so that no wait is taken for work.
class OwnWork {
 public:
  OwnWork() = default;  ///< of nobody
  OwnWork(Heartbeat& heartbeat, Phase phase, std::int64_t step)
      : heartbeat_(&heartbeat), phase_(phase), step_(step) {
    heartbeat.beat(phase, Doing::own_work, step);
  }
  OwnWork(OwnWork&& other) noexcept
      : heartbeat_(std::exchange(other.heartbeat_, nullptr)),
        phase_(other.phase_),
        step_(other.step_) {}
  OwnWork& operator=(OwnWork&&) = delete;
  ~OwnWork() {
    if (heartbeat_ != nullptr) heartbeat_->joining(phase_, step_);
  }

 private:
  Heartbeat* heartbeat_ = nullptr;
  Phase phase_ = Phase::setup;
  std::int64_t step_ = 0;
};

inline OwnWork Heartbeat::own_work(Phase phase, std::int64_t step) {
  return {*this, phase, step};
}

}  // namespace lockstep
