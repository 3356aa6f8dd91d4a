#pragma once

#include <utility>

namespace lockstep {

/// Owns one handle of a C library. `Traits` names the handle's type (`using type`), its empty value
/// (`static type empty()`) and its release (`static void release(type) noexcept`). Move-only;
/// destruction neither throws nor communicates.
template <typename Traits>
class UniqueHandle {
 public:
  using type = typename Traits::type;

  UniqueHandle() noexcept = default;
  explicit UniqueHandle(type handle) noexcept : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(other.detach()) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) reset(other.detach());
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() { reset(); }

  type get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != Traits::empty(); }

  /// Gives the handle up without releasing it.
  type detach() noexcept { return std::exchange(handle_, Traits::empty()); }

  void reset(type handle = Traits::empty()) noexcept {
    const type old = std::exchange(handle_, handle);
    if (old != Traits::empty()) Traits::release(old);
  }

 private:
  type handle_ = Traits::empty();
};

}  // namespace lockstep
