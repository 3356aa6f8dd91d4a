#include <cstring>

#include "io/hdf5.hpp"

namespace lockstep::hdf5 {
namespace {

Datatype text_type(std::size_t size) {
  const char* attempted = "make an HDF5 string type";
  Datatype type(checked(H5Tcopy(H5T_C_S1), attempted));
  check_status(H5Tset_size(type.get(), size), attempted);
  check_status(H5Tset_cset(type.get(), H5T_CSET_UTF8), attempted);
  return type;
}

void write_one(hid_t object, const std::string& name, hid_t in_file, hid_t in_memory,
               const void* value) {
  const std::string attempted = "write attribute '" + name + "'";
  const Dataspace space(checked(H5Screate(H5S_SCALAR), attempted));
  const AttributeHandle attribute(checked(
      H5Acreate2(object, name.c_str(), in_file, space.get(), H5P_DEFAULT, H5P_DEFAULT), attempted));
  check_status(H5Awrite(attribute.get(), in_memory, value), attempted);
}

/// What HDF5 allocated for a string of variable length.
struct LibraryMemoryTraits {
  using type = char*;
  static char* empty() { return nullptr; }
  static void release(char* memory) noexcept { H5free_memory(memory); }
};

std::string read_text(const AttributeHandle& attribute, const Datatype& type,
                      const std::string& attempted) {
  // Read in the file's own character set: HDF5 does not convert between them.
  if (H5Tis_variable_str(type.get()) > 0) {
    char* memory = nullptr;
    check_status(H5Aread(attribute.get(), type.get(), &memory), attempted);
    const UniqueHandle<LibraryMemoryTraits> owner(memory);
    return memory == nullptr ? std::string() : std::string(memory);
  }
  std::string text(H5Tget_size(type.get()), '\0');
  check_status(H5Aread(attribute.get(), type.get(), text.data()), attempted);
  text.resize(::strnlen(text.data(), text.size()));
  return text;
}

struct NameCollector {
  std::vector<std::string> names;

  static herr_t add(hid_t, const char* name, const H5A_info_t*, void* self) {
    static_cast<NameCollector*>(self)->names.emplace_back(name);
    return 0;
  }
};

}  // namespace

void write_attribute(hid_t object, const std::string& name, const AttributeValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    write_one(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    write_one(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, real);
  } else {
    // Of variable length, which h5py gives back as str.
    const char* text = std::get<std::string>(value).c_str();
    const Datatype type = text_type(H5T_VARIABLE);
    write_one(object, name, type.get(), type.get(), &text);
  }
}

std::optional<AttributeValue> read_attribute(hid_t object, const std::string& name) {
  const std::string attempted = "read attribute '" + name + "'";
  const AttributeHandle attribute(checked(H5Aopen(object, name.c_str(), H5P_DEFAULT), attempted));
  const Dataspace space(checked(H5Aget_space(attribute.get()), attempted));
  if (H5Sget_simple_extent_npoints(space.get()) != 1) return std::nullopt;
  const Datatype type(checked(H5Aget_type(attribute.get()), attempted));
  switch (H5Tget_class(type.get())) {
    case H5T_INTEGER: {
      std::int64_t value = 0;
      check_status(H5Aread(attribute.get(), H5T_NATIVE_INT64, &value), attempted);
      return value;
    }
    case H5T_FLOAT: {
      double value = 0;
      check_status(H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value), attempted);
      return value;
    }
    case H5T_STRING:
      return read_text(attribute, type, attempted);
    default:
      return std::nullopt;
  }
}

bool has_attribute(hid_t object, const std::string& name) {
  const htri_t exists = H5Aexists(object, name.c_str());
  check_status(exists, "look for attribute '" + name + "'");
  return exists > 0;
}

std::vector<Attribute> read_attributes(hid_t object) {
  NameCollector collector;
  hsize_t start = 0;
  check_status(
      H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &start, NameCollector::add, &collector),
      "list attributes");
  std::vector<Attribute> attributes;
  for (std::string& name : collector.names) {
    if (auto value = read_attribute(object, name)) {
      attributes.push_back({std::move(name), std::move(*value)});
    }
  }
  return attributes;
}

}  // namespace lockstep::hdf5
