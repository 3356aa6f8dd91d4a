#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lockstep/base/unique_handle.hpp"
#include "lockstep/control/heartbeat.hpp"

namespace lockstep {

/// Beats of all ranks of a job, by rank: those of a node's own ranks where they write them, those
/// of others as they were heard. In memory that the node's ranks share, or in one process's own.
class BeatBoard {
 public:
  /// A board of `ranks` in this process alone.
  static BeatBoard alone(std::size_t ranks);
  /// Makes shared memory of a name that nobody else has. Throws Error.
  static BeatBoard create(std::size_t ranks);
  /// Opens what another process created. Throws Error.
  static BeatBoard open(const std::string& name, std::size_t ranks);

  /// Of the shared memory; empty where there is none.
  const std::string& name() const { return name_; }
  /// Takes the name away; the memory stays until the last process that has it open is gone.
  void unlink();

  std::span<BeatSlot> slots() const;

  /// Raises the alarm over rank `culprit`; false where somebody has done so before.
  bool raise(int culprit);
  /// The rank that the alarm is about; -1 where there is none.
  int culprit() const;

 private:
  struct Header {
    alignas(64) std::atomic<std::int64_t> culprit{-1};
  };
  struct Mapping {
    void* memory = nullptr;
    std::size_t bytes = 0;
    bool operator==(const Mapping&) const = default;
  };
  struct MappingTraits {
    using type = Mapping;
    static Mapping empty() { return {}; }
    static void release(Mapping mapping) noexcept;
  };

  BeatBoard(std::size_t ranks, int descriptor, const std::string& name);
  void construct();
  Header& header() const { return *static_cast<Header*>(mapping_.get().memory); }

  std::string name_;
  std::size_t ranks_;
  UniqueHandle<MappingTraits> mapping_;
};

}  // namespace lockstep
