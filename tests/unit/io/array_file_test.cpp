#include "lockstep/io/array_file.hpp"

#include <cstring>
#include <numeric>

#include <gmock/gmock.h>

#include "lockstep/base/shares.hpp"
#include "lockstep/comm/self_communicator.hpp"

#include "unit/io/shared_directory.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const FileFormat format{.name = "lockstep.test", .version = 3, .user_block = true};

template <typename T>
std::vector<T> counting(std::int64_t count, T first) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

class ArrayFile : public SharedDirectoryTest {
 protected:
  std::filesystem::path path() const { return directory() / "file.h5"; }
  std::filesystem::path temporary() const { return directory() / "file.h5.tmp"; }

  WriteReport write(const std::vector<ArrayView>& arrays, const WriteOptions& options = {}) {
    return write_array_file(path(), format, {.arrays = arrays, .attributes = {}, .groups = {}},
                            comm(), options);
  }
  ArrayFileReader reader() { return ArrayFileReader(path(), format, comm()); }

  template <typename T>
  std::vector<T> whole(ArrayFileReader& file, std::string_view dataset) {
    const std::vector<std::byte> bytes = file.read(dataset);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

TEST_F(ArrayFile, ReplicatedArraysComeBackOnEveryRank) {
  const auto weight = counting<float>(7 * 5, 0.5F);
  const auto bias = counting<double>(2, 10.0);
  const std::int64_t step = 42;
  write({{"/model/w", DType::float32, {7, 5}, weight.data()},
         {"/model/b", DType::float64, {2}, bias.data()},
         {"/model/steps", DType::int64, {}, &step}});

  std::vector<float> w(35);
  std::vector<double> b(2);
  std::int64_t steps = 0;
  auto file = reader();
  file.read({"/model/w", DType::float32, {7, 5}, w.data()});
  file.read({"/model/b", DType::float64, {2}, b.data()});
  file.read({"/model/steps", DType::int64, {}, &steps});
  EXPECT_EQ(w, weight);
  EXPECT_EQ(b, bias);
  EXPECT_EQ(steps, 42);
}

TEST_F(ArrayFile, EachRankGetsBackItsRow) {
  const auto row = counting<std::uint8_t>(6, static_cast<std::uint8_t>(10 * rank()));
  const auto numbers = counting<std::int64_t>(4, 100 * rank());
  write({{"/rng", DType::uint8, {size(), 6}, row.data(), Placement::per_rank},
         {"/rank", DType::int64, {size(), 4}, numbers.data(), Placement::per_rank}});

  std::vector<std::uint8_t> own_row(6);
  std::vector<std::int64_t> own_numbers(4);
  auto file = reader();
  file.read({"/rng", DType::uint8, {size(), 6}, own_row.data(), Placement::per_rank});
  file.read({"/rank", DType::int64, {size(), 4}, own_numbers.data(), Placement::per_rank});
  EXPECT_EQ(own_row, row);
  EXPECT_EQ(own_numbers, numbers);

  const auto all = whole<std::int64_t>(file, "/rank");
  for (int i = 0; i < 4; ++i) {
    for (int r = 0; r < size(); ++r) {
      EXPECT_EQ(all[static_cast<std::size_t>(4 * r + i)], 100 * r + i);
    }
  }
}

TEST_F(ArrayFile, LargeArraysComeBack) {
  // Above 1 MiB they are neither written through aggregators nor read when the file is opened.
  const auto weight = counting<float>(1 << 20, 0.0F);
  const auto row = counting<std::int64_t>(1 << 18, 1000 * rank());
  write({{"/w", DType::float32, {1 << 20}, weight.data()},
         {"/r", DType::int64, {size(), 1 << 18}, row.data(), Placement::per_rank}});
  std::vector<float> w(1 << 20);
  std::vector<std::int64_t> r(1 << 18);
  auto file = reader();
  file.read({"/w", DType::float32, {1 << 20}, w.data()});
  file.read({"/r", DType::int64, {size(), 1 << 18}, r.data(), Placement::per_rank});
  EXPECT_EQ(w, weight);
  EXPECT_EQ(r, row);
}

TEST_F(ArrayFile, RowsOfAllRanksAreJoinedInTheirOrder) {
  // Values count through the joined array; on three ranks the second array has a row for two.
  std::vector<ArrayView> arrays;
  std::vector<std::vector<double>> held;
  for (const std::int64_t rows : {7, 2}) {
    const Share share = balanced_share(rows, rank(), size());
    held.push_back(counting<double>(static_cast<std::size_t>(3 * share.count),
                                    3.0 * static_cast<double>(share.start)));
    arrays.push_back({.path = "/rows" + std::to_string(rows),
                      .dtype = DType::float64,
                      .shape = {rows, 3},
                      .data = held.back().data(),
                      .placement = Placement::rows});
  }
  EXPECT_EQ(write(arrays).collective_writes, 1);
  auto file = reader();
  EXPECT_EQ(whole<double>(file, "/rows7"), counting<double>(21, 0.0));
  EXPECT_EQ(whole<double>(file, "/rows2"), counting<double>(6, 0.0));
}

TEST_F(ArrayFile, OfARootsArrayRankZerosContentCounts) {
  const auto mine = counting<double>(5, 1000.0 * rank());
  write({{"/epoch/seconds", DType::float64, {5}, mine.data(), Placement::from_root}});
  auto file = reader();
  EXPECT_EQ(whole<double>(file, "/epoch/seconds"), counting<double>(5, 0.0));
}

TEST_F(ArrayFile, EveryElementTypeKeepsItsBits) {
  const auto bytes = counting<std::uint8_t>(48, 3);
  std::vector<ArrayView> arrays;
  const DType types[] = {DType::uint8,    DType::int32,   DType::int64,  DType::float16,
                         DType::bfloat16, DType::float32, DType::float64};
  for (const DType type : types) {
    arrays.push_back({.path = "/" + std::string(name_of(type)),
                      .dtype = type,
                      .shape = {static_cast<std::int64_t>(48 / size_of(type))},
                      .data = bytes.data()});
  }
  write(arrays);
  auto file = reader();
  for (const ArrayView& array : arrays) {
    ASSERT_NE(file.find(array.path), nullptr);
    EXPECT_EQ(file.find(array.path)->dtype, array.dtype);
    EXPECT_EQ(whole<std::uint8_t>(file, array.path), bytes) << array.path;
  }
}

TEST_F(ArrayFile, ArraysWithoutElementsAreKept) {
  write({{"/none", DType::float32, {0}, nullptr},
         {"/rows", DType::int64, {size(), 0}, nullptr, Placement::per_rank}});
  auto file = reader();
  EXPECT_EQ(file.find("/none")->shape, (std::vector<std::int64_t>{0}));
  EXPECT_TRUE(file.read("/none").empty());
  file.read({"/rows", DType::int64, {size(), 0}, nullptr, Placement::per_rank});
}

TEST_F(ArrayFile, AllArraysAreWrittenByOneCollectiveCall) {
  // Among them a scalar and one that only rank 0 writes.
  const auto values = counting<float>(1000, 0.0F);
  const WriteReport report =
      write({{"/one", DType::float32, {1}, values.data()},
             {"/scalar", DType::float32, {}, values.data()},
             {"/root", DType::float32, {10}, values.data(), Placement::from_root},
             {"/shared", DType::float32, {100, 10}, values.data()}});
  EXPECT_EQ(report.collective_writes, 1);
  EXPECT_EQ(report.file_bytes, static_cast<std::int64_t>(std::filesystem::file_size(path())));
}

TEST_F(ArrayFile, RanksWithNothingToWriteTakePart) {
  const std::uint8_t value = 7;
  EXPECT_EQ(write({{"/one", DType::uint8, {1}, &value}}).collective_writes, 1);
  auto file = reader();
  EXPECT_EQ(whole<std::uint8_t>(file, "/one"), std::vector<std::uint8_t>{7});
}

TEST_F(ArrayFile, WritesAboveTheLimitAreCutWithoutChangingTheFile) {
  const auto values = counting<double>(33 * 7, 0.0);
  const auto row = counting<std::int64_t>(50, 1000 * rank());
  const std::vector<ArrayView> arrays = {
      {"/w", DType::float64, {33, 7}, values.data()},
      {"/c", DType::int64, {size(), 50}, row.data(), Placement::per_rank}};
  write(arrays);
  const std::string in_one = content_of(path());
  comm().barrier("test");
  // Rank 0 has the most: its balanced share of 33 * 7 * 8 bytes and a row of 400.
  const std::int64_t most = balanced_share(33 * 7 * 8, 0, size()).count + 400;
  EXPECT_EQ(write(arrays, {.largest_transfer = 64}).collective_writes, ceil_div(most, 64));
  EXPECT_EQ(content_of(path()), in_one);
}

TEST_F(ArrayFile, EqualContentGivesEqualBytes) {
  const auto values = counting<float>(5000, 0.0F);
  const auto contents = [&] {
    write({{"/model/w", DType::float32, {5000}, values.data(), Placement::replicated, "1"}});
    std::string content = content_of(path());
    comm().barrier("test");
    return content;
  };
  const std::string first = contents();
  EXPECT_EQ(contents(), first);
}

TEST_F(ArrayFile, AttributesAndSettingsAreRankZeros) {
  const std::string mine = "of rank " + std::to_string(rank());
  const Content content{
      .arrays = {},
      .attributes = {{"step", std::int64_t{12} + rank()}, {"lr", 0.25}, {"who", mine}},
      .groups = {{"/config", {{"seed", "1"}, {"empty", ""}, {"host", mine}}}, {"/none", {}}}};
  write_array_file(path(), format, content, comm());
  auto file = reader();
  const auto value = [&](std::string_view name) {
    for (const Attribute& attribute : file.attributes()) {
      if (attribute.name == name) return attribute.value;
    }
    return AttributeValue("missing");
  };
  EXPECT_EQ(value("step"), AttributeValue(std::int64_t{12}));
  EXPECT_EQ(value("lr"), AttributeValue(0.25));
  EXPECT_EQ(value("who"), AttributeValue("of rank 0"));
  EXPECT_EQ(value("format"), AttributeValue("lockstep.test"));
  EXPECT_EQ(value("format_version"), AttributeValue(std::int64_t{3}));
  using Settings = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(file.settings("/config"),
            (Settings{{"empty", ""}, {"host", "of rank 0"}, {"seed", "1"}}));
  EXPECT_EQ(file.settings("/none"), Settings{});
  EXPECT_EQ(file.settings("/nowhere"), Settings{});
}

TEST_F(ArrayFile, UnitsAndTheListOfArraysAreRead) {
  const auto values = counting<float>(6, 0.0F);
  write({{"/b", DType::float32, {2, 3}, values.data(), Placement::replicated, "s"},
         {"/a/z.w", DType::float32, {6}, values.data()}});
  const auto file = reader();
  ASSERT_EQ(file.arrays().size(), 2U);
  EXPECT_EQ(file.arrays()[0].path, "/a/z.w");
  EXPECT_EQ(file.arrays()[0].units, "");
  EXPECT_EQ(file.arrays()[1].path, "/b");
  EXPECT_EQ(file.arrays()[1].units, "s");
  EXPECT_EQ(file.arrays()[1].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(file.find("/a"), nullptr);
}

TEST_F(ArrayFile, AFileByManyRanksIsReadByOneProcess) {
  const auto values = counting<float>(100, 0.0F);
  write({{"/w", DType::float32, {100}, values.data()}});
  SelfCommunicator alone;
  ArrayFileReader file(path(), format, alone);
  EXPECT_EQ(whole<float>(file, "/w"), values);
}

TEST_F(ArrayFile, OneProcessWritesWithoutMpi) {
  SelfCommunicator alone;
  const auto own = directory() / ("alone" + std::to_string(rank()) + ".h5");
  const auto values = counting<float>(100, 0.0F);
  const Content content{
      .arrays = {{"/w", DType::float32, {100}, values.data()}}, .attributes = {}, .groups = {}};
  const WriteReport report = write_array_file(own, format, content, alone);
  EXPECT_EQ(report.collective_writes, 0);
  ArrayFileReader file(own, format, alone);
  EXPECT_EQ(whole<float>(file, "/w"), values);
}

TEST_F(ArrayFile, WhatDoesNotFitIsRefusedNamingFileDataSetExpectedAndFound) {
  const auto values = counting<float>(6, 0.0F);
  write({{"/w", DType::float32, {2, 3}, values.data()}});
  auto file = reader();
  std::vector<double> memory(100);
  const auto error_of = [&](const ArrayTarget& target) {
    return common_error([&] { file.read(target); });
  };
  EXPECT_THAT(error_of({"/w", DType::float32, {3, 2}, memory.data()}),
              AllOf(HasSubstr(path().string()), HasSubstr("'/w'"),
                    HasSubstr("expected float32 [3, 2], found float32 [2, 3]")));
  EXPECT_THAT(error_of({"/w", DType::float64, {2, 3}, memory.data()}),
              HasSubstr("expected float64 [2, 3], found float32 [2, 3]"));
  EXPECT_THAT(error_of({"/v", DType::float64, {}, memory.data()}),
              AllOf(HasSubstr("'/v'"), HasSubstr("found no such data set")));
  EXPECT_THAT(common_error([&] { file.read("/v"); }), HasSubstr("'/v'"));
  EXPECT_THAT(error_of({"/w", DType::float32, {2, 3}, memory.data(), Placement::rows}),
              HasSubstr("for writing only"));
}

TEST_F(ArrayFile, RowsOfAnotherNumberOfRanksAreRefused) {
  const int others = size() + 1;
  const auto values = counting<std::uint8_t>(others, 0);
  write({{"/rng", DType::uint8, {others, 1}, values.data()}});
  auto file = reader();
  std::uint8_t row = 0;
  EXPECT_THAT(common_error([&] {
                file.read({"/rng", DType::uint8, {others, 1}, &row, Placement::per_rank});
              }),
              HasSubstr("must be the number of ranks, " + std::to_string(size())));
}

TEST_F(ArrayFile, MalformedArraysAreRefusedBeforeAnythingIsWritten) {
  const float value = 1;
  for (const char* bad : {"w", "/", "/w/", "/a//w", ""}) {
    EXPECT_THAT(common_error([&] {
                  write({{bad, DType::float32, {}, &value}});
                }),
                HasSubstr("the path must look like"));
  }
  EXPECT_THAT(common_error([&] {
                write({{"/w", DType::float32, {-1}, &value}});
              }),
              HasSubstr("negative extent"));
  EXPECT_THAT(common_error([&] {
                write({{"/w", DType::float32, {2}, nullptr}});
              }),
              HasSubstr("no data"));
  EXPECT_THAT(common_error([&] {
                write({{"/w", DType::float32, {size() + 1}, &value, Placement::per_rank}});
              }),
              HasSubstr("must be the number of ranks"));
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
}

TEST_F(ArrayFile, TheSamePathTwiceIsRefusedAndLeavesNothing) {
  const float value = 1;
  EXPECT_THAT(common_error([&] {
                write({{"/w", DType::float32, {}, &value}, {"/w", DType::float32, {}, &value}});
              }),
              AllOf(HasSubstr("'/w'"), HasSubstr("already exists")));
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
}

TEST_F(ArrayFile, ListsThatDifferBetweenRanksAreRefusedNamingTheDifference) {
  if (size() == 1) GTEST_SKIP() << "needs two ranks";
  const float values[2] = {1, 2};
  const std::int64_t extent = rank() == size() - 1 ? 2 : 1;
  EXPECT_THAT(
      common_error([&] {
        write({{"/a", DType::float32, {}, values}, {"/w", DType::float32, {extent}, values}});
      }),
      AllOf(HasSubstr("on rank " + std::to_string(size() - 1)), HasSubstr("'/w', float32 [2]"),
            HasSubstr("rank 0 has '/w', float32 [1]")));
  std::vector<ArrayView> arrays = {{"/a", DType::float32, {}, values}};
  arrays[0].units = rank() == 1 ? "s" : "";
  EXPECT_THAT(common_error([&] { write(arrays); }), HasSubstr("units 's' here where rank 0 has"));
  if (rank() == 1) arrays.clear();
  EXPECT_THAT(common_error([&] { write(arrays); }), HasSubstr("none here where rank 0 has '/a'"));
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
}

TEST_F(ArrayFile, AMissingDirectoryFailsOnAllRanks) {
  const float value = 1;
  const Content content{
      .arrays = {{"/w", DType::float32, {}, &value}}, .attributes = {}, .groups = {}};
  const auto nowhere = directory() / "none" / "file.h5";
  EXPECT_THAT(common_error([&] { write_array_file(nowhere, format, content, comm()); }),
              AllOf(HasSubstr(nowhere.string()), HasSubstr("No such file or directory")));
}

TEST_F(ArrayFile, AMissingFileFailsOnAllRanks) {
  EXPECT_THAT(common_error([&] { reader(); }),
              AllOf(HasSubstr(path().string()), HasSubstr("No such file or directory")));
}

TEST_F(ArrayFile, GarbageFailsOnAllRanks) {
  on_rank_0([&] { put_content(path(), std::string(10000, 'g')); });
  EXPECT_THAT(common_error([&] { reader(); }),
              AllOf(HasSubstr(path().string()), HasSubstr("mark of a finished file")));
  const FileFormat bare{.name = "lockstep.test", .version = 1, .user_block = false};
  EXPECT_THAT(common_error([&] { ArrayFileReader(path(), bare, comm()); }),
              AllOf(HasSubstr(path().string()), HasSubstr("file signature not found")));
}

TEST_F(ArrayFile, AFileCutShortFailsOnAllRanks) {
  const auto values = counting<float>(1000, 0.0F);
  write({{"/w", DType::float32, {1000}, values.data()}});
  on_rank_0([&] { std::filesystem::resize_file(path(), std::filesystem::file_size(path()) - 1); });
  EXPECT_THAT(common_error([&] { reader(); }), HasSubstr("truncated: "));
}

TEST_F(ArrayFile, AnotherFormatIsRefusedNamingBoth) {
  write({});
  const FileFormat other{.name = "lockstep.other", .version = 3, .user_block = true};
  EXPECT_THAT(common_error([&] { ArrayFileReader(path(), other, comm()); }),
              AllOf(HasSubstr("lockstep.other"), HasSubstr("'lockstep.test'")));
}

TEST_F(ArrayFile, ANewerVersionIsRefusedNamingBothAndAnOlderOneIsRead) {
  write({});
  const FileFormat older{.name = "lockstep.test", .version = 2, .user_block = true};
  EXPECT_THAT(common_error([&] { ArrayFileReader(path(), older, comm()); }),
              AllOf(HasSubstr("version 3"), HasSubstr("version 2")));
  const FileFormat newer{.name = "lockstep.test", .version = 4, .user_block = true};
  EXPECT_NO_THROW(ArrayFileReader(path(), newer, comm()));
}

TEST_F(ArrayFile, AReaderThatHasTheOldFileOpenIsNoHindrance) {
  const auto first = counting<float>(100, 0.0F);
  const auto second = counting<float>(100, 7.0F);
  write({{"/w", DType::float32, {100}, first.data()}});
  auto old_file = reader();
  write({{"/w", DType::float32, {100}, second.data()}});
  auto new_file = reader();
  EXPECT_EQ(whole<float>(old_file, "/w"), first);
  EXPECT_EQ(whole<float>(new_file, "/w"), second);
  EXPECT_FALSE(std::filesystem::exists(temporary()));
}

}  // namespace
}  // namespace lockstep
