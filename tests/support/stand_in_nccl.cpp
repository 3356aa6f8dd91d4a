#include "support/stand_in_nccl.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/numbers.hpp"

namespace lockstep {
namespace {

using Bytes = std::vector<std::byte>;
using Messages = std::vector<StandInMessage>;

double reduced(ReduceOp op, double a, double b) {
  switch (op) {
    case ReduceOp::sum:
      return a + b;
    case ReduceOp::max:
      return std::max(a, b);
    case ReduceOp::min:
      break;
  }
  return std::min(a, b);
}

/// Elements [begin, begin + count) of all ranks' data, reduced.
Bytes reduction(const Messages& messages, DType dtype, ReduceOp op, std::size_t begin,
                std::size_t count) {
  Bytes result(count * size_of(dtype));
  for (std::size_t i = 0; i < count; ++i) {
    double value = load_number(dtype, messages[0].data.data(), begin + i);
    for (std::size_t rank = 1; rank < messages.size(); ++rank) {
      value = reduced(op, value, load_number(dtype, messages[rank].data.data(), begin + i));
    }
    store_number(dtype, result.data(), i, value);
  }
  return result;
}

std::string name_of_op(ReduceOp op) {
  return op == ReduceOp::sum ? "sum" : op == ReduceOp::max ? "max" : "min";
}

std::string text_of(const char* operation, std::size_t count, DType dtype,
                    const std::string& more) {
  return std::string(operation) + " " + std::to_string(count) + " " + std::string(name_of(dtype)) +
         (more.empty() ? "" : " " + more);
}

bool are_alike(const Messages& messages) {
  return std::ranges::all_of(messages,
                             [&](const auto& message) { return message.what == messages[0].what; });
}

}  // namespace

StandInNccl::StandInNccl(Communicator& world, int communicators, StandInStreams& streams,
                         std::size_t largest_message, IsDeviceMemory is_device_memory)
    : world_(world), streams_(streams), is_device_memory_(std::move(is_device_memory)) {
  for (int i = 0; i < communicators; ++i) {
    channels_.push_back(std::make_unique<StandInChannel>(
        world.duplicate("a stand-in's communicator"), largest_message));
  }
}

NcclApi StandInNccl::api() {
  NcclApi api;
  api.version = [](int* version) {
    *version = 0;
    return NcclStatus::success;
  };
  api.unique_id = [this](NcclUniqueId* id) {
    std::random_device random;
    for (std::byte& byte : *id) byte = static_cast<std::byte>(random());
    return faults.unique_id;
  };
  api.init = [this](NcclComm* comm, int, const NcclUniqueId& id, int) { return init(comm, id); };
  api.async_error = [this](NcclComm comm, NcclStatus* state) { return async_error(comm, state); };
  api.finalize = [this](NcclComm comm) {
    const std::lock_guard lock(comm->mutex);
    if (faults.finalize_never_completes) comm->state = NcclStatus::in_progress;
    return comm->state;
  };
  api.destroy = [this](NcclComm) {
    --open_;
    return NcclStatus::success;
  };
  api.abort = [this](NcclComm comm) {
    comm->aborted = true;
    --open_;
    return NcclStatus::success;
  };
  api.group_start = [this] {
    in_group_ = true;
    return NcclStatus::success;
  };
  api.group_end = [this] { return group_end(); };
  api.error_text = [](NcclStatus status) {
    return "stand-in error " + std::to_string(static_cast<int>(status));
  };
  api.last_error = [](NcclComm) { return std::string("the stand-in's last words"); };
  add_collectives(api);
  return api;
}

void StandInNccl::add_collectives(NcclApi& api) {
  api.all_reduce = [this](const void* send, void* receive, std::size_t count, DType dtype,
                          ReduceOp op, NcclComm comm, CudaStream stream) {
    const std::size_t bytes = count * size_of(dtype);
    const auto result = [=](const Messages& messages, int) {
      return reduction(messages, dtype, op, 0, count);
    };
    return start(comm, {text_of("all_reduce", count, dtype, name_of_op(op)), send, receive, bytes,
                        bytes, result, stream});
  };
  api.broadcast = [this](const void* send, void* receive, std::size_t count, DType dtype, int root,
                         NcclComm comm, CudaStream stream) {
    const std::size_t bytes = count * size_of(dtype);
    const auto result = [=](const Messages& messages, int) {
      return messages.at(static_cast<std::size_t>(root)).data;
    };
    return start(comm, {text_of("broadcast", count, dtype, "from " + std::to_string(root)), send,
                        receive, bytes, bytes, result, stream});
  };
  api.all_gather = [this](const void* send, void* receive, std::size_t count, DType dtype,
                          NcclComm comm, CudaStream stream) {
    const std::size_t bytes = count * size_of(dtype);
    const auto result = [](const Messages& messages, int) {
      Bytes all;
      for (const StandInMessage& message : messages) {
        all.insert(all.end(), message.data.begin(), message.data.end());
      }
      return all;
    };
    const auto ranks = static_cast<std::size_t>(world_.size());
    return start(comm, {text_of("all_gather", count, dtype, ""), send, receive, bytes,
                        ranks * bytes, result, stream});
  };
  api.reduce_scatter = [this](const void* send, void* receive, std::size_t count, DType dtype,
                              ReduceOp op, NcclComm comm, CudaStream stream) {
    const std::size_t bytes = count * size_of(dtype);
    const auto result = [=](const Messages& messages, int rank) {
      return reduction(messages, dtype, op, static_cast<std::size_t>(rank) * count, count);
    };
    const auto ranks = static_cast<std::size_t>(world_.size());
    return start(comm, {text_of("reduce_scatter", count, dtype, name_of_op(op)), send, receive,
                        ranks * bytes, bytes, result, stream});
  };
}

NcclStatus StandInNccl::init(NcclComm* comm, const NcclUniqueId& id) {
  if (comms_.size() == channels_.size()) throw std::logic_error("too few communicators asked for");
  if (std::ranges::find(ids_, id) != ids_.end()) return NcclStatus::invalid_usage;
  ids_.push_back(id);
  NcclCommObject& made = *comms_.emplace_back(std::make_unique<NcclCommObject>());
  made.nccl = this;
  made.channel = channels_[comms_.size() - 1].get();
  if (faults.init != NcclStatus::success) return faults.init;
  ++open_;
  *comm = &made;
  if (faults.init_never_completes) return NcclStatus::in_progress;
  made.connecting = true;
  made.channel->send(
      {"init " + std::string(reinterpret_cast<const char*>(id.data()), id.size()), {}});
  return NcclStatus::in_progress;
}

NcclStatus StandInNccl::async_error(NcclComm comm, NcclStatus* state) {
  const std::lock_guard lock(comm->mutex);
  if (comm->connecting) poll_connecting(*comm);
  if (comm->polls_left > 0 && --comm->polls_left == 0) {
    comm->state = NcclStatus::success;
    for (StandInCollective& collective : comm->not_launched) put(*comm, std::move(collective));
    comm->not_launched.clear();
  }
  *state = comm->state;
  return NcclStatus::success;
}

void StandInNccl::poll_connecting(NcclCommObject& comm) {
  const std::optional<Messages> messages = comm.channel->receive();
  if (!messages) return;
  comm.connecting = false;
  comm.state = are_alike(*messages) ? NcclStatus::success : NcclStatus::invalid_usage;
}

NcclStatus StandInNccl::start(NcclComm comm, StandInCollective collective) {
  const auto is_there = [&](const void* data, std::size_t bytes) {
    return bytes == 0 || is_device_memory_(data, bytes);
  };
  if (!is_there(collective.send, collective.send_bytes) ||
      !is_there(collective.receive, collective.receive_bytes)) {
    return NcclStatus::invalid_argument;
  }
  if (!in_group_) return launch(*comm, {std::move(collective)});
  group_comm_ = comm;
  group_.push_back(std::move(collective));
  return NcclStatus::success;
}

NcclStatus StandInNccl::group_end() {
  in_group_ = false;
  std::vector<StandInCollective> group = std::exchange(group_, {});
  return group.empty() ? NcclStatus::success : launch(*group_comm_, std::move(group));
}

NcclStatus StandInNccl::launch(NcclCommObject& comm, std::vector<StandInCollective> collectives) {
  const std::lock_guard lock(comm.mutex);
  // As NCCL has it, whose communicator is not to be used while a call is in progress.
  if (comm.state != NcclStatus::success) return NcclStatus::invalid_argument;
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    if (faults.launch_fails == comm.launched++) return NcclStatus::system_error;
  }
  if (faults.launch_never_completes || faults.polls_until_launched > 0) {
    comm.state = NcclStatus::in_progress;
    comm.polls_left = faults.launch_never_completes ? 0 : faults.polls_until_launched;
    for (StandInCollective& one : collectives) comm.not_launched.push_back(std::move(one));
    return NcclStatus::in_progress;
  }
  for (StandInCollective& one : collectives) put(comm, std::move(one));
  return NcclStatus::success;
}

