// NcclCommunicator on real GPUs, through the real library. Rank r of n sends (r + 1) * (1,
// 2, 3...).
#include "gpu/gpu_fixture.hpp"
#include "unit/comm/typed_values.hpp"

namespace lockstep {
namespace {

using testing::Each;
using testing::ElementsAre;

class NcclOnGpu : public OnGpu {
 protected:
  double own() { return rank() + 1; }
  double total() { return size() * (size() + 1) / 2.0; }
};

TEST_F(NcclOnGpu, AllReduce) {
  const auto comm = connect();
  for (const DType dtype : all_dtypes) {
    SCOPED_TRACE(name_of(dtype));
    const GpuValues sum(dtype, {own(), 2 * own(), 3 * own()}, compute);
    const GpuValues max(dtype, {own(), 2 * own()}, compute);
    const GpuValues min(dtype, {own(), 2 * own()}, compute);
    comm->all_reduce(sum.buffer(), ReduceOp::sum, "sum");
    comm->all_reduce(max.buffer(), ReduceOp::max, "max");
    comm->all_reduce(min.buffer(), ReduceOp::min, "min");
    EXPECT_THAT(sum.get(), ElementsAre(total(), 2 * total(), 3 * total()));
    EXPECT_THAT(max.get(), ElementsAre(size(), 2 * size()));
    EXPECT_THAT(min.get(), ElementsAre(1, 2));
  }
  comm->finish();
}

TEST_F(NcclOnGpu, ALongMessageInOrderWithItsStream) {
  const auto comm = connect();
  const std::vector<double> ones(std::size_t{1} << 22U, own());
  const GpuValues values(DType::float32, ones, compute);
  comm->all_reduce(values.buffer(), ReduceOp::sum, "gradients");
  comm->all_reduce(values.buffer(), ReduceOp::sum, "gradients again");
  EXPECT_THAT(values.get(), Each(total() * size()));
  comm->finish();
}

TEST_F(NcclOnGpu, Broadcast) {
  const auto comm = connect();
  for (const DType dtype : all_dtypes) {
    SCOPED_TRACE(name_of(dtype));
    for (int root = 0; root < size(); ++root) {
      const GpuValues values(dtype, {own(), 2 * own()}, compute);
      comm->broadcast(values.buffer(), root, "values");
      EXPECT_THAT(values.get(), ElementsAre(root + 1, 2 * (root + 1)));
    }
  }
  comm->finish();
}

TEST_F(NcclOnGpu, AllGatherAndReduceScatter) {
  const auto comm = connect();
  const std::vector<double> zeros(2 * static_cast<std::size_t>(size()));
  for (const DType dtype : all_dtypes) {
    SCOPED_TRACE(name_of(dtype));
    const GpuValues part(dtype, {own(), 2 * own()}, compute);
    const GpuValues whole(dtype, zeros, compute);
    comm->all_gather(part.buffer(), whole.buffer(), "parts");
    std::vector<double> expected;
    for (int r = 1; r <= size(); ++r) expected.insert(expected.end(), {1.0 * r, 2.0 * r});
    EXPECT_EQ(whole.get(), expected);

    const GpuValues sum(dtype, {0, 0}, compute);
    comm->reduce_scatter(whole.buffer(), sum.buffer(), ReduceOp::sum, "sum");
    EXPECT_THAT(sum.get(), ElementsAre(size() * own(), 2 * size() * own()));
  }
  comm->finish();
}

TEST_F(NcclOnGpu, Groups) {
  const auto comm = connect();
  const GpuValues a(DType::float64, {own()}, compute);
  const GpuValues b(DType::float32, {own()}, nullptr);
  Work first;
  Work second;
  comm->grouped([&] {
    first = comm->start_all_reduce(a.buffer(), ReduceOp::sum, "a");
    second = comm->start_broadcast(b.buffer(), 0, "b");
  });
  first.wait();
  second.wait();
  EXPECT_THAT(a.get(), ElementsAre(total()));
  EXPECT_THAT(b.get(), ElementsAre(1));
  comm->finish();
}

TEST_F(NcclOnGpu, ADuplicateBesideTheFirstAndAnEndWithoutFinish) {
  const auto comm = connect();
  const auto other = comm->duplicate("another");
  const GpuValues values(DType::int64, {own()}, compute);
  comm->all_reduce(values.buffer(), ReduceOp::sum, "one");
  other->all_reduce(values.buffer(), ReduceOp::max, "the other");
  EXPECT_THAT(values.get(), ElementsAre(total()));
}

}  // namespace
}  // namespace lockstep
