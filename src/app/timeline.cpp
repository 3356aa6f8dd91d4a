#include "app/timeline.hpp"

#include <stdexcept>
#include <utility>

#include <ATen/record_function.h>

namespace lockstep {
namespace {

// LibTorch takes plain functions, which find what they call here.
std::shared_ptr<const CudaApi> shown_by;

class Shown {
 public:
  explicit Shown(std::shared_ptr<const CudaApi> cuda) {
    if (shown_by) throw std::logic_error("ranges are shown already");
    shown_by = std::move(cuda);
    callback_ = at::addGlobalCallback(
        at::RecordFunctionCallback(&begin, &end).scopes({at::RecordScope::USER_SCOPE}));
  }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  ~Shown() {
    at::removeCallback(callback_);
    shown_by.reset();
  }

 private:
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& range) {
    shown_by->begin_range(range.name());
    return nullptr;
  }
  static void end(const at::RecordFunction& /*range*/, at::ObserverContext* /*context*/) {
    shown_by->end_range();
  }

  at::CallbackHandle callback_ = at::INVALID_CALLBACK_HANDLE;
};

}  // namespace

std::shared_ptr<void> show_ranges(const std::shared_ptr<const CudaApi>& cuda) {
  return std::make_shared<Shown>(cuda);
}

}  // namespace lockstep
