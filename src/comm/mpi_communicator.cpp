#include "lockstep/comm/mpi_communicator.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <mpi.h>

#include "lockstep/base/narrow.hpp"
#include "lockstep/comm/message.hpp"

#include "comm/equal_sums.hpp"
#include "comm/mpi_door.hpp"
#include "comm/mpi_error.hpp"
#include "comm/mpi_types.hpp"

namespace lockstep {
namespace {

/// The MPI requests of one message. MPI forbids to free those of collectives, so destruction before
/// they are done just drops them.
class MpiWork : public Work::Impl {
 public:
  explicit MpiWork(std::string attempted) : attempted_(std::move(attempted)) {}

  const std::string& attempted() const { return attempted_; }

  /// Starts one more part: `start` is given the request to fill and returns MPI's code.
  template <typename Start>
  void add(Start start) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(start(&request), attempted_);
    requests_.push_back(request);
  }

  void wait() override {
    for (MPI_Request& request : requests_) {
      check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), attempted_);
    }
  }

  bool done() override {
    bool all = true;
    for (MPI_Request& request : requests_) {
      int flag = 0;
      check_mpi(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), attempted_);
      all = all && flag != 0;
    }
    return all;
  }

 private:
  std::string attempted_;
  std::vector<MPI_Request> requests_;
};

/// Cuts `count` elements into the parts that one MPI call each may carry.
struct Parts {
  std::int64_t count;
  std::int64_t largest;  ///< elements

  Parts(std::int64_t elements, std::int64_t largest_bytes, DType dtype, std::int64_t copies = 1)
      : count(elements),
        largest(std::max<std::int64_t>(
            1, largest_bytes / (narrow<std::int64_t>(size_of(dtype)) * copies))) {}

  bool single() const { return count <= largest; }

  /// Calls `visit(offset, length)` for each part in order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::int64_t offset = 0; offset < count; offset += largest) {
      visit(offset, narrow<int>(std::min(largest, count - offset)));
    }
  }
};

std::byte* at(const Buffer& buffer, std::int64_t element) {
  return static_cast<std::byte*>(buffer.data) +
         element * narrow<std::int64_t>(size_of(buffer.dtype));
}

/// A derived MPI type, freed when it goes out of scope; messages in flight keep what they need.
class DerivedType {
 public:
  /// `length` elements whose neighbour in an array begins `stride` elements later.
  DerivedType(DType dtype, int length, std::int64_t stride, const std::string& attempted) {
    MPI_Datatype dense = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_contiguous(length, mpi_type(dtype), &dense), attempted);
    const MPI_Aint extent = stride * narrow<std::int64_t>(size_of(dtype));
    const int code = MPI_Type_create_resized(dense, 0, extent, &type_);
    MPI_Type_free(&dense);
    check_mpi(code, attempted);
    check_mpi(MPI_Type_commit(&type_), attempted);
  }
  DerivedType(const DerivedType&) = delete;
  DerivedType& operator=(const DerivedType&) = delete;
  ~DerivedType() { MPI_Type_free(&type_); }

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

MpiCommunicator::Handle::Handle(MPI_Comm source, std::string_view purpose) {
  const std::string attempted = message_text("duplicate a communicator", purpose);
  check_mpi(MPI_Comm_dup(source, &comm), attempted);
  check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), attempted);
}

MpiCommunicator::Handle::~Handle() {
  // Allowed in a destructor though MPI calls it collective: implementations mark the communicator
  // and return, as the standard advises; none waits for another rank.
  if (mpi_is_up()) MPI_Comm_free(&comm);
}

std::unique_ptr<MpiCommunicator> MpiCommunicator::duplicate_world(
    std::int64_t largest_message_bytes) {
  auto handle = std::make_unique<Handle>(MPI_COMM_WORLD, "the world");
  const bool sums_equally = sums_are_equal_on_all_ranks(handle->comm);
  return std::unique_ptr<MpiCommunicator>(
      new MpiCommunicator(std::move(handle), largest_message_bytes, sums_equally));
}

MpiCommunicator::MpiCommunicator(std::unique_ptr<Handle> handle, std::int64_t largest_message_bytes,
                                 bool sums_equally)
    : handle_(std::move(handle)),
      largest_message_bytes_(largest_message_bytes),
      sums_equally_(sums_equally) {
  check_mpi(MPI_Comm_rank(handle_->comm, &rank_), "ask MPI for the rank");
  check_mpi(MPI_Comm_size(handle_->comm, &size_), "ask MPI for the number of ranks");
}

MpiCommunicator::~MpiCommunicator() = default;

