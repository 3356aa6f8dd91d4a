#include "lockstep/cuda/staged_communicator.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory_resource>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lockstep/base/narrow.hpp"
#include "lockstep/comm/message.hpp"
#include "lockstep/cuda/pinned_memory.hpp"

#include "cuda/stream_event.hpp"

namespace lockstep {
namespace {

std::size_t bytes_of(const Buffer& buffer) {
  return narrow<std::size_t>(buffer.count) * size_of(buffer.dtype);
}

/// Pinned memory that is kept for later messages of the same size, which every step has anew: CUDA
/// takes long for new one and stops the GPU for old one.
class PinnedBlocks {
 public:
  using Block = std::pmr::vector<std::byte>;

  PinnedBlocks(const CudaApi& api, int device) : memory_(api, device) {}

  Block take(std::size_t bytes) {
    const auto found = free_.find(bytes);
    if (found == free_.end()) return Block(bytes, &memory_);
    Block block = std::move(found->second);
    free_.erase(found);
    return block;
  }
  void give_back(Block block) {
    const std::size_t bytes = block.size();
    free_.emplace(bytes, std::move(block));
  }

 private:
  PinnedMemory memory_;
  std::multimap<std::size_t, Block> free_;  // by size
};

/// One collective's way: to the host, between the hosts, and back.
struct Passage {
  using Memory = PinnedBlocks::Block;

  Buffer from;  // on the device
  Buffer to;
  Memory sent;      // what `from` held
  Memory received;  // empty where the host's collective works in place
  std::function<Work(Buffer send, Buffer receive)> start;
  Event copied;  // to the host
  Event back;    // on the device again
  Work between_hosts{};
  enum class State { to_host, between_hosts, to_device } state = State::to_host;

  bool in_place() const { return received.empty(); }
  Memory& result() { return in_place() ? sent : received; }
};

Buffer on_host(std::pmr::vector<std::byte>& memory, const Buffer& like) {
  return {.data = memory.data(), .count = like.count, .dtype = like.dtype};
}

}  // namespace

/// All passages in the order in which they were started.
class StagedCommunicator::Pipeline
    : public std::enable_shared_from_this<StagedCommunicator::Pipeline> {
 public:
  Pipeline(const CudaApi& api, int gpu, std::unique_ptr<Communicator> between_hosts)
      : host(std::move(between_hosts)), device(gpu), api_(api), blocks_(api, gpu), stream_(api) {}
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  /// What the device still copies must not lose its memory.
  ~Pipeline() { static_cast<void>(api_.synchronize_stream(stream_.get())); }

  /// `start_on_host` is given the host's copy of `from` and room for `to`, the same where these
  /// are.
  Work start(const Buffer& from, const Buffer& to,
             std::function<Work(Buffer, Buffer)> start_on_host);

  std::shared_ptr<Passage> begin(const Buffer& from, const Buffer& to,
                                 std::function<Work(Buffer, Buffer)> start_on_host) {
    move_on();  // what is done by now gives its memory back
    const bool in_place = from.data == to.data;
    auto passage =
        std::make_shared<Passage>(Passage{.from = from,
                                          .to = to,
                                          .sent = blocks_.take(bytes_of(from)),
                                          .received = blocks_.take(in_place ? 0 : bytes_of(to)),
                                          .start = std::move(start_on_host),
                                          .copied = Event(api_),
                                          .back = Event(api_)});
    for (CudaStream stream : streams_of(from, to)) {
      Event ready(api_);
      ready.record(stream);
      ready.make_wait(stream_.get());
    }
    copy(passage->sent.data(), from.data, bytes_of(from));
    passage->copied.record(stream_.get());
    under_way_.push_back(passage);
    move_on();
    return passage;
  }

  /// What can go on goes on; hosts start their collectives in one order.
  void move_on() {
    for (const std::shared_ptr<Passage>& passage : under_way_) {
      if (passage->state == Passage::State::to_host) {
        if (!passage->copied.has_come()) break;
        start_between_hosts(*passage);
      }
      if (passage->state == Passage::State::between_hosts && passage->between_hosts.done()) {
        bring_back(*passage);
      }
    }
    while (!under_way_.empty() && under_way_.front()->state == Passage::State::to_device) {
      in_last_copy_.push_back(std::move(under_way_.front()));
      under_way_.pop_front();
    }
    while (!in_last_copy_.empty() && in_last_copy_.front()->back.has_come()) {
      blocks_.give_back(std::move(in_last_copy_.front()->sent));
      blocks_.give_back(std::move(in_last_copy_.front()->received));
      in_last_copy_.pop_front();
    }
  }

  void wait_for(const Passage& passage) {
    while (passage.state != Passage::State::to_device) {
      move_on();
      std::this_thread::yield();
    }
  }

  const CudaApi& api() const { return api_; }

  const std::unique_ptr<Communicator> host;
  const int device;

 private:
  class PassageWork;

  void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    check_cuda(api_, api_.copy_async(to, from, bytes, stream_.get()),
               "copy a message between GPU and host");
  }

