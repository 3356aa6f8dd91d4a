#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "lockstep/base/error.hpp"
#include "lockstep/comm/mpi_communicator.hpp"

#include "support/temporary_directory.hpp"

namespace lockstep {

/// A test on all ranks, with a directory that they share.
class SharedDirectoryTest : public testing::Test {
 protected:
  SharedDirectoryTest() : comm_(MpiCommunicator::duplicate_world()) {
    if (rank() == 0) directory_ = std::make_unique<TemporaryDirectory>();
    path_ = broadcast_text(*comm_, directory_ ? directory_->path().string() : "", 0, "test");
  }
  ~SharedDirectoryTest() override { comm_->barrier("end of test"); }

  int rank() const { return comm_->rank(); }
  int size() const { return comm_->size(); }
  Communicator& comm() { return *comm_; }
  const std::filesystem::path& directory() const { return path_; }

  /// What `work` throws, as text; also fails the test unless all ranks threw the same.
  template <typename F>
  std::string common_error(F&& work) {
    std::string text;
    try {
      work();
    } catch (const Error& error) {
      text = error.what();
    }
    EXPECT_NE(text, "");
    for (const std::string& other : all_gather_text(*comm_, text, "test")) EXPECT_EQ(other, text);
    return text;
  }

  /// Has rank 0 do `work` while the others wait.
  template <typename F>
  void on_rank_0(F&& work) {
    if (rank() == 0) work();
    comm_->barrier("test");
  }

 private:
  std::unique_ptr<MpiCommunicator> comm_;
  std::unique_ptr<TemporaryDirectory> directory_;
  std::filesystem::path path_;
};

}  // namespace lockstep
