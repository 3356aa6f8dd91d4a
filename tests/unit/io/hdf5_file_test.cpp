#include "lockstep/io/hdf5_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include "lockstep/base/error.hpp"

#include "io/posix_file.hpp"
#include "support/temporary_directory.hpp"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Made by make_h5py_file.py; its values are repeated here.
constexpr const char* h5py_file = LOCKSTEP_H5PY_FILE;

template <typename T>
std::vector<T> values(const Hdf5File& file, std::string_view dataset, DType dtype,
                      std::size_t count) {
  std::vector<T> result(count);
  file.read(dataset, dtype, std::as_writable_bytes(std::span(result)));
  return result;
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Hdf5File, ListsTheDataSetsThatHardLinksReach) {
  const Hdf5File file(h5py_file);
  EXPECT_THAT(file.datasets(), ElementsAre("/half", "/none", "/scalar", "/small", "/text",
                                           "/train/images", "/train/labels"));
  EXPECT_TRUE(file.contains("/train/labels"));
  EXPECT_FALSE(file.contains("/train"));
  EXPECT_FALSE(file.contains("/dangling"));
}

TEST(Hdf5File, TellsShapesAndElementTypes) {
  const Hdf5File file(h5py_file);
  EXPECT_THAT(file.shape("/train/images"), ElementsAre(4, 3, 2));
  EXPECT_EQ(file.dtype("/train/images"), DType::uint8);
  EXPECT_EQ(file.dtype("/train/labels"), DType::int64);
  EXPECT_EQ(file.dtype("/half"), DType::float16);
  EXPECT_EQ(file.dtype("/scalar"), DType::float64);
  EXPECT_EQ(file.dtype("/small"), std::nullopt);
  EXPECT_EQ(file.dtype("/text"), std::nullopt);
  EXPECT_THAT(file.shape("/scalar"), ElementsAre());
}

TEST(Hdf5File, TellsElementTypesThatAreNoDType) {
  const Hdf5File file(h5py_file);
  using Kind = ElementType::Kind;
  EXPECT_EQ(file.element_type("/small").kind, Kind::integer);
  EXPECT_EQ(file.element_type("/small").name, "int16");
  EXPECT_EQ(file.element_type("/train/images").name, "uint8");
  EXPECT_FALSE(file.element_type("/train/images").is_signed);
  EXPECT_EQ(file.element_type("/half").kind, Kind::floating_point);
  EXPECT_EQ(file.element_type("/half").bits, 16);
  EXPECT_EQ(file.element_type("/text").kind, Kind::other);
  EXPECT_EQ(file.element_type("/text").name, "text");
}

TEST(Hdf5File, ReadsWholeDataSetsWhateverTheirLayoutAndByteOrder) {
  const Hdf5File file(h5py_file);
  const auto images = values<std::uint8_t>(file, "/train/images", DType::uint8, 24);
  for (std::size_t i = 0; i < images.size(); ++i) EXPECT_EQ(images[i], i);
  EXPECT_THAT(values<std::int64_t>(file, "/train/labels", DType::int64, 4),
              ElementsAre(3, 1, 4, 1));
  EXPECT_THAT(values<double>(file, "/scalar", DType::float64, 1), ElementsAre(2.25));
  EXPECT_TRUE(values<float>(file, "/none", DType::float32, 0).empty());
}

TEST(Hdf5File, ConvertsBetweenKindsOfNumbers) {
  const Hdf5File file(h5py_file);
  EXPECT_THAT(values<std::int64_t>(file, "/small", DType::int64, 2), ElementsAre(-1, 300));
  EXPECT_THAT(values<float>(file, "/half", DType::float32, 2), ElementsAre(1.5F, -2.0F));
}

TEST(Hdf5File, ReadsARangeOfRows) {
  const Hdf5File file(h5py_file);
  std::vector<std::uint8_t> rows(12);
  const auto into = std::as_writable_bytes(std::span(rows));
  file.read_rows("/train/images", DType::uint8, 1, 2, into);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], i + 6);
  file.read_rows("/train/images", DType::uint8, 4, 0, {});
  EXPECT_THAT(error_of([&] { file.read_rows("/train/images", DType::uint8, 3, 2, into); }),
              HasSubstr("uint8 [4, 3, 2]"));
}

TEST(Hdf5File, MemoryOfTheWrongSizeIsRefused) {
  const Hdf5File file(h5py_file);
  std::vector<std::byte> memory(23);
  EXPECT_THAT(error_of([&] { file.read("/train/images", DType::uint8, memory); }),
              AllOf(HasSubstr("/train/images"), HasSubstr("24 bytes"), HasSubstr("23")));
}

TEST(Hdf5File, ReadsNumbersAndStringsAmongAttributes) {
  const Hdf5File file(h5py_file);
  EXPECT_EQ(file.attribute("/", "title"), AttributeValue("pictures"));
  EXPECT_EQ(file.attribute("/", "fixed"), AttributeValue("abc"));
  EXPECT_EQ(file.attribute("/", "empty"), AttributeValue(""));
  EXPECT_EQ(file.attribute("/", "classes"), AttributeValue(std::int64_t{10}));
  EXPECT_EQ(file.attribute("/", "mean"), AttributeValue(0.5));
  EXPECT_EQ(file.attribute("/", "names"), std::nullopt);
  EXPECT_EQ(file.attribute("/", "missing"), std::nullopt);
  EXPECT_EQ(file.attribute("/train/images", "units"), AttributeValue("1"));
  EXPECT_EQ(file.attributes("/").size(), 5U);
}

TEST(Hdf5File, ErrorsNameTheFileAndTheDataSet) {
  const Hdf5File file(h5py_file);
  EXPECT_THAT(error_of([&] { static_cast<void>(file.shape("/trian/images")); }),
              AllOf(HasSubstr("/trian/images"), HasSubstr(h5py_file)));
  EXPECT_THAT(error_of([] { Hdf5File("/nonexistent/data.h5"); }),
              AllOf(HasSubstr("/nonexistent/data.h5"), HasSubstr("No such file or directory")));
}

TEST(Hdf5File, AFileThatIsNotHdf5IsRefusedWithTheLibrarysReason) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "data.h5";
  put_content(path, std::string(5000, 'g'));
  EXPECT_THAT(error_of([&] { Hdf5File{path}; }),
              AllOf(HasSubstr(path.string()), HasSubstr("file signature not found")));
}

TEST(Hdf5File, AFileLockedByAnotherIsRefusedNamingTheSetting) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "data.h5";
  std::filesystem::copy_file(h5py_file, path);
  const FileDescriptor other = open_file(path, O_RDWR, "open");
  ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_THAT(error_of([&] { Hdf5File{path}; }), AllOf(HasSubstr(path.string()), HasSubstr("lock"),
                                                       HasSubstr("HDF5_USE_FILE_LOCKING=FALSE")));
}

}  // namespace
}  // namespace lockstep
