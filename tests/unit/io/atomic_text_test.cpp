#include "lockstep/io/atomic_text.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

#include "support/temporary_directory.hpp"

namespace lockstep {
namespace {

std::size_t files_in(const std::filesystem::path& directory) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(directory), {}));
}

TEST(AtomicText, TheFileHoldsExactlyTheText) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "config.ini";
  write_text_atomically(path, "batch_size = 128\n");
  EXPECT_EQ(content_of(path), "batch_size = 128\n");
  EXPECT_EQ(files_in(directory.path()), 1U);
}

TEST(AtomicText, AShorterTextReplacesALongerOne) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "stop.json";
  write_text_atomically(path, "{\"reason\": \"a long one\"}");
  write_text_atomically(path, "{}");
  EXPECT_EQ(content_of(path), "{}");
}

TEST(AtomicText, AReaderThatHasTheOldFileOpenKeepsIt) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "config.ini";
  write_text_atomically(path, "old");
  std::ifstream reader(path);
  write_text_atomically(path, "new");
  std::string text;
  reader >> text;
  EXPECT_EQ(text, "old");
}

TEST(AtomicText, AMissingDirectoryIsNamed) {
  const TemporaryDirectory directory;
  try {
    write_text_atomically(directory.path() / "none" / "config.ini", "x");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("none/config.ini"));
    EXPECT_THAT(error.what(), testing::HasSubstr("No such file or directory"));
  }
}

TEST(AtomicText, AFailureLeavesNoTemporary) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "taken";
  std::filesystem::create_directories(path / "inside");  // a file cannot be renamed onto it
  EXPECT_THROW(write_text_atomically(path, "x"), Error);
  EXPECT_EQ(files_in(directory.path()), 1U);
}

}  // namespace
}  // namespace lockstep
