#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/cuda/nccl_communicator.hpp"

#include "support/gpu_stand_in.hpp"
#include "unit/cuda/device_values.hpp"

namespace lockstep {

/// The ranks of the test, each with a stand-in for its GPU.
class NcclTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { world_of_suite() = MpiCommunicator::duplicate_world(); }
  static void TearDownTestSuite() { world_of_suite().reset(); }

  NcclTest() {
    options.poll_interval = std::chrono::milliseconds(1);
    gpu.api().cuda.create_stream(&compute, 0);
  }
  void TearDown() override {
    gpu.api().cuda.destroy_stream(compute);
    EXPECT_EQ(gpu.open_objects(), 0);
    gpu.finish();
  }

  Communicator& world() { return *world_of_suite(); }
  int rank() { return world().rank(); }
  int size() { return world().size(); }
  bool is_last() { return rank() == size() - 1; }

  std::unique_ptr<NcclCommunicator> connect() {
    return NcclCommunicator::connect(gpu.api(), world().duplicate("a test"), options);
  }

  /// 1 + 2 + ... + size.
  double sum_of_ranks() { return size() * (size() + 1) / 2.0; }

  template <typename Kind = Error>
  Kind error_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Kind& error) {
      return error;
    }
    throw std::logic_error("no error");
  }

  GpuStandIn gpu{world(), 2};
  NcclOptions options;
  CudaStream compute = nullptr;  ///< beside the default one

 private:
  static std::unique_ptr<MpiCommunicator>& world_of_suite() {
    static std::unique_ptr<MpiCommunicator> world;
    return world;
  }
};

/// A clock that stands still until it is made to go on by a second each time it is looked at: how
/// long things really take on a busy machine does not matter.
class TestClock {
 public:
  void go_on() { *goes_on_ = true; }

  std::function<std::chrono::steady_clock::time_point()> now() const {
    return [goes_on = goes_on_, looks = looks_] {
      const int seconds = *goes_on ? ++*looks : looks->load();
      return std::chrono::steady_clock::time_point(std::chrono::seconds(seconds));
    };
  }

 private:
  std::shared_ptr<std::atomic<bool>> goes_on_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<int>> looks_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace lockstep
