#include "lockstep/data/cifar10.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lockstep/comm/agreement.hpp"
#include "lockstep/comm/mpi_communicator.hpp"
#include "lockstep/io/io_thread.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Folders written by make_data_files.py with Python's own bytes: file b of `whole` holds two
/// records; record r of all has label (3 r) % 10 and pixel i (r + i) % 256.
class Cifar10 : public testing::Test {
 protected:
  static std::string folder(const std::string& name) { return LOCKSTEP_DATA_FILES "/" + name; }

  Splits build(const Cifar10Options& options) {
    return Cifar10Builder(options).build(io_, *comm_, 42);
  }
  std::string refusal(const Cifar10Options& options) {
    try {
      build(options);
    } catch (const AgreedError& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::usage);
      return error.what();
    }
    return "accepted";
  }

  std::unique_ptr<MpiCommunicator> comm_ = MpiCommunicator::duplicate_world();
  IoThread io_;
};

TEST_F(Cifar10, ReadsTheFilesInOrder) {
  for (const char* name : {"cifar/cifar-10-batches-bin", "cifar"}) {
    const Splits splits = build({.train_data = folder(name)});
    ASSERT_EQ(splits.training->size(), 10);
    ASSERT_EQ(splits.validation->size(), 2);
    EXPECT_EQ(splits.training->image_shape(), (ImageShape{3, 32, 32}));
    EXPECT_EQ(splits.training->num_classes(), 10);
    std::vector<float> image(3072);
    for (std::int64_t id = 0; id < 10; ++id) {
      EXPECT_EQ(splits.training->read(id, image), 3 * id % 10);
      for (const std::int64_t i : {0, 1, 1024, 3071}) {
        EXPECT_EQ(image[static_cast<std::size_t>(i)], static_cast<float>((id + i) % 256) / 255.0F);
      }
    }
    EXPECT_EQ(splits.validation->read(1, image), 3);  // record 11
    EXPECT_EQ(image[0], 11 / 255.0F);
    EXPECT_EQ(splits.fingerprint, fingerprint(*splits.training));
  }
}

TEST_F(Cifar10, SaysWhatIsWrongWithTheFiles) {
  EXPECT_THAT(refusal({}), HasSubstr("no folder is named"));
  EXPECT_THAT(refusal({.train_data = folder("nowhere")}),
              AllOf(HasSubstr("nowhere"), HasSubstr("no such folder")));
  EXPECT_THAT(refusal({.train_data = folder("cifar_missing")}),
              AllOf(HasSubstr("data_batch_4.bin: No such file"), HasSubstr("test_batch.bin")));
  EXPECT_THAT(refusal({.train_data = folder("cifar_short")}),
              AllOf(HasSubstr("data_batch_2.bin"), HasSubstr("6145 bytes"), HasSubstr("3073")));
  EXPECT_THAT(refusal({.train_data = folder("cifar_label")}),
              AllOf(HasSubstr("test_batch.bin"), HasSubstr("record 1 has label 10")));
  EXPECT_THAT(
      refusal({.train_data = folder("cifar"), .image = {.in_channels = 1, .num_classes = 10}}),
      AllOf(HasSubstr("3 x 32 x 32"), HasSubstr("in_channels = 1")));
  EXPECT_THAT(refusal({.train_data = folder("cifar"), .image = {.num_classes = 100}}),
              AllOf(HasSubstr("10 classes"), HasSubstr("num_classes = 100")));
}

}  // namespace
}  // namespace lockstep
