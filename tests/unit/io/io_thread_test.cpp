#include "lockstep/io/io_thread.hpp"

#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(IoThread, WorkIsDoneInTheOrderItWasSubmitted) {
  std::vector<int> order;
  {
    IoThread io;
    for (int i = 0; i < 100; ++i) io.submit([&order, i] { order.push_back(i); });
  }
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(IoThread, AllWorkIsDoneByOneThreadThatIsNotTheCallers) {
  IoThread io;
  const auto first = io.run([] { return std::this_thread::get_id(); });
  const auto second = io.run([] { return std::this_thread::get_id(); });
  EXPECT_EQ(first, second);
  EXPECT_NE(first, std::this_thread::get_id());
}

TEST(IoThread, ResultsComeThroughTheFuture) {
  IoThread io;
  std::future<int> result = io.submit([] { return 42; });
  EXPECT_EQ(result.get(), 42);
}

TEST(IoThread, WorkMayOwnWhatCannotBeCopied) {
  IoThread io;
  auto value = std::make_unique<int>(7);
  EXPECT_EQ(io.run([owned = std::move(value)] { return *owned; }), 7);
}

TEST(IoThread, AnExceptionReachesTheCallerAndTheThreadGoesOn) {
  IoThread io;
  auto failing = io.submit([]() -> int { throw Error("save", "no"); });
  EXPECT_THROW(failing.get(), Error);
  EXPECT_THROW(io.run([] { throw std::runtime_error("x"); }), std::runtime_error);
  EXPECT_EQ(io.run([] { return 1; }), 1);
}

TEST(IoThread, SubmittingDoesNotWaitForWorkInProgress) {
  std::promise<void> gate;
  IoThread io;
  auto blocked = io.submit([opened = gate.get_future().share()] { opened.wait(); });
  auto behind = io.submit([] { return 5; });
  gate.set_value();  // reached although the first piece of work still waits for it
  EXPECT_EQ(behind.get(), 5);
}

TEST(IoThread, WaitingForItselfIsAnError) {
  IoThread io;
  EXPECT_THROW(io.run([&io] { io.run([] {}); }), Error);
}

TEST(IoThread, AFutureThatNobodyWaitsForIsNoHindrance) {
  bool done = false;
  {
    IoThread io;
    static_cast<void>(io.submit([&done] { done = true; }));
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace lockstep
