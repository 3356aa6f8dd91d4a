#include <algorithm>
#include <new>
#include <string_view>

#include "lockstep/base/error.hpp"
#include "lockstep/base/narrow.hpp"

#include "io/hdf5.hpp"

namespace lockstep::hdf5 {
namespace {

using Extents = std::vector<hsize_t>;

Extents extents_of(const std::vector<std::int64_t>& shape) {
  Extents extents;
  for (const std::int64_t extent : shape) extents.push_back(narrow<hsize_t>(extent));
  return extents;
}

Dataspace dataspace_of(const std::vector<std::int64_t>& shape) {
  const char* attempted = "make an HDF5 data space";
  if (shape.empty()) return Dataspace(checked(H5Screate(H5S_SCALAR), attempted));
  const Extents extents = extents_of(shape);
  return Dataspace(
      checked(H5Screate_simple(narrow<int>(extents.size()), extents.data(), nullptr), attempted));
}

void select(const Dataspace& space, const Box& box) {
  const char* attempted = "select a part of an HDF5 data set";
  if (element_count(box.count) == 0) {
    check_status(H5Sselect_none(space.get()), attempted);
  } else if (box.start.empty()) {
    check_status(H5Sselect_all(space.get()), attempted);
  } else {
    check_status(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, extents_of(box.start).data(),
                                     nullptr, extents_of(box.count).data(), nullptr),
                 attempted);
  }
}

PropertyList creation_properties(hid_t kind) {
  PropertyList list(checked(H5Pcreate(kind), "set an HDF5 property"));
  check_status(H5Pset_obj_track_times(list.get(), false), "set an HDF5 property");
  return list;
}

/// Called for every object that hard links reach, once each. Lets no exception into the library.
herr_t collect(hid_t, const char* name, const H5O_info_t* info, void* target) {
  try {
    auto& listing = *static_cast<Listing*>(target);
    const std::string path = std::string_view(name) == "." ? "/" : "/" + std::string(name);
    if (info->type == H5O_TYPE_GROUP) listing.groups.push_back(path);
    if (info->type == H5O_TYPE_DATASET) listing.datasets.push_back(path);
    return 0;
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

}  // namespace

ObjectHandle create_group(hid_t file, const std::string& path) {
  const PropertyList creation = creation_properties(H5P_GROUP_CREATE);
  return ObjectHandle(
      checked(H5Gcreate2(file, path.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
              "create group '" + path + "'"));
}

ObjectHandle create_dataset(hid_t file, const std::string& path, DType dtype,
                            const std::vector<std::int64_t>& shape) {
  const std::string attempted = "create data set '" + path + "', " + description_of(dtype, shape);
  const PropertyList creation = creation_properties(H5P_DATASET_CREATE);
  check_status(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY), attempted);
  check_status(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER), attempted);
  return ObjectHandle(
      checked(H5Dcreate2(file, path.c_str(), file_type(dtype).get(), dataspace_of(shape).get(),
                         H5P_DEFAULT, creation.get(), H5P_DEFAULT),
              attempted));
}

ObjectHandle open_object(hid_t file, const std::string& path) {
  return ObjectHandle(
      checked(H5Oopen(file, path.c_str(), H5P_DEFAULT), "open object '" + path + "'"));
}

std::int64_t offset_of(const ObjectHandle& dataset) {
  if (H5Dget_storage_size(dataset.get()) == 0) return 0;
  const haddr_t offset = H5Dget_offset(dataset.get());
  if (offset == HADDR_UNDEF) fail("ask where the elements of a data set lie");
  return narrow<std::int64_t>(offset);
}

std::vector<std::int64_t> shape_of(const ObjectHandle& dataset) {
  const char* attempted = "ask for the shape of a data set";
  const Dataspace space(checked(H5Dget_space(dataset.get()), attempted));
  const int dimensions = H5Sget_simple_extent_ndims(space.get());
  check_status(dimensions, attempted);
  Extents extents(static_cast<std::size_t>(dimensions));
  check_status(H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr), attempted);
  std::vector<std::int64_t> shape;
  for (const hsize_t extent : extents) shape.push_back(narrow<std::int64_t>(extent));
  return shape;
}

Datatype type_of(const ObjectHandle& dataset) {
  return Datatype(checked(H5Dget_type(dataset.get()), "ask for the type of a data set"));
}

void read(const ObjectHandle& dataset, DType dtype, const Box& part, void* data,
          const std::string& attempted) {
  const Dataspace memory = dataspace_of(part.count);
  const Dataspace file(checked(H5Dget_space(dataset.get()), attempted));
  select(file, part);
  check_status(
      H5Dread(dataset.get(), memory_type(dtype).get(), memory.get(), file.get(), H5P_DEFAULT, data),
      attempted);
}

void read_all(const ObjectHandle& dataset, DType dtype, void* data, const std::string& attempted) {
  const std::vector<std::int64_t> shape = shape_of(dataset);
  const Box all{.start = std::vector<std::int64_t>(shape.size(), 0), .count = shape};
  read(dataset, dtype, all, data, attempted);
}

Listing list_objects(hid_t file) {
  Listing listing;
#if H5_VERSION_GE(1, 12, 0)
  const herr_t status =
      H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, collect, &listing, H5O_INFO_BASIC);
#else
  const herr_t status = H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, collect, &listing);
#endif
  check_status(status, "list what is in a file");
  std::sort(listing.groups.begin(), listing.groups.end());
  std::sort(listing.datasets.begin(), listing.datasets.end());
  return listing;
}

}  // namespace lockstep::hdf5
