// What happens when the disk is full: found out before the data goes out, or while it does.
#include <csignal>
#include <optional>

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "lockstep/io/checkpoint_file.hpp"
#include "lockstep/io/checkpoint_store.hpp"

#include "io/posix_file.hpp"
#include "unit/io/shared_directory.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Lets this process write no file beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

/// An empty file system of one MiB on a directory.
class SmallFileSystem {
 public:
  explicit SmallFileSystem(std::filesystem::path directory)
      : directory_(std::move(directory)),
        mounted_(::mount("none", directory_.c_str(), "tmpfs", 0, "size=1m") == 0) {}
  SmallFileSystem(const SmallFileSystem&) = delete;
  SmallFileSystem& operator=(const SmallFileSystem&) = delete;
  ~SmallFileSystem() {
    if (mounted_) ::umount2(directory_.c_str(), MNT_DETACH);
  }

  bool mounted() const { return mounted_; }

 private:
  std::filesystem::path directory_;
  bool mounted_;
};

class FullDisk : public SharedDirectoryTest {
 protected:
  static constexpr std::int64_t elements = 1 << 20;

  Content content(const std::vector<float>& values) const {
    return {.arrays = {{"/model/w",
                        DType::float32,
                        {static_cast<std::int64_t>(values.size())},
                        values.data()}},
            .attributes = {},
            .groups = {}};
  }
};

TEST_F(FullDisk, IsFoundOutBeforeTheDataGoesOutNamingPathAndBytes) {
  const CheckpointStore store(directory());
  write_checkpoint(store.path(1), content(std::vector<float>(10, 1.0F)), comm());
  const std::vector<float> large(elements, 2.0F);
  std::string text;
  {
    const FileSizeLimit limit(1 << 20);
    text = common_error([&] { write_checkpoint(store.path(2), content(large), comm()); });
  }
  EXPECT_THAT(text, AllOf(HasSubstr("reserve 4194304 bytes"), HasSubstr(store.path(2).string()),
                          HasSubstr("File too large")));
  ASSERT_EQ(store.list().size(), 1U);
  EXPECT_EQ(store.newest_valid(comm()).entry->step, 1);
  EXPECT_FALSE(std::filesystem::exists(temporary_path(store.path(2))));
}

TEST_F(FullDisk, MetOnOneRankWhileWritingFailsOnAll) {
  if (size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto path = directory() / "file.h5";
  const std::vector<float> large(elements, 2.0F);
  std::string text;
  {
    std::unique_ptr<FileSizeLimit> limit;
    if (rank() == 1) limit = std::make_unique<FileSizeLimit>(1 << 20);
    text = common_error([&] { write_checkpoint(path, content(large), comm()); });
  }
  EXPECT_THAT(text, AllOf(HasSubstr("on rank 1"), HasSubstr("bytes to '" + path.string()),
                          HasSubstr("File too large")));
  EXPECT_FALSE(std::filesystem::exists(temporary_path(path)));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(FullDisk, OfARealFileSystemLeavesThePreviousCheckpoint) {
  std::optional<SmallFileSystem> disk;
  if (rank() == 0) disk.emplace(directory());
  const std::string mounted = disk && disk->mounted() ? "yes" : "";
  if (broadcast_text(comm(), mounted, 0, "test").empty()) GTEST_SKIP() << "needs to mount a tmpfs";
  const CheckpointStore store(directory());
  write_checkpoint(store.path(1), content(std::vector<float>(10, 1.0F)), comm());
  const std::vector<float> large(elements, 2.0F);
  const std::string text =
      common_error([&] { write_checkpoint(store.path(2), content(large), comm()); });
  EXPECT_THAT(text, AllOf(HasSubstr("reserve 4194304 bytes"), HasSubstr(store.path(2).string()),
                          HasSubstr("No space left on device"), HasSubstr("bytes are free")));
  EXPECT_EQ(store.newest_valid(comm()).entry->step, 1);
  EXPECT_FALSE(std::filesystem::exists(temporary_path(store.path(2))));
  comm().barrier("test");
}

}  // namespace
}  // namespace lockstep
