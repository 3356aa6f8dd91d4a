// A checkpoint of several MB with every kind of damage that a disk may do to it: never taken for
// good, never given to HDF5.
#include <random>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/self_communicator.hpp"
#include "lockstep/io/checkpoint_store.hpp"
#include "lockstep/io/sealed_file.hpp"

#include "io/posix_file.hpp"
#include "support/temporary_directory.hpp"

namespace lockstep {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Two checkpoints, of step 1 and of step 2, the second of which is to be damaged.
class Damage : public testing::Test {
 protected:
  Damage() : store_(directory_.path()), path_(store_.path(2)) {
    std::vector<float> weights(1'500'000);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
    const std::int64_t steps = 2;
    const Content content{
        .arrays = {{"/model/stem.weight", DType::float32, {1000, 1200}, weights.data()},
                   {"/model/fc.weight", DType::float32, {300'000}, weights.data()},
                   {"/sampler/global_step", DType::int64, {}, &steps}},
        .attributes = {{"lr", 0.5}},
        .groups = {{"/config", {{"batch_size", "128"}}}}};
    for (const std::int64_t step : {1, 2}) write_checkpoint(store_.path(step), content, alone_);
    bytes_ = static_cast<std::int64_t>(std::filesystem::file_size(path_));
    file_ = open_file(path_, O_RDWR, "open");
  }

  /// What verification says; empty where it takes the file for good.
  std::string verdict() {
    try {
      verify_sealed_file(path_, checkpoint_format(), alone_);
    } catch (const AgreedError& error) {
      return error.reason();
    }
    return {};
  }
  void flip(std::int64_t bit) {
    std::byte byte{};
    read_at(file_, path_, bit / 8, std::span(&byte, 1));
    byte ^= static_cast<std::byte>(1 << (bit % 8));
    write_at(file_, path_, bit / 8, std::span(&byte, 1));
  }
  void expect_found(std::int64_t bit) {
    flip(bit);
    // A flip in the first eight bytes takes the mark away.
    EXPECT_THAT(verdict(), bit < 64 ? HasSubstr("mark") : HasSubstr("damaged: ")) << "bit " << bit;
    flip(bit);
  }
  /// The newest checkpoint that can be used, by the way that a resumed run takes.
  std::int64_t newest() {
    const NewestCheckpoint found = store_.newest_valid(alone_);
    return found.entry ? found.entry->step : -1;
  }

  SelfCommunicator alone_;
  TemporaryDirectory directory_;
  CheckpointStore store_;
  std::filesystem::path path_;
  std::int64_t bytes_ = 0;
  FileDescriptor file_;
};

TEST_F(Damage, IsNotSeenInAGoodFile) {
  EXPECT_GT(bytes_, std::int64_t{5} << 20);
  EXPECT_EQ(verdict(), "");
  EXPECT_EQ(newest(), 2);
}

TEST_F(Damage, OfAnyBitOfTheUserBlockIsFound) {
  for (std::int64_t bit = 0; bit < 512 * 8; ++bit) expect_found(bit);
  EXPECT_EQ(verdict(), "");
}

TEST_F(Damage, OfAnyBitOfTheListOfHashesIsFound) {
  for (std::int64_t bit = 8 * (bytes_ - 2 * 16); bit < 8 * bytes_; ++bit) expect_found(bit);
  EXPECT_EQ(verdict(), "");
}

TEST_F(Damage, OfTwoThousandBitsAnywhereIsFound) {
  std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same bits each time
  for (int i = 0; i < 2000; ++i) expect_found(static_cast<std::int64_t>(random() % (8 * bytes_)));
  EXPECT_EQ(verdict(), "");
}

TEST_F(Damage, OfBitsOfHdf5sOwnTablesIsFound) {
  // The superblock and the first object headers, where a flipped bit can crash the library.
  for (std::int64_t bit = 512 * 8; bit < 2048 * 8; bit += 5) expect_found(bit);
}

TEST_F(Damage, ByTruncationIsFoundAtEvery4KiB) {
  for (std::int64_t length = (bytes_ - 1) / 4096 * 4096; length >= 0; length -= 4096) {
    std::filesystem::resize_file(path_, static_cast<std::uintmax_t>(length));
    const std::string expected =
        "truncated: " + std::to_string(length) + " of " + std::to_string(bytes_) + " bytes";
    EXPECT_EQ(verdict(),
              length > 0 ? expected : "it does not begin with Lockstep's mark of a finished file");
  }
}

TEST_F(Damage, ByTruncationWithinTheFirstBlockIsFound) {
  for (std::uintmax_t length = 512; length-- > 0;) {
    std::filesystem::resize_file(path_, length);
    EXPECT_NE(verdict(), "") << length;
  }
}

TEST_F(Damage, ByZeroedOrSwappedPagesIsFound) {
  // A crash of a machine may lose pages, and a failing controller may misplace them.
  std::vector<std::byte> page(4096);
  std::vector<std::byte> other(4096);
  const std::vector<std::byte> zeros(4096);
  for (std::int64_t at = 8192; at + 8192 < bytes_; at += 512 * 1024) {
    read_at(file_, path_, at, page);
    read_at(file_, path_, at + 4096, other);
    write_at(file_, path_, at, zeros);
    EXPECT_THAT(verdict(), StartsWith("damaged: block")) << at;
    write_at(file_, path_, at, other);
    write_at(file_, path_, at + 4096, page);
    EXPECT_THAT(verdict(), StartsWith("damaged: block")) << at;
    write_at(file_, path_, at, page);
    write_at(file_, path_, at + 4096, other);
  }
  EXPECT_EQ(verdict(), "");
}

TEST_F(Damage, MakesARunGoOnFromTheOneBefore) {
  std::mt19937_64 random(2);  // NOLINT(cert-msc51-cpp)
  for (int i = 0; i < 100; ++i) {
    // Half of them in the first few KiB.
    const auto bit = static_cast<std::int64_t>(random() % (i % 2 == 0 ? 8 * 4096 : 8 * bytes_));
    flip(bit);
    EXPECT_EQ(newest(), 1) << "bit " << bit;
    flip(bit);
  }
  for (std::int64_t length = bytes_ - 1; length > 0; length -= 256 * 1024) {
    std::filesystem::resize_file(path_, static_cast<std::uintmax_t>(length));
    EXPECT_EQ(newest(), 1) << length;
  }
}

}  // namespace
}  // namespace lockstep
