#include "cuda/launch.hpp"

#include <algorithm>

#include "lockstep/base/error.hpp"

namespace lockstep {

void Launch::add(const std::string& what, const std::vector<CudaStream>& streams, CudaStream own) {
  what_ += (what_.empty() ? "" : ", ") + what;
  for (CudaStream stream : streams) {
    Event& event = ready_.emplace_back(api_);
    event.record(stream);
    event.make_wait(own);
  }
}

void Launch::mark_launched(CudaStream own) {
  done_.record(own);
  launched_ = true;
}

void Launch::make_wait(CudaStream stream) const {
  if (!launched_) {
    throw Error(what_, "it was waited for before its group was launched, or where that failed");
  }
  done_.make_wait(stream);
}

bool Launch::is_ready() const {
  return std::ranges::all_of(ready_, &Event::has_come);
}

bool Launch::is_done() const {
  return launched_ && done_.has_come();
}

}  // namespace lockstep
