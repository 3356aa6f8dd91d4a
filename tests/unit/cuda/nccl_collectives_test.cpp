// What each collective computes, for every dtype. Rank r of n sends (r + 1) * (1, 2, 3...).
#include "unit/comm/typed_values.hpp"
#include "unit/cuda/nccl_fixture.hpp"

namespace lockstep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class NcclCollectives : public NcclTest {
 protected:
  void TearDown() override {
    comm->finish();
    comm.reset();
    NcclTest::TearDown();
  }
  double own() { return rank() + 1; }

  std::unique_ptr<NcclCommunicator> comm = connect();
};

TEST_F(NcclCollectives, AllReduce) {
  for (const DType dtype : all_dtypes) {
    SCOPED_TRACE(name_of(dtype));
    DeviceValues sum(gpu, dtype, {own(), 2 * own(), 3 * own()});
    DeviceValues max(gpu, dtype, {own(), 2 * own()}, compute);
    DeviceValues min(gpu, dtype, {own(), 2 * own()}, compute);
    comm->all_reduce(sum.buffer(), ReduceOp::sum, "sum");
    comm->all_reduce(max.buffer(), ReduceOp::max, "max");
    comm->all_reduce(min.buffer(), ReduceOp::min, "min");
    const double total = sum_of_ranks();
    EXPECT_THAT(sum.get_when_done(), ElementsAre(total, 2 * total, 3 * total));
    EXPECT_THAT(max.get_when_done(), ElementsAre(size(), 2 * size()));
    EXPECT_THAT(min.get_when_done(), ElementsAre(1, 2));
  }
}

TEST_F(NcclCollectives, Broadcast) {
  for (const DType dtype : all_dtypes) {
    SCOPED_TRACE(name_of(dtype));
    for (int root = 0; root < size(); ++root) {
      DeviceValues values(gpu, dtype, {own(), 2 * own()}, compute);
      comm->broadcast(values.buffer(), root, "values");
      EXPECT_THAT(values.get_when_done(), ElementsAre(root + 1, 2 * (root + 1)));
    }
  }
}

TEST_F(NcclCollectives, AllGather) {
  for (const DType dtype : all_dtypes) {
    SCOPED_TRACE(name_of(dtype));
    DeviceValues part(gpu, dtype, {own(), 2 * own()}, compute);
    DeviceValues whole(gpu, dtype, std::vector<double>(2 * static_cast<std::size_t>(size())));
    comm->all_gather(part.buffer(), whole.buffer(), "parts");
    std::vector<double> expected;
    for (int r = 1; r <= size(); ++r) expected.insert(expected.end(), {1.0 * r, 2.0 * r});
    EXPECT_EQ(whole.get_when_done(), expected);
    EXPECT_THAT(part.get_when_done(), ElementsAre(own(), 2 * own()));
  }
}

TEST_F(NcclCollectives, ReduceScatter) {
  for (const DType dtype : all_dtypes) {
    SCOPED_TRACE(name_of(dtype));
    std::vector<double> values;
    for (int i = 1; i <= 2 * size(); ++i) values.push_back(own() * i);
    DeviceValues whole(gpu, dtype, values);
    DeviceValues sum(gpu, dtype, {0, 0}, compute);
    DeviceValues max(gpu, dtype, {0, 0}, compute);
    comm->reduce_scatter(whole.buffer(), sum.buffer(), ReduceOp::sum, "sum");
    comm->reduce_scatter(whole.buffer(), max.buffer(), ReduceOp::max, "max");
    const double first = 2 * rank() + 1;
    EXPECT_THAT(sum.get_when_done(),
                ElementsAre(sum_of_ranks() * first, sum_of_ranks() * (first + 1)));
    EXPECT_THAT(max.get_when_done(), ElementsAre(size() * first, size() * (first + 1)));
    EXPECT_EQ(whole.get_when_done(), values);
  }
}

TEST_F(NcclCollectives, EmptyOnesTakePart) {
  for (const DType dtype : all_dtypes) {
    SCOPED_TRACE(name_of(dtype));
    DeviceValues nothing(gpu, dtype, {});
    DeviceValues also_nothing(gpu, dtype, {});
    comm->all_reduce(nothing.buffer(), ReduceOp::sum, "nothing");
    comm->all_gather(nothing.buffer(), also_nothing.buffer(), "nothing");
    gpu.streams().synchronize(nullptr);
  }
  EXPECT_EQ(gpu.nccl().log().size(), 2 * all_dtypes.size());
}

