#include "lockstep/base/error.hpp"

#include "io/hdf5.hpp"

namespace lockstep::hdf5 {
namespace {

constexpr const char* attempted = "make an HDF5 element type";

Datatype copy_of(hid_t type) {
  return Datatype(checked(H5Tcopy(type), attempted));
}

/// An IEEE-like float of 16 bits: sign, `exponent` bits, `mantissa` bits.
Datatype small_float(std::size_t exponent, std::size_t mantissa, std::size_t bias) {
  Datatype type = copy_of(H5T_IEEE_F32LE);
  check_status(H5Tset_fields(type.get(), 15, mantissa, exponent, 0, mantissa), attempted);
  check_status(H5Tset_size(type.get(), 2), attempted);
  check_status(H5Tset_ebias(type.get(), bias), attempted);
  return type;
}

std::optional<DType> integer_of(std::size_t size, bool is_signed) {
  if (size == 1 && !is_signed) return DType::uint8;
  if (size == 4 && is_signed) return DType::int32;
  if (size == 8 && is_signed) return DType::int64;
  return std::nullopt;
}

std::optional<DType> float_of(hid_t type, std::size_t size) {
  if (size == 8) return DType::float64;
  if (size == 4) return DType::float32;
  if (size != 2) return std::nullopt;
  std::size_t sign = 0, exponent_at = 0, exponent = 0, mantissa_at = 0, mantissa = 0;
  check_status(H5Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa),
               "look at an HDF5 element type");
  if (exponent == 5) return DType::float16;
  if (exponent == 8) return DType::bfloat16;
  return std::nullopt;
}

}  // namespace

Datatype file_type(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return copy_of(H5T_STD_U8LE);
    case DType::int32:
      return copy_of(H5T_STD_I32LE);
    case DType::int64:
      return copy_of(H5T_STD_I64LE);
    case DType::float16:
      return small_float(5, 10, 15);
    case DType::bfloat16:
      return small_float(8, 7, 127);
    case DType::float32:
      return copy_of(H5T_IEEE_F32LE);
    case DType::float64:
      return copy_of(H5T_IEEE_F64LE);
  }
  throw Error(attempted, "unknown dtype");
}

Datatype memory_type(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return copy_of(H5T_NATIVE_UINT8);
    case DType::int32:
      return copy_of(H5T_NATIVE_INT32);
    case DType::int64:
      return copy_of(H5T_NATIVE_INT64);
    case DType::float16:
    case DType::bfloat16:
      return file_type(dtype);
    case DType::float32:
      return copy_of(H5T_NATIVE_FLOAT);
    case DType::float64:
      return copy_of(H5T_NATIVE_DOUBLE);
  }
  throw Error(attempted, "unknown dtype");
}

std::optional<DType> dtype_of(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return integer_of(size, H5Tget_sign(type) == H5T_SGN_2);
    case H5T_FLOAT:
      return float_of(type, size);
    default:
      return std::nullopt;
  }
}

ElementType element_type_of(hid_t type) {
  using Kind = ElementType::Kind;
  const auto bits = static_cast<std::int64_t>(8 * H5Tget_size(type));
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: {
      const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
      return {Kind::integer, bits, is_signed, (is_signed ? "int" : "uint") + std::to_string(bits)};
    }
    case H5T_ENUM:  // h5py stores truth values so
      return {Kind::integer, bits, true, "enumerated values"};
    case H5T_FLOAT:
      return {Kind::floating_point, bits, true, "float" + std::to_string(bits)};
    case H5T_STRING:
      return {Kind::other, bits, false, "text"};
    default:
      return {Kind::other, bits, false, "of another type"};
  }
}

}  // namespace lockstep::hdf5