Work MpiCommunicator::start_all_reduce(Buffer buffer, ReduceOp op, std::string_view purpose) {
  auto work = std::make_unique<MpiWork>(message_text("all_reduce", purpose));
  check_buffer(buffer, MemoryKind::host, work->attempted());
  check_reducible_on_host(buffer.dtype, work->attempted());
  const MPI_Datatype type = mpi_type(buffer.dtype);
  const MPI_Op mpi_op = handle_->operators.find(op, buffer.dtype);
  const Parts parts(buffer.count, largest_message_bytes_, buffer.dtype);
  if (!sums_equally_ && op == ReduceOp::sum && is_floating(buffer.dtype)) {
    // Blocking, since the broadcast must wait for the sum and collectives start in one order on
    // all ranks.
    parts.for_each([&](std::int64_t offset, int length) {
      std::byte* data = at(buffer, offset);
      check_mpi(MPI_Reduce(rank_ == 0 ? MPI_IN_PLACE : data, data, length, type, mpi_op, 0,
                           handle_->comm),
                work->attempted());
      check_mpi(MPI_Bcast(data, length, type, 0, handle_->comm), work->attempted());
    });
    return {};
  }
  parts.for_each([&](std::int64_t offset, int length) {
    work->add([&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, at(buffer, offset), length, type, mpi_op, handle_->comm,
                            request);
    });
  });
  return Work(std::move(work));
}

Work MpiCommunicator::start_broadcast(Buffer buffer, int root, std::string_view purpose) {
  auto work = std::make_unique<MpiWork>(message_text("broadcast", purpose));
  check_buffer(buffer, MemoryKind::host, work->attempted());
  const MPI_Datatype type = mpi_type(buffer.dtype);
  const Parts parts(buffer.count, largest_message_bytes_, buffer.dtype);
  parts.for_each([&](std::int64_t offset, int length) {
    work->add([&](MPI_Request* request) {
      return MPI_Ibcast(at(buffer, offset), length, type, root, handle_->comm, request);
    });
  });
  return Work(std::move(work));
}

Work MpiCommunicator::start_all_gather(Buffer send, Buffer receive, std::string_view purpose) {
  auto work = std::make_unique<MpiWork>(message_text("all_gather", purpose));
  check_parts(send, receive, size_, MemoryKind::host, work->attempted());
  const MPI_Datatype type = mpi_type(send.dtype);
  const Parts parts(send.count, largest_message_bytes_, send.dtype, size_);
  parts.for_each([&](std::int64_t offset, int length) {
    // A part of rank r's section lands in the middle of that section: the sections' stride is put
    // into the type, since MPI places what it gathers by whole types.
    const DerivedType section(receive.dtype, length, send.count, work->attempted());
    work->add([&](MPI_Request* request) {
      return MPI_Iallgather(at(send, offset), length, type, at(receive, offset), 1, section.get(),
                            handle_->comm, request);
    });
  });
  return Work(std::move(work));
}

Work MpiCommunicator::start_reduce_scatter(Buffer send, Buffer receive, ReduceOp op,
                                           std::string_view purpose) {
  auto work = std::make_unique<MpiWork>(message_text("reduce_scatter", purpose));
  check_parts(receive, send, size_, MemoryKind::host, work->attempted());
  check_reducible_on_host(send.dtype, work->attempted());
  const MPI_Datatype type = mpi_type(send.dtype);
  const MPI_Op mpi_op = handle_->operators.find(op, send.dtype);
  const Parts parts(receive.count, largest_message_bytes_, send.dtype, size_);
  if (parts.single() && parts.count > 0) {
    work->add([&](MPI_Request* request) {
      return MPI_Ireduce_scatter_block(send.data, receive.data, narrow<int>(receive.count), type,
                                       mpi_op, handle_->comm, request);
    });
    return Work(std::move(work));
  }
  // MPI reduces predefined types only, so a part cannot skip from section to section: each section
  // is reduced to its rank by itself.
  for (int root = 0; root < size_; ++root) {
    parts.for_each([&](std::int64_t offset, int length) {
      work->add([&](MPI_Request* request) {
        return MPI_Ireduce(at(send, root * receive.count + offset), at(receive, offset), length,
                           type, mpi_op, root, handle_->comm, request);
      });
    });
  }
  return Work(std::move(work));
}

void MpiCommunicator::barrier(std::string_view purpose) {
  check_mpi(MPI_Barrier(handle_->comm), message_text("barrier", purpose));
}

std::unique_ptr<Communicator> MpiCommunicator::duplicate(std::string_view purpose) {
  return std::unique_ptr<MpiCommunicator>(new MpiCommunicator(
      std::make_unique<Handle>(handle_->comm, purpose), largest_message_bytes_, sums_equally_));
}

}  // namespace lockstep
