// Hashes of a file's content, made and compared by all ranks together.
#include "lockstep/io/sealed_file.hpp"

#include <gmock/gmock.h>

#include "unit/io/shared_directory.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const FileFormat format{.name = "lockstep.test", .version = 3, .user_block = true};

constexpr std::size_t begin = 512;
constexpr std::size_t content_bytes = (std::size_t{9} << 20) + 1000;

class SealedFile : public SharedDirectoryTest {
 protected:
  SealedFile() {
    on_rank_0([&] { put_content(path(), std::string(begin, '\0') + content()); });
    seal_file(path(), format, comm());
  }

  std::filesystem::path path() const { return directory() / "file"; }
  static std::string content() {
    std::string bytes(content_bytes, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 251);
    return bytes;
  }
  void flip_bit(std::size_t byte) {
    on_rank_0([&] {
      std::string bytes = content_of(path());
      bytes[byte] = static_cast<char>(bytes[byte] ^ 4);
      put_content(path(), bytes);
    });
  }
  std::string error() {
    return common_error([&] { verify_sealed_file(path(), format, comm()); });
  }
};

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    for (const int digit : {(byte >> 4) & 15, byte & 15}) text += "0123456789abcdef"[digit];
  }
  return text;
}

TEST_F(SealedFile, HoldsTheHashesOfItsBlocksOfTheirListAndOfItsFirstBlock) {
  // What `xxhsum -H2` prints (as a big-endian number, here little-endian), given in turn the two
  // blocks of 4 MiB and the rest of the content, the list, and the first 496 bytes of the file.
  const std::string bytes = content_of(path());
  EXPECT_EQ(bytes.size(), begin + content_bytes + 48);
  EXPECT_EQ(bytes.substr(begin, content_bytes), content());
  EXPECT_EQ(hexadecimal(bytes.substr(begin + content_bytes)),
            "5545fb42a3d247e7fdd31ac6b5d61e73"
            "212846a6590dd03ee724b5cb396a4425"
            "01c5974f4ebf815ffe198bed3c6ad98e");
  EXPECT_EQ(hexadecimal(bytes.substr(48, 16)), "a289471597ef0c02433acb4d97667ef8");
  EXPECT_EQ(hexadecimal(bytes.substr(496, 16)), "01a49e511577e5abff195f84abe9aa9c");
}

TEST_F(SealedFile, IsFoundGood) {
  EXPECT_NO_THROW(verify_sealed_file(path(), format, comm()));
}

TEST_F(SealedFile, WithoutContentIsFoundGood) {
  on_rank_0([&] { put_content(path(), std::string(begin, '\0')); });
  seal_file(path(), format, comm());
  EXPECT_NO_THROW(verify_sealed_file(path(), format, comm()));
}

TEST_F(SealedFile, NamesTheBlockThatDiffersAndItsBytesOnAllRanks) {
  flip_bit(begin + (5 << 20));
  EXPECT_THAT(error(),
              AllOf(HasSubstr(path().string()),
                    HasSubstr("damaged: block 2 of 3 (bytes 4194816 to 8389119) differs")));
}

TEST_F(SealedFile, CountsTheBlocksThatDiffer) {
  flip_bit(begin);
  flip_bit(begin + content_bytes - 1);
  EXPECT_THAT(error(), AllOf(HasSubstr("block 1 of 3"), HasSubstr("and so do 1 others")));
}

TEST_F(SealedFile, TellsThatItsListOfHashesIsDamaged) {
  flip_bit(begin + content_bytes + 20);
  EXPECT_THAT(error(), HasSubstr("damaged: the list of hashes at its end"));
}

TEST_F(SealedFile, OfANewerFormatIsRefusedNamingBothVersions) {
  const FileFormat older{.name = "lockstep.test", .version = 2, .user_block = true};
  EXPECT_THAT(common_error([&] { verify_sealed_file(path(), older, comm()); }),
              AllOf(HasSubstr("version 3"), HasSubstr("up to version 2")));
}

TEST_F(SealedFile, ThatIsMissingFailsOnAllRanks) {
  on_rank_0([&] { std::filesystem::remove(path()); });
  EXPECT_THAT(error(), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace lockstep