void StandInNccl::put(NcclCommObject& comm, StandInCollective collective) {
  const CudaStream stream = collective.stream;
  streams_.put(stream, [this, &comm, one = std::move(collective)] { run(comm, one); });
}

void StandInNccl::run(NcclCommObject& comm, const StandInCollective& collective) {
  const std::int64_t index = comm.run++;
  if (faults.never_completes == index) {
    while (!comm.aborted) std::this_thread::yield();
  }
  if (comm.aborted) return;
  StandInMessage own{collective.what, Bytes(collective.send_bytes)};
  if (!own.data.empty()) std::memcpy(own.data.data(), collective.send, own.data.size());
  comm.channel->send(own);
  std::optional<Messages> messages;
  while (!(messages = comm.channel->receive())) {
    if (comm.aborted) return;
    std::this_thread::yield();
  }
  {
    const std::lock_guard lock(comm.mutex);
    if (!are_alike(*messages)) comm.state = NcclStatus::invalid_usage;
    if (faults.error_after == comm.run) comm.state = NcclStatus::remote_error;
  }
  if (!are_alike(*messages)) return;
  const Bytes result = collective.result(*messages, comm.channel->rank());
  if (!result.empty()) std::memcpy(collective.receive, result.data(), result.size());
  const std::lock_guard lock(log_mutex_);
  log_.push_back(collective.what);
}

std::vector<std::string> StandInNccl::log() {
  const std::lock_guard lock(log_mutex_);
  return log_;
}

void StandInNccl::abort_all() {
  for (const auto& comm : comms_) comm->aborted = true;
}

void StandInNccl::finish() {
  for (const auto& channel : channels_) channel->drain(world_);
}

}  // namespace lockstep
