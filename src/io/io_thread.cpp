#include "lockstep/io/io_thread.hpp"

#include <utility>

#include "io/hdf5.hpp"

namespace lockstep {

IoThread::IoThread(std::function<void()> moved)
    : moved_(std::move(moved)), thread_([this] { serve(); }) {}

IoThread::~IoThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void IoThread::enqueue(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void IoThread::serve() {
  const hdf5::Library library;
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    if (moved_) moved_();
    work();
    if (moved_) moved_();
  }
}

}  // namespace lockstep
