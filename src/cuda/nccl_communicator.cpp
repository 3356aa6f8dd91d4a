#include "lockstep/cuda/nccl_communicator.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/base/narrow.hpp"
#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/message.hpp"
#include "lockstep/comm/mpi_session.hpp"
#include "lockstep/cuda/gpu_claim.hpp"

#include "cuda/launch.hpp"
#include "cuda/nccl_handle.hpp"
#include "cuda/nccl_watch.hpp"
#include "cuda/stream_event.hpp"

namespace lockstep {
namespace {

/// One call of NCCL that starts a collective in `stream`.
using Collective = std::function<NcclStatus(NcclComm, CudaStream)>;

std::size_t count_of(const Buffer& buffer) {
  return narrow<std::size_t>(buffer.count);
}

class NcclWork : public Work::Impl {
 public:
  NcclWork(std::shared_ptr<NcclHandle> handle, std::shared_ptr<const Launch> launch,
           std::vector<CudaStream> streams)
      : handle_(std::move(handle)), launch_(std::move(launch)), streams_(std::move(streams)) {}

  void wait() override {
    handle_->check_failure();
    for (CudaStream stream : streams_) launch_->make_wait(stream);
  }
  bool done() override {
    handle_->check_failure();
    return launch_->is_done();
  }

 private:
  std::shared_ptr<NcclHandle> handle_;
  std::shared_ptr<const Launch> launch_;
  std::vector<CudaStream> streams_;
};

/// The same id, a new one, on every rank.
NcclUniqueId shared_unique_id(const NcclApi& api, Communicator& host, const NcclPeer& peer) {
  NcclUniqueId id{};
  Agreement agreement(host);
  agreement.attempt_on_root([&] {
    const NcclStatus status = api.unique_id(&id);
    if (status == NcclStatus::success) return;
    throw nccl_error("begin with NCCL", peer, nccl_text(api, status, nullptr));
  });
  agreement.settle();
  host.broadcast(buffer_of(std::span<std::byte>(id)), 0, "NCCL's unique id");
  return id;
}

}  // namespace

class NcclCommunicator::Implementation {
 public:
  Implementation(const GpuApi& gpu, std::unique_ptr<Communicator> between_hosts,
                 NcclOptions nccl_options, const NcclPeer& peer, const NcclUniqueId& id)
      : api(gpu),
        host(std::move(between_hosts)),
        options(std::move(nccl_options)),
        stream_(gpu.cuda),
        handle_(std::make_shared<NcclHandle>(gpu.nccl, peer, id, options)),
        watch_(std::in_place, *handle_, gpu.cuda, options) {}
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() {
    watch_.reset();
    handle_->give_up();  // while there is still a stream
  }

  Work start(const std::string& what, std::vector<CudaStream> streams, Collective collective) {
    handle_->check_failure();
    const std::shared_ptr<Launch> launch =
        group_ ? group_->launch : std::make_shared<Launch>(api.cuda);
    launch->add(what, streams, stream_.get());
    if (group_) {
      group_->collectives.push_back(std::move(collective));
    } else {
      submit(launch, [&](NcclComm comm) { return collective(comm, stream_.get()); });
    }
    return Work(std::make_unique<NcclWork>(handle_, launch, std::move(streams)));
  }

  void grouped(const std::function<void()>& start_all) {
    check(!group_, "group collectives", "they are being grouped already");
    group_ = Group{std::make_shared<Launch>(api.cuda), {}};
    try {
      start_all();
    } catch (...) {
      group_.reset();
      throw;
    }
    const Group group = *std::exchange(group_, std::nullopt);
    if (group.collectives.empty()) return;
    submit(group.launch, [&](NcclComm comm) { return call_all(group.collectives, comm); });
  }

  void finish() {
    watch_.reset();
    handle_->finish();
  }

  const GpuApi& api;
  const std::unique_ptr<Communicator> host;
  const NcclOptions options;

 private:
  struct Group {
    std::shared_ptr<Launch> launch;
    std::vector<Collective> collectives;
  };

  void submit(const std::shared_ptr<Launch>& launch, const NcclHandle::Call& call) {
    handle_->launch(call, launch->what());
    launch->mark_launched(stream_.get());
    watch_->add(launch);
  }

