# lockstep_torch: the CPU half of any LibTorch >= 2.7, as an imported target of our own.
#
# find_package(Torch) is not used: a CUDA build of LibTorch makes it look for a whole CUDA toolkit,
# which a CPU node has no reason to have, and it adds libtorch_cuda to every link, which costs each
# rank 300 MB. Where the headers and libraries lie is taken, in this order, from
#   Torch_DIR           <libtorch>/share/cmake/Torch
#   CMAKE_PREFIX_PATH   <libtorch>, or <libtorch>/share/cmake as torch.utils.cmake_prefix_path is
#   the cache           filled by slurm/setup.sh, shared by all checkouts of one user
# One that is named now is taken, also where a build folder remembers another.
set(cache_home $ENV{XDG_CACHE_HOME})
if(NOT cache_home)
  set(cache_home $ENV{HOME}/.cache)
endif()
set(LOCKSTEP_CACHE_DIR "$ENV{LOCKSTEP_CACHE_DIR}")
if(NOT LOCKSTEP_CACHE_DIR)
  set(LOCKSTEP_CACHE_DIR ${cache_home}/lockstep)
endif()

set(named_torches)
if(NOT Torch_DIR AND DEFINED ENV{Torch_DIR})
  set(Torch_DIR $ENV{Torch_DIR})
endif()
if(Torch_DIR)
  list(APPEND named_torches ${Torch_DIR}/../../..)
endif()
string(REPLACE ":" ";" prefix_path "$ENV{CMAKE_PREFIX_PATH}")
foreach(prefix IN LISTS CMAKE_PREFIX_PATH prefix_path)
  list(APPEND named_torches ${prefix} ${prefix}/../..)
endforeach()

find_path(named_torch include/ATen/core/Tensor.h HINTS ${named_torches} NO_DEFAULT_PATH NO_CACHE)
if(named_torch)
  get_filename_component(named_torch ${named_torch} ABSOLUTE)
  if(LOCKSTEP_TORCH_ROOT AND NOT named_torch STREQUAL LOCKSTEP_TORCH_ROOT)
    # NCCL may have been the one beside the LibTorch before.
    unset(NCCL_INCLUDE_DIR CACHE)
    unset(NCCL_LIBRARY CACHE)
  endif()
  set(LOCKSTEP_TORCH_ROOT ${named_torch} CACHE PATH "LibTorch" FORCE)
endif()
find_path(LOCKSTEP_TORCH_ROOT include/ATen/core/Tensor.h
          HINTS ${LOCKSTEP_CACHE_DIR}/libtorch-2.11.0/torch NO_DEFAULT_PATH)
if(NOT LOCKSTEP_TORCH_ROOT)
  message(FATAL_ERROR
    "No LibTorch found. Either run `bash slurm/setup.sh`, which downloads one into "
    "${LOCKSTEP_CACHE_DIR}, or point Torch_DIR or CMAKE_PREFIX_PATH at a LibTorch >= 2.7.")
endif()

# Where the numbers stand differs between versions.
set(version_header ${LOCKSTEP_TORCH_ROOT}/include/torch/headeronly/version.h)
if(NOT EXISTS ${version_header})
  set(version_header ${LOCKSTEP_TORCH_ROOT}/include/torch/csrc/api/include/torch/version.h)
endif()
file(STRINGS ${version_header} version_lines
     REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE "[^0-9]+([0-9]+)[^0-9]+([0-9]+)[^0-9]+([0-9]+)" "\\1.\\2.\\3"
       LOCKSTEP_TORCH_VERSION "${version_lines}")
if(LOCKSTEP_TORCH_VERSION VERSION_LESS 2.7)
  message(FATAL_ERROR "LibTorch ${LOCKSTEP_TORCH_VERSION} at ${LOCKSTEP_TORCH_ROOT} is too old: "
                      "Lockstep needs 2.7 or later.\n"
                      "Run `bash slurm/setup.sh`, which downloads one, with Torch_DIR and "
                      "CMAKE_PREFIX_PATH free of the old one; or point Torch_DIR at a newer one.")
endif()
message(STATUS "LibTorch ${LOCKSTEP_TORCH_VERSION}: ${LOCKSTEP_TORCH_ROOT}")

# LibTorch ships headers of a fmt release of its own, which do not match the installed library. The
# installed ones are put before them, by a directory that holds nothing else: compiling fmt anew in every
# file instead (FMT_HEADER_ONLY) takes 9 of its 15 seconds.
get_target_property(fmt_includes fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
find_path(LOCKSTEP_FMT_INCLUDE_DIR fmt/format.h HINTS ${fmt_includes} NO_CACHE)
set(fmt_first ${PROJECT_BINARY_DIR}/fmt_first)
file(MAKE_DIRECTORY ${fmt_first})
file(CREATE_LINK ${LOCKSTEP_FMT_INCLUDE_DIR}/fmt ${fmt_first}/fmt SYMBOLIC)

add_library(lockstep_torch INTERFACE)
target_include_directories(lockstep_torch SYSTEM INTERFACE
  ${fmt_first} ${LOCKSTEP_TORCH_ROOT}/include ${LOCKSTEP_TORCH_ROOT}/include/torch/csrc/api/include)
target_link_libraries(lockstep_torch INTERFACE
  ${LOCKSTEP_TORCH_ROOT}/lib/libtorch_cpu.so ${LOCKSTEP_TORCH_ROOT}/lib/libc10.so)
target_link_options(lockstep_torch INTERFACE -Wl,-rpath,${LOCKSTEP_TORCH_ROOT}/lib)