TEST_F(NcclCollectives, GroupsAreOneLaunch) {
  for (const DType dtype : all_dtypes) {
    SCOPED_TRACE(name_of(dtype));
    DeviceValues a(gpu, dtype, {own()});
    DeviceValues b(gpu, dtype, {own()}, compute);
    Work first;
    Work second;
    gpu.clear_calls();
    comm->grouped([&] {
      first = comm->start_all_reduce(a.buffer(), ReduceOp::sum, "a");
      EXPECT_EQ(gpu.calls_of("all_reduce"), 0);
      EXPECT_FALSE(first.done());
      second = comm->start_broadcast(b.buffer(), 0, "b");
    });
    first.wait();
    second.wait();
    EXPECT_THAT(a.get_when_done(), ElementsAre(sum_of_ranks()));
    EXPECT_THAT(b.get_when_done(), ElementsAre(1));
    std::vector<std::string> calls = gpu.calls();
    std::erase_if(calls, [](const std::string& name) { return name.ends_with("_event"); });
    EXPECT_THAT(calls, ElementsAre("group_start", "all_reduce", "broadcast", "group_end"));
  }
}

class NcclUse : public NcclTest {};

TEST_F(NcclUse, NumbersAreStoredAsTheDTypesDefine) {
  std::uint16_t bits = 0;
  store_number(DType::float16, &bits, 0, 1.5);
  EXPECT_EQ(bits, 0x3E00);
  EXPECT_EQ(load_number(DType::float16, &bits, 0), 1.5);
  store_number(DType::float16, &bits, 0, -12);
  EXPECT_EQ(bits, 0xCA00);
  EXPECT_EQ(load_number(DType::float16, &bits, 0), -12);
  store_number(DType::bfloat16, &bits, 0, 1.5);
  EXPECT_EQ(bits, 0x3FC0);
}

TEST_F(NcclUse, AGroupThatThrowsLaunchesNothing) {
  const auto comm = connect();
  {
    DeviceValues values(gpu, DType::float32, {1});
    Work work;
    EXPECT_THROW(comm->grouped([&] {
      work = comm->start_all_reduce(values.buffer(), ReduceOp::sum, "never");
      throw Error("a test");
    }),
                 Error);
    EXPECT_THAT(error_of([&] { work.wait(); }).what(), HasSubstr("before its group was launched"));
    EXPECT_EQ(gpu.calls_of("all_reduce"), 0);
    comm->all_reduce(values.buffer(), ReduceOp::sum, "after it");
    EXPECT_THAT(values.get_when_done(), ElementsAre(size()));
    comm->grouped([] {});
    EXPECT_THROW(comm->grouped([&] { comm->grouped([] {}); }), Error);
  }
  comm->finish();
}

TEST_F(NcclUse, WhatNcclCannotDoIsRefused) {
  const auto comm = connect();
  {
    DeviceValues two(gpu, DType::float32, {1, 2});
    DeviceValues three(gpu, DType::float32, {1, 2, 3});
    double host = 0;
    EXPECT_THAT(error_of([&] {
                  comm->all_reduce(buffer_of(std::span(&host, 1)), ReduceOp::sum, "x");
                }).what(),
                HasSubstr("all_reduce for x: the buffer is in host memory"));
    if (size() != 2) {
      EXPECT_THROW(comm->all_gather(two.buffer(), three.buffer(), "x"), Error);
      EXPECT_THROW(comm->reduce_scatter(three.buffer(), two.buffer(), ReduceOp::sum, "x"), Error);
    }
  }
  comm->finish();
}

TEST_F(NcclUse, ADuplicateHasMessagesOfItsOwn) {
  const auto comm = connect();
  const auto other = comm->duplicate("another");
  EXPECT_EQ(other->rank(), rank());
  EXPECT_EQ(other->size(), size());
  {
    DeviceValues values(gpu, DType::float32, {1});
    other->all_reduce(values.buffer(), ReduceOp::sum, "values");
    comm->all_reduce(values.buffer(), ReduceOp::sum, "values");
    EXPECT_THAT(values.get_when_done(), ElementsAre(size() * size()));
    other->barrier("a test");
  }
  dynamic_cast<NcclCommunicator&>(*other).finish();
  comm->finish();
}

}  // namespace
}  // namespace lockstep
