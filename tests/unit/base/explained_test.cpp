#include "lockstep/base/explained.hpp"

#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Explained, KeepsAnErrorsParts) {
  const Error error = explained(UsageError("start", "no key", "turn it"));
  EXPECT_EQ(error.attempted(), "start");
  EXPECT_EQ(error.reason(), "no key");
  EXPECT_EQ(error.remedy(), "turn it");
}

TEST(Explained, SaysWhatOtherExceptionsSay) {
  EXPECT_STREQ(explained(std::runtime_error("broken")).what(), "broken");
  EXPECT_STREQ(explained(std::bad_alloc()).what(), "out of memory: std::bad_alloc");
}

TEST(Explained, AsksWhoKnowsBetter) {
  explain_errors_by([](const std::exception& error) -> std::optional<Error> {
    if (dynamic_cast<const std::logic_error*>(&error) == nullptr) return std::nullopt;
    return Error("think", error.what());
  });
  EXPECT_STREQ(explained(std::logic_error("no")).what(), "think: no");
  EXPECT_STREQ(explained(std::runtime_error("broken")).what(), "broken");
  EXPECT_STREQ(explained(Error("own")).what(), "own");
  explain_errors_by([](const std::exception&) -> std::optional<Error> { return std::nullopt; });
}

}  // namespace
}  // namespace lockstep
