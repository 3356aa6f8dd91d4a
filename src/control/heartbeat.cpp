#include "lockstep/control/heartbeat.hpp"

#include <array>

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 6> names{"setup",    "load",       "step",
                                                "evaluate", "checkpoint", "finish"};

constexpr auto relaxed = std::memory_order_relaxed;

}  // namespace

std::string_view phase_name(Phase phase) {
  const auto index = static_cast<std::size_t>(phase);
  return index < names.size() ? names[index] : "unknown";
}

std::optional<Phase> phase_named(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Phase>(i);
  }
  return std::nullopt;
}

Beat BeatSlot::load() const {
  return {.phase = static_cast<Phase>(phase.load(relaxed)),
          .doing = static_cast<Doing>(doing.load(relaxed)),
          .step = step.load(relaxed),
          .moves = moves.load(std::memory_order_acquire),
          .io_moves = io_moves.load(relaxed),
          .signal = signal.load(relaxed),
          .pulse = pulse.load(relaxed)};
}

void BeatSlot::store(const Beat& beat) {
  phase.store(static_cast<std::int64_t>(beat.phase), relaxed);
  doing.store(static_cast<std::int64_t>(beat.doing), relaxed);
  step.store(beat.step, relaxed);
  io_moves.store(beat.io_moves, relaxed);
  signal.store(beat.signal, relaxed);
  pulse.store(beat.pulse, relaxed);
  moves.store(beat.moves, std::memory_order_release);
}

void Heartbeat::attach(BeatSlot* slot) {
  if (slot != nullptr) slot->store(own_.load());
  slot_.store(slot == nullptr ? &own_ : slot, std::memory_order_release);
}

void Heartbeat::beat(Phase phase, Doing doing, std::int64_t step) {
  BeatSlot& mine = slot();
  mine.phase.store(static_cast<std::int64_t>(phase), relaxed);
  mine.doing.store(static_cast<std::int64_t>(doing), relaxed);
  mine.step.store(step, relaxed);
  mine.moves.fetch_add(1, std::memory_order_release);
}

}  // namespace lockstep
