#include "control/beat_board.hpp"

#include <cerrno>
#include <memory>
#include <new>
#include <random>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include "lockstep/base/error.hpp"
#include "lockstep/base/file_descriptor.hpp"
#include "lockstep/base/narrow.hpp"

namespace lockstep {
namespace {

constexpr const char* attempted = "share beats with the ranks of this node";

std::string random_name() {
  std::random_device random;
  return fmt::format("/lockstep-{:08x}{:08x}", random(), random());
}

}  // namespace

void BeatBoard::MappingTraits::release(Mapping mapping) noexcept {
  ::munmap(mapping.memory, mapping.bytes);
}

BeatBoard::BeatBoard(std::size_t ranks, int descriptor, const std::string& name)
    : name_(name), ranks_(ranks) {
  const std::size_t bytes = sizeof(Header) + ranks * sizeof(BeatSlot);
  const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (memory == MAP_FAILED) throw Error(attempted, errno_text(errno));
  mapping_.reset({.memory = memory, .bytes = bytes});
}

void BeatBoard::construct() {
  new (&header()) Header;
  std::uninitialized_default_construct(slots().begin(), slots().end());
}

BeatBoard BeatBoard::alone(std::size_t ranks) {
  BeatBoard board(ranks, -1, {});
  board.construct();
  return board;
}

BeatBoard BeatBoard::create(std::size_t ranks) {
  const std::string name = random_name();
  const FileDescriptor file(::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
  if (!file) throw Error(attempted, "/dev/shm" + name + ": " + errno_text(errno));
  // Reserved rather than only sized: a full /dev/shm would end the first store with SIGBUS.
  const auto bytes = narrow<off_t>(sizeof(Header) + ranks * sizeof(BeatSlot));
  if (const int failed = ::posix_fallocate(file.get(), 0, bytes); failed != 0) {
    ::shm_unlink(name.c_str());
    throw Error(attempted, "/dev/shm" + name + ": " + errno_text(failed));
  }
  BeatBoard board(ranks, file.get(), name);
  board.construct();
  return board;
}

BeatBoard BeatBoard::open(const std::string& name, std::size_t ranks) {
  const FileDescriptor file(::shm_open(name.c_str(), O_RDWR, 0));
  if (!file) throw Error(attempted, "/dev/shm" + name + ": " + errno_text(errno));
  return {ranks, file.get(), name};
}

void BeatBoard::unlink() {
  if (!name_.empty()) ::shm_unlink(name_.c_str());
}

std::span<BeatSlot> BeatBoard::slots() const {
  void* const first = static_cast<std::byte*>(mapping_.get().memory) + sizeof(Header);
  return {static_cast<BeatSlot*>(first), ranks_};
}

bool BeatBoard::raise(int culprit) {
  std::int64_t none = -1;
  return header().culprit.compare_exchange_strong(none, culprit);
}

int BeatBoard::culprit() const {
  return static_cast<int>(header().culprit.load());
}

}  // namespace lockstep