  static void start_between_hosts(Passage& passage) {
    passage.between_hosts =
        passage.start(on_host(passage.sent, passage.from), on_host(passage.result(), passage.to));
    passage.state = Passage::State::between_hosts;
  }

  void bring_back(Passage& passage) {
    passage.between_hosts.wait();
    copy(passage.to.data, passage.result().data(), bytes_of(passage.to));
    passage.back.record(stream_.get());
    passage.state = Passage::State::to_device;
  }

  const CudaApi& api_;
  PinnedBlocks blocks_;
  PriorityStream stream_;
  std::deque<std::shared_ptr<Passage>> under_way_;
  std::deque<std::shared_ptr<Passage>> in_last_copy_;
};

class StagedCommunicator::Pipeline::PassageWork : public Work::Impl {
 public:
  PassageWork(std::shared_ptr<Pipeline> pipeline, std::shared_ptr<Passage> passage)
      : pipeline_(std::move(pipeline)), passage_(std::move(passage)) {}

  void wait() override {
    pipeline_->wait_for(*passage_);
    for (CudaStream stream : streams_of(passage_->from, passage_->to)) {
      passage_->back.make_wait(stream);
    }
  }
  bool done() override {
    pipeline_->move_on();
    return passage_->state == Passage::State::to_device && passage_->back.has_come();
  }

 private:
  std::shared_ptr<Pipeline> pipeline_;
  std::shared_ptr<Passage> passage_;
};

Work StagedCommunicator::Pipeline::start(const Buffer& from, const Buffer& to,
                                         std::function<Work(Buffer, Buffer)> start_on_host) {
  return Work(
      std::make_unique<PassageWork>(shared_from_this(), begin(from, to, std::move(start_on_host))));
}

StagedCommunicator::StagedCommunicator(const CudaApi& api, int device,
                                       std::unique_ptr<Communicator> host)
    : pipeline_(std::make_shared<Pipeline>(api, device, std::move(host))) {}

StagedCommunicator::~StagedCommunicator() = default;

int StagedCommunicator::rank() const {
  return pipeline_->host->rank();
}

int StagedCommunicator::size() const {
  return pipeline_->host->size();
}

Work StagedCommunicator::start_all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) {
  check_buffer(buffer, MemoryKind::cuda, message_text("all_reduce", purpose));
  return pipeline_->start(
      buffer, buffer,
      [host = pipeline_->host.get(), op, name = std::string(purpose)](Buffer send, Buffer) {
        return host->start_all_reduce(send, op, name);
      });
}

Work StagedCommunicator::start_broadcast(Buffer buffer, int root, std::string_view purpose) {
  check_buffer(buffer, MemoryKind::cuda, message_text("broadcast", purpose));
  return pipeline_->start(
      buffer, buffer,
      [host = pipeline_->host.get(), root, name = std::string(purpose)](Buffer send, Buffer) {
        return host->start_broadcast(send, root, name);
      });
}

Work StagedCommunicator::start_all_gather(Buffer send, Buffer receive, std::string_view purpose) {
  check_parts(send, receive, size(), MemoryKind::cuda, message_text("all_gather", purpose));
  return pipeline_->start(
      send, receive,
      [host = pipeline_->host.get(), name = std::string(purpose)](Buffer part, Buffer whole) {
        return host->start_all_gather(part, whole, name);
      });
}

Work StagedCommunicator::start_reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                                              std::string_view purpose) {
  check_parts(receive, send, size(), MemoryKind::cuda, message_text("reduce_scatter", purpose));
  return pipeline_->start(
      send, receive,
      [host = pipeline_->host.get(), op, name = std::string(purpose)](Buffer whole, Buffer part) {
        return host->start_reduce_scatter(whole, part, op, name);
      });
}

void StagedCommunicator::barrier(std::string_view purpose) {
  pipeline_->host->barrier(purpose);
}

std::unique_ptr<Communicator> StagedCommunicator::duplicate(std::string_view purpose) {
  return std::make_unique<StagedCommunicator>(pipeline_->api(), pipeline_->device,
                                              pipeline_->host->duplicate(purpose));
}

}  // namespace lockstep
