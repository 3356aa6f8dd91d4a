#include "cuda/nccl_watch.hpp"

#include <string>
#include <utility>

namespace lockstep {

NcclWatch::NcclWatch(NcclHandle& handle, const CudaApi& api, NcclOptions options)
    : handle_(handle),
      api_(api),
      options_(std::move(options)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

NcclWatch::~NcclWatch() = default;

void NcclWatch::add(std::shared_ptr<const Launch> launch) {
  const std::lock_guard lock(mutex_);
  in_flight_.push_back(std::move(launch));
}

void NcclWatch::run(const std::stop_token& stop) {
  api_.set_device(options_.device);  // each thread has a device of its own
  try {
    while (!stop.stop_requested()) {
      look();
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, options_.poll_interval, [] { return false; });
    }
  } catch (const Error& failure) {
    end_by(failure);
  }
}

void NcclWatch::look() {
  if (const std::optional<Error> found = handle_.find_async_error()) throw Error(*found);
  check_deadline();
}

void NcclWatch::check_deadline() {
  const std::shared_ptr<const Launch> oldest = oldest_in_flight();
  if (oldest != timed_) {
    timed_ = oldest;
    begun_.reset();
  }
  // While the GPU has not come to it a collective is not late, whatever is queued before it.
  if (!oldest || !oldest->is_ready()) return;
  if (!begun_) begun_ = options_.now();
  if (options_.now() - *begun_ <= options_.collective_deadline) return;
  throw handle_.error(oldest->what(), "its data was there, but it was not done within " +
                                          std::to_string(options_.collective_deadline.count()) +
                                          " s; a rank did not take part, or the network is down");
}

std::shared_ptr<const Launch> NcclWatch::oldest_in_flight() {
  const std::lock_guard lock(mutex_);
  while (!in_flight_.empty() && in_flight_.front()->is_done()) in_flight_.pop_front();
  return in_flight_.empty() ? nullptr : in_flight_.front();
}

void NcclWatch::end_by(const Error& failure) {
  // One that the training met first is its own to report.
  if (!handle_.keep_failure(failure)) return;
  if (options_.on_failure) options_.on_failure(failure);
  handle_.give_up();
}

}  // namespace lockstep
