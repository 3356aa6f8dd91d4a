#include "io/file_contents.hpp"

#include <optional>
#include <string_view>

#include "lockstep/base/error.hpp"

namespace lockstep {
namespace {

template <typename T>
const T* attribute_of(const std::vector<Attribute>& attributes, std::string_view name) {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == name) return std::get_if<T>(&attribute.value);
  }
  return nullptr;
}

Settings texts_among(std::vector<Attribute> attributes) {
  Settings settings;
  for (Attribute& attribute : attributes) {
    if (auto* text = std::get_if<std::string>(&attribute.value)) {
      settings.emplace_back(std::move(attribute.name), std::move(*text));
    }
  }
  return settings;
}

void check_format(const std::vector<Attribute>& attributes, const std::filesystem::path& path,
                  const FileFormat& format) {
  const std::string attempted = "open '" + path.string() + "'";
  const auto* name = attribute_of<std::string>(attributes, "format");
  const auto* found = attribute_of<std::int64_t>(attributes, "format_version");
  if (name == nullptr || found == nullptr || *name != format.name) {
    throw Error(attempted, "it is not a " + format.name + " file; its root attribute format is " +
                               (name == nullptr ? "missing" : "'" + *name + "'"));
  }
  if (*found > format.version) {
    throw Error(attempted,
                "it has format version " + std::to_string(*found) +
                    ", this program reads up to version " + std::to_string(format.version),
                "use the newer Lockstep that wrote it");
  }
}

ArrayInfo info_of(const hdf5::FileHandle& file, const std::string& name,
                  const std::filesystem::path& path) {
  const hdf5::ObjectHandle dataset = hdf5::open_object(file.get(), name);
  const std::optional<DType> dtype = hdf5::dtype_of(hdf5::type_of(dataset).get());
  if (!dtype) {
    throw Error("read data set '" + name + "' of '" + path.string() + "'",
                "its elements are of a type that Lockstep does not write");
  }
  ArrayInfo info{.path = name, .dtype = *dtype, .shape = hdf5::shape_of(dataset)};
  const std::vector<Attribute> attributes = hdf5::read_attributes(dataset.get());
  if (const auto* units = attribute_of<std::string>(attributes, "units")) info.units = *units;
  return info;
}

}  // namespace

FileContents contents_of(const hdf5::FileHandle& file, const std::filesystem::path& path,
                         const FileFormat& format) {
  FileContents contents;
  contents.attributes = hdf5::read_attributes(file.get());
  check_format(contents.attributes, path, format);
  const hdf5::Listing listing = hdf5::list_objects(file.get());
  for (const std::string& group : listing.groups) {
    const hdf5::ObjectHandle opened = hdf5::open_object(file.get(), group);
    contents.groups[group] = texts_among(hdf5::read_attributes(opened.get()));
  }
  for (const std::string& name : listing.datasets) {
    contents.arrays.push_back(info_of(file, name, path));
  }
  return contents;
}

std::string packed(const FileContents& contents) {
  Packer packer;
  pack(packer, contents.attributes);
  packer.add(static_cast<std::int64_t>(contents.groups.size()));
  for (const auto& [group, settings] : contents.groups) {
    packer.add(group);
    pack(packer, settings);
  }
  packer.add(static_cast<std::int64_t>(contents.arrays.size()));
  for (const ArrayInfo& info : contents.arrays) {
    packer.add(info.path);
    packer.add(name_of(info.dtype));
    packer.add(info.shape);
    packer.add(info.units);
  }
  return packer.bytes();
}

FileContents unpacked_contents(const std::string& message) {
  FileContents contents;
  Unpacker unpacker(message);
  contents.attributes = unpack_attributes(unpacker);
  for (std::int64_t count = unpacker.integer(); count > 0; --count) {
    std::string group = unpacker.text();
    contents.groups[group] = unpack_settings(unpacker);
  }
  for (std::int64_t count = unpacker.integer(); count > 0; --count) {
    ArrayInfo info;
    info.path = unpacker.text();
    info.dtype = dtype_named(unpacker.text());
    info.shape = unpacker.integers();
    info.units = unpacker.text();
    contents.arrays.push_back(std::move(info));
  }
  return contents;
}

}  // namespace lockstep