  NcclStatus call_all(const std::vector<Collective>& collectives, NcclComm comm) {
    NcclStatus result = api.nccl.group_start();
    for (const Collective& collective : collectives) {
      if (result != NcclStatus::success && result != NcclStatus::in_progress) break;
      result = collective(comm, stream_.get());
    }
    // Also behind a failure, since the group is the thread's.
    const NcclStatus end = api.nccl.group_end();
    return result == NcclStatus::success || result == NcclStatus::in_progress ? end : result;
  }

  PriorityStream stream_;
  std::shared_ptr<NcclHandle> handle_;
  std::optional<NcclWatch> watch_;
  std::optional<Group> group_;
};

NcclCommunicator::NcclCommunicator(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

NcclCommunicator::~NcclCommunicator() = default;

std::unique_ptr<NcclCommunicator> NcclCommunicator::connect(const GpuApi& api,
                                                            std::unique_ptr<Communicator> host,
                                                            NcclOptions options) {
  const NcclPeer peer{host->rank(), host->size(), MpiSession::host_name()};
  claim_gpu(api.cuda, options.device, *host);
  const NcclUniqueId id = shared_unique_id(api.nccl, *host, peer);
  // Who is late is waited for here, where it costs nothing of NCCL's deadline.
  host->barrier("NCCL's beginning");
  return std::unique_ptr<NcclCommunicator>(new NcclCommunicator(
      std::make_unique<Implementation>(api, std::move(host), std::move(options), peer, id)));
}

int NcclCommunicator::rank() const {
  return implementation_->host->rank();
}

int NcclCommunicator::size() const {
  return implementation_->host->size();
}

Work NcclCommunicator::start_all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) {
  const std::string what = message_text("all_reduce", purpose);
  check_buffer(buffer, MemoryKind::cuda, what);
  const NcclApi& nccl = implementation_->api.nccl;
  return implementation_->start(what, {stream_of(buffer)},
                                [&nccl, buffer, op](NcclComm comm, CudaStream stream) {
                                  return nccl.all_reduce(buffer.data, buffer.data, count_of(buffer),
                                                         buffer.dtype, op, comm, stream);
                                });
}

Work NcclCommunicator::start_broadcast(Buffer buffer, int root, std::string_view purpose) {
  const std::string what = message_text("broadcast", purpose);
  check_buffer(buffer, MemoryKind::cuda, what);
  const NcclApi& nccl = implementation_->api.nccl;
  return implementation_->start(what, {stream_of(buffer)},
                                [&nccl, buffer, root](NcclComm comm, CudaStream stream) {
                                  return nccl.broadcast(buffer.data, buffer.data, count_of(buffer),
                                                        buffer.dtype, root, comm, stream);
                                });
}

Work NcclCommunicator::start_all_gather(Buffer send, Buffer receive, std::string_view purpose) {
  const std::string what = message_text("all_gather", purpose);
  check_parts(send, receive, size(), MemoryKind::cuda, what);
  const NcclApi& nccl = implementation_->api.nccl;
  return implementation_->start(
      what, streams_of(send, receive), [&nccl, send, receive](NcclComm comm, CudaStream stream) {
        return nccl.all_gather(send.data, receive.data, count_of(send), send.dtype, comm, stream);
      });
}

Work NcclCommunicator::start_reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                                            std::string_view purpose) {
  const std::string what = message_text("reduce_scatter", purpose);
  check_parts(receive, send, size(), MemoryKind::cuda, what);
  const NcclApi& nccl = implementation_->api.nccl;
  return implementation_->start(what, streams_of(send, receive),
                                [&nccl, send, receive, op](NcclComm comm, CudaStream stream) {
                                  return nccl.reduce_scatter(send.data, receive.data,
                                                             count_of(receive), send.dtype, op,
                                                             comm, stream);
                                });
}

void NcclCommunicator::barrier(std::string_view purpose) {
  implementation_->host->barrier(purpose);
}

std::unique_ptr<Communicator> NcclCommunicator::duplicate(std::string_view purpose) {
  return connect(implementation_->api, implementation_->host->duplicate(purpose),
                 implementation_->options);
}

void NcclCommunicator::grouped(const std::function<void()>& start_all) {
  implementation_->grouped(start_all);
}

void NcclCommunicator::finish() {
  implementation_->finish();
}

}  // namespace lockstep
