#include "io/user_block.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"

#include "support/temporary_directory.hpp"

namespace lockstep {
namespace {

using testing::HasSubstr;

std::string defect(const std::filesystem::path& path) {
  try {
    read_user_block(path);
  } catch (const Error& error) {
    return error.reason();
  }
  return {};
}

std::string text_of(const UserBlock& block) {
  const auto bytes = encoded(block);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A file of 200 bytes of content and a list of one hash.
class UserBlockFile : public testing::Test {
 protected:
  UserBlockFile() : path_(directory_.path() / "file") {
    put_content(path_, text_of(block_) + std::string(200, 'x') + std::string(16, 'h'));
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_;
  UserBlock block_{.format_version = 3, .content_end = 712, .root = {std::byte{0xab}}};
};

TEST_F(UserBlockFile, HasTheDocumentedBytes) {
  using namespace std::string_literals;
  // 728 = 0x2d8, 712 = 0x2c8, 512 = 0x200, 4 MiB = 0x400000. The checksum is what
  // `head -c 496 FILE | xxhsum -H2` prints, read from the end.
  const std::string begin =
      "LOCKSTEP\x02\0\0\0\x00\x02\0\0\xd8\x02\0\0\0\0\0\0\xc8\x02\0\0\0\0\0\0"
      "\0\0\x40\0\0\0\0\0\x03\0\0\0\0\0\0\0\xab"s +
      std::string(447, '\0');
  EXPECT_EQ(text_of(block_).substr(0, 496), begin);
  EXPECT_EQ(text_of(block_).substr(496),
            "\x22\xd7\xc7\xd6\x58\x1a\x7d\xfa\x8b\x7e\x40\x5d\x8b\xfa\xb3\x5f"s);
}

TEST_F(UserBlockFile, GivesBackWhatItWasMadeOf) {
  const UserBlock found = read_user_block(path_);
  EXPECT_EQ(found.format_version, 3);
  EXPECT_EQ(found.content_end, 712);
  EXPECT_EQ(found.root, block_.root);
  EXPECT_EQ(found.file_bytes(), 728);
}

TEST_F(UserBlockFile, TellsThatAFileWasCutShort) {
  std::filesystem::resize_file(path_, 700);
  EXPECT_EQ(defect(path_), "truncated: 700 of 728 bytes");
  std::filesystem::resize_file(path_, 511);
  EXPECT_EQ(defect(path_), "truncated: 511 bytes, where the first block alone has 512");
}

TEST_F(UserBlockFile, TellsThatSomethingWasAppended) {
  std::filesystem::resize_file(path_, 729);
  EXPECT_EQ(defect(path_), "damaged: it has 729 bytes where it was written with 728");
}

TEST_F(UserBlockFile, IsMissingInAFileThatWasNotFinished) {
  put_content(path_, std::string(712, '\0'));
  EXPECT_THAT(defect(path_), HasSubstr("mark of a finished file"));
  put_content(path_, "LOCK");
  EXPECT_THAT(defect(path_), HasSubstr("mark of a finished file"));
  put_content(path_, "");
  EXPECT_THAT(defect(path_), HasSubstr("mark of a finished file"));
}

TEST_F(UserBlockFile, IsDamagedWhereAnyOfItsBytesIsAnother) {
  const std::string content = content_of(path_);
  for (std::size_t byte = 0; byte < 512; ++byte) {
    std::string flipped = content;
    flipped[byte] = static_cast<char>(flipped[byte] ^ 16);
    put_content(path_, flipped);
    EXPECT_THAT(defect(path_),
                HasSubstr(byte < 8 ? "mark of a finished file" : "damaged: its first block"))
        << byte;
  }
}

TEST_F(UserBlockFile, OfALaterLayoutIsNamed) {
  using namespace std::string_literals;
  std::string content = content_of(path_);
  content[8] = 3;
  // xxhsum -H2 of the first 496 bytes, read from the end.
  content.replace(496, 16, "\xf0\x77\xb3\x27\xa7\xfc\xab\x1f\x49\x83\x92\x5f\x21\xd7\x31\xed"s);
  put_content(path_, content);
  EXPECT_THAT(defect(path_), HasSubstr("layout 3, this program reads layout 2"));
}

TEST_F(UserBlockFile, FromBeforeThereWereHashesIsRefusedInPlainWords) {
  using namespace std::string_literals;
  put_content(path_, "LOCKSTEP\x01\0\0\0\x00\x02\0\0\xc8\x02\0\0\0\0\0\0"s +
                         std::string(488, '\0') + std::string(200, 'x'));
  EXPECT_THAT(defect(path_), HasSubstr("written before files carried hashes"));
}

}  // namespace
}  // namespace lockstep
