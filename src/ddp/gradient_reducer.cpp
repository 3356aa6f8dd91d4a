#include "lockstep/ddp/gradient_reducer.hpp"

#include <utility>

#include <torch/csrc/autograd/variable.h>

#include "lockstep/base/error.hpp"

#include "ddp/buffer_average.hpp"
#include "ddp/tensor_buffer.hpp"

namespace lockstep {
namespace {

std::vector<Bucket> plan_of(const FlatParameters& parameters, const ReducerOptions& options) {
  std::vector<std::int64_t> offsets;
  for (const FlatEntry& entry : parameters.layout().entries()) offsets.push_back(entry.offset);
  const std::int64_t element = parameters.gradients().element_size();
  return plan_buckets(offsets, parameters.layout().size(), options.bucket_bytes / element,
                      options.last_bucket_bytes / element);
}

/// Elements [begin, end) of the gradients and the tail behind them, as one message.
Buffer part_of(const FlatParameters& parameters, std::int64_t begin, std::int64_t end) {
  const at::Tensor& gradients = parameters.gradients();
  Buffer buffer = buffer_of(gradients);
  buffer.data = static_cast<std::byte*>(buffer.data) + begin * gradients.element_size();
  buffer.count = end - begin;
  return buffer;
}

}  // namespace

FieldTable fields(ReducerOptions& options) {
  return {field("bucket_bytes", options.bucket_bytes,
                "most bytes of gradients a message holds (but one larger parameter); towards the "
                "end of a backward pass messages become smaller",
                at_least(1)),
          field("last_bucket_bytes", options.last_bucket_bytes,
                "the same for the last message, which nothing is left to hide", at_least(1))};
}

/// Called by autograd when a parameter's gradient of one backward pass has been added.
class GradientReducer::Hook : public torch::autograd::PostAccumulateGradHook {
 public:
  Hook(GradientReducer& reducer, std::size_t entry) : reducer_(reducer), entry_(entry) {}

  void operator()(const at::Tensor& parameter) override {
    reducer_.gradient_ready(entry_, parameter);
  }

 private:
  GradientReducer& reducer_;
  std::size_t entry_;
};

GradientReducer::GradientReducer(FlatParameters& parameters, FlatBuffers& buffers,
                                 Communicator& comm, const ReducerOptions& options,
                                 ReductionObserver observer)
    : parameters_(parameters),
      comm_(comm),
      observer_(std::move(observer)),
      average_(std::make_unique<BufferAverage>(buffers, parameters.tail())),
      buckets_(plan_of(parameters, options)) {
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    purposes_.push_back("gradients, bucket " + std::to_string(bucket));
    const auto entries = buckets_[bucket].end_entry - buckets_[bucket].first_entry;
    bucket_of_entry_.insert(bucket_of_entry_.end(), static_cast<std::size_t>(entries), bucket);
  }
  for (std::size_t entry = 0; entry < bucket_of_entry_.size(); ++entry) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameters_.parameters()[entry].tensor,
                                                   std::make_unique<Hook>(*this, entry));
  }
}

GradientReducer::~GradientReducer() {
  for (const NamedTensor& parameter : parameters_.parameters()) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameter.tensor, nullptr);
  }
}

void GradientReducer::begin_window(double share) {
  parameters_.zero_gradients();
  average_->begin_window(share);
  ready_.assign(bucket_of_entry_.size(), false);
  missing_.clear();
  for (const Bucket& bucket : buckets_) missing_.push_back(bucket.end_entry - bucket.first_entry);
  messages_.clear();
  micro_batches_ = 0;
  reducing_ = false;
}

void GradientReducer::begin_micro_batch(bool last) {
  check(!reducing_, "begin a micro-batch", "the window's last one has begun already");
  ++micro_batches_;
  reducing_ = last;
}

void GradientReducer::gradient_ready(std::size_t entry, const at::Tensor& parameter) {
  const std::int64_t offset = parameters_.layout().entries()[entry].offset;
  const at::Tensor& gradients = parameters_.gradients();
  const auto* place =
      static_cast<const std::byte*>(gradients.const_data_ptr()) + offset * gradients.element_size();
  if (parameter.grad().const_data_ptr() != place) {
    throw Error("reduce the gradient of " + parameters_.parameters()[entry].name,
                "it left the flat buffer: something replaced the parameter's .grad");
  }
  if (!reducing_) return;
  if (ready_[entry]) {
    throw Error("reduce the gradient of " + parameters_.parameters()[entry].name,
                "a second backward pass in the window's last micro-batch changed it");
  }
  ready_[entry] = true;
  --missing_[bucket_of_entry_[entry]];
  observe(ReductionEvent::Kind::gradient_ready, entry);

  while (messages_.size() < buckets_.size() && missing_[messages_.size()] == 0) start_next_bucket();
  // MPI moves messages on only while it is called; what done() answers is of no interest.
  if (!messages_.empty()) messages_.back().work.done();
}

void GradientReducer::start_next_bucket() {
  const std::size_t index = messages_.size();
  const Bucket& bucket = buckets_[index];
  std::int64_t end = bucket.end;
  if (index + 1 == buckets_.size()) {
    average_->write_tail();
    end += parameters_.tail().numel();
  }
  const Buffer message = part_of(parameters_, bucket.begin, end);
  const std::int64_t bytes = message.count * parameters_.gradients().element_size();
  messages_.push_back(
      {.work = comm_.start_all_reduce(message, ReduceOp::sum, purposes_[index]), .bytes = bytes});
  bytes_reduced_ += bytes;
  observe(ReductionEvent::Kind::bucket_started, index);
}

void GradientReducer::finish() {
  for (Message& message : messages_) {
    if (message.work.done()) bytes_hidden_ += message.bytes;
  }
  while (messages_.size() < buckets_.size()) start_next_bucket();
  for (Message& message : messages_) message.work.wait();
  average_->adopt(comm_.size() == 1, micro_batches_);
  reducing_ = false;
}

void GradientReducer::restore_buffers_if(const at::Tensor& bad) {
  average_->restore_if(bad);
}

void GradientReducer::observe(ReductionEvent::Kind kind, std::size_t index) const {
  if (observer_) observer_({kind, static_cast<std::int64_t>(index)});
}

}  // namespace lockstep
