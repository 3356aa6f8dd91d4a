#include "support/stand_in_streams.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace lockstep {

StandInStreams::StandInStreams() {
  create(0);
}

StandInStreams::~StandInStreams() {
  stop();
}

CudaStream StandInStreams::create(int priority) {
  const std::lock_guard lock(mutex_);
  CudaStreamObject& stream = *streams_.emplace_back(std::make_unique<CudaStreamObject>());
  stream.priority = priority;
  stream.thread = std::thread([this, &stream] { work(stream); });
  return &stream;
}

CudaStream StandInStreams::find(int priority) {
  const std::lock_guard lock(mutex_);
  const auto has_it = [&](const auto& stream) { return stream->priority == priority; };
  if (std::ranges::count_if(streams_, has_it) != 1) {
    throw std::logic_error("not one stream of that priority");
  }
  return std::ranges::find_if(streams_, has_it)->get();
}

CudaStreamObject& StandInStreams::object(CudaStream stream) {
  return stream == nullptr ? *streams_.front() : *stream;
}

void StandInStreams::add(CudaStream stream, Task task) {
  const std::lock_guard lock(mutex_);
  object(stream).tasks.push_back(std::move(task));
  changed_.notify_all();
}

void StandInStreams::put(CudaStream stream, Kernel kernel) {
  add(stream, {nullptr, std::move(kernel), nullptr});
}

void StandInStreams::record(CudaEvent event, CudaStream stream) {
  const auto mark = std::make_shared<StandInMark>();
  {
    const std::lock_guard lock(mutex_);
    event->last = mark;
  }
  add(stream, {nullptr, nullptr, mark});
}

void StandInStreams::wait(CudaStream stream, CudaEvent event) {
  std::shared_ptr<StandInMark> mark;
  {
    const std::lock_guard lock(mutex_);
    mark = event->last;
  }
  add(stream, {mark, nullptr, nullptr});
}

bool StandInStreams::has_come(CudaEvent event) {
  const std::lock_guard lock(mutex_);
  return !event->last || event->last->has_come;
}

void StandInStreams::synchronize(CudaStream stream) {
  std::unique_lock lock(mutex_);
  const CudaStreamObject& watched = object(stream);
  changed_.wait(lock, [&] { return watched.tasks.empty() && !watched.busy; });
}

void StandInStreams::hold(CudaStream stream) {
  const std::lock_guard lock(mutex_);
  object(stream).held = true;
}

void StandInStreams::release(CudaStream stream) {
  const std::lock_guard lock(mutex_);
  object(stream).held = false;
  changed_.notify_all();
}

void StandInStreams::settle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return std::ranges::none_of(
        streams_, [&](const auto& stream) { return stream->busy || can_go_on(*stream); });
  });
}

void StandInStreams::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (const auto& stream : streams_) {
    if (stream->thread.joinable()) stream->thread.join();
  }
}

bool StandInStreams::can_go_on(const CudaStreamObject& stream) const {
  if (stream.held || stream.tasks.empty()) return false;
  const Task& next = stream.tasks.front();
  return !next.needs || next.needs->has_come;
}

void StandInStreams::work(CudaStreamObject& stream) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || can_go_on(stream); });
    if (stopping_) return;
    const Task task = std::move(stream.tasks.front());
    stream.tasks.pop_front();
    if (task.kernel) {
      stream.busy = true;
      lock.unlock();
      task.kernel();
      lock.lock();
      stream.busy = false;
    }
    if (task.marks) task.marks->has_come = true;
    changed_.notify_all();
  }
}

}  // namespace lockstep
