#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "lockstep/data/dataset.hpp"

#include "unit/data/fake_dataset.hpp"

namespace lockstep {
namespace {

/// FakeDataset with one thing changed.
class ChangedDataset : public FakeDataset {
 public:
  std::optional<std::int64_t> relabelled;
  std::optional<std::int64_t> repainted;
  std::int64_t classes = 10;

  using FakeDataset::FakeDataset;

  std::int64_t num_classes() const override { return classes; }
  std::int64_t label(std::int64_t id) const override {
    return id == relabelled ? 9 - FakeDataset::label(id) : FakeDataset::label(id);
  }
  std::int64_t read(std::int64_t id, std::span<float> image) const override {
    FakeDataset::read(id, image);
    if (id == repainted) image.back() += 1.0F;
    return label(id);
  }
};

// The constants are printed by reference_values.py.
TEST(Fingerprint, NeverChangesFromOneReleaseToTheNext) {
  EXPECT_EQ(fingerprint(FakeDataset(3)), "ca3dd22a2f9b71f3644195b7f43e3949");
  EXPECT_EQ(fingerprint(FakeDataset(1500)), "c82ad99595ba03c27dae66c241a1e68a");
}

TEST(Fingerprint, DiffersWhereTheDataDiffers) {
  ChangedDataset relabelled(1500);
  relabelled.relabelled = 1499;
  ChangedDataset repainted(1500);
  repainted.repainted = 0;
  ChangedDataset reclassed(1500);
  reclassed.classes = 11;
  const std::set<std::string> different{fingerprint(FakeDataset(1500)),
                                        fingerprint(relabelled),
                                        fingerprint(repainted),
                                        fingerprint(reclassed),
                                        fingerprint(FakeDataset(1501)),
                                        fingerprint(FakeDataset(1500, {}, {1, 2, 1})),
                                        fingerprint(FakeDataset(1500, {}, {2, 1, 1}))};
  EXPECT_EQ(different.size(), 7U);
}

TEST(Fingerprint, ReadsNoMoreThan1024Images) {
  std::set<std::int64_t> read;
  fingerprint(FakeDataset(100'000, [&](std::int64_t id) { read.insert(id); }));
  EXPECT_EQ(read.size(), 1024U);
  EXPECT_EQ(*read.begin(), 0);
  EXPECT_EQ(*read.rbegin(), 99'902);  // 1023 * 100000 / 1024
}

}  // namespace
}  // namespace lockstep
