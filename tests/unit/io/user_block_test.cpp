#include "io/user_block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

#include "unit/io/temporary_directory.hpp"

namespace lockstep {
namespace {

using testing::HasSubstr;

std::string defect(const std::filesystem::path& path) {
  try {
    check_user_block(path);
  } catch (const Error& error) {
    return error.reason();
  }
  return {};
}

class UserBlock : public testing::Test {
 protected:
  UserBlock() : path_(directory_.path() / "file") {
    put_content(path_, std::string(512, '\0') + std::string(200, 'x'));
    write_user_block(path_);
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_;
};

TEST_F(UserBlock, HasTheDocumentedBytes) {
  using namespace std::string_literals;
  // 712 = 0x2c8, 512 = 0x200.
  const std::string begin =
      "LOCKSTEP\x01\0\0\0\x00\x02\0\0\xc8\x02\0\0\0\0\0\0"s + std::string(488, '\0');
  EXPECT_EQ(content_of(path_), begin + std::string(200, 'x'));
}

TEST_F(UserBlock, MarksAFileAsComplete) {
  EXPECT_EQ(defect(path_), "");
}

TEST_F(UserBlock, TellsThatAFileWasCutShort) {
  std::filesystem::resize_file(path_, 700);
  EXPECT_THAT(defect(path_), HasSubstr("700 bytes where it was written with 712"));
}

TEST_F(UserBlock, IsMissingInAFileThatWasNotFinished) {
  put_content(path_, std::string(712, '\0'));
  EXPECT_THAT(defect(path_), HasSubstr("mark of a finished file"));
  put_content(path_, "LOCKSTEP");
  EXPECT_THAT(defect(path_), HasSubstr("mark of a finished file"));
  put_content(path_, "");
  EXPECT_THAT(defect(path_), HasSubstr("mark of a finished file"));
}

TEST_F(UserBlock, OfALaterLayoutIsNamed) {
  std::string content = content_of(path_);
  content[8] = 2;
  put_content(path_, content);
  EXPECT_THAT(defect(path_), HasSubstr("layout 2, this program reads layout 1"));
}

}  // namespace
}  // namespace lockstep
