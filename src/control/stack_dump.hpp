#pragma once

#include <pthread.h>

namespace lockstep {

/// Writes the calling thread's stack to standard error. For signal handlers: allocates nothing once
/// prepare_stack_dump() has run.
void dump_own_stack() noexcept;

/// Loads what a dump needs, which must not happen in a signal handler.
void prepare_stack_dump();

/// Lets another thread be asked for its stack, by a signal that nothing else uses (SIGRTMIN + 5).
/// One a process; destruction gives the signal back.
class StackDumpSignal {
 public:
  StackDumpSignal();
  StackDumpSignal(const StackDumpSignal&) = delete;
  StackDumpSignal& operator=(const StackDumpSignal&) = delete;
  ~StackDumpSignal();

  /// Has `thread` write its stack to standard error, where it is; returns at once.
  static void ask(pthread_t thread);
};

}  // namespace lockstep
