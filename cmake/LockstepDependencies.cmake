# Everything the project links, found once. Where something is missing the message names the fix.

# lockstep_require(package "what to install" [find_package's arguments...])
macro(lockstep_require package remedy)
  find_package(${package} ${ARGN})
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR
      "No ${package} found, which Lockstep needs.\n"
      "Install ${remedy}, or run `bash slurm/setup.sh`, which names all that is missing. What lies in "
      "another place is found through CMAKE_PREFIX_PATH.")
  endif()
endmacro()

find_package(Threads REQUIRED)
lockstep_require(fmt "fmt (Debian: libfmt-dev; clusters: module load fmt)")
lockstep_require(spdlog "spdlog (Debian: libspdlog-dev; clusters: module load spdlog)")
lockstep_require(nlohmann_json
                 "nlohmann-json (Debian: nlohmann-json3-dev; clusters: module load nlohmann-json)")
lockstep_require(Boost
                 "Boost.Program_options (Debian: libboost-program-options-dev; clusters: module load boost)"
                 1.74 COMPONENTS program_options)
if(LOCKSTEP_TESTS)
  lockstep_require(GTest "GoogleTest (Debian: libgtest-dev libgmock-dev) or set LOCKSTEP_TESTS=OFF")
endif()

set(MPI_CXX_SKIP_MPICXX ON)
lockstep_require(MPI
                 "an MPI 3 library with mpicc (Debian: libmpich-dev; clusters: module load mpich or the cluster's own)"
                 COMPONENTS C)

set(HDF5_PREFER_PARALLEL ON)
set(hdf5_remedy
    "HDF5 built with your MPI (Debian: libhdf5-mpich-dev; clusters: module load hdf5-parallel)")
lockstep_require(HDF5 "${hdf5_remedy}" COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR
    "The HDF5 found (${HDF5_INCLUDE_DIRS}) is serial; Lockstep writes its files by parallel IO.\n"
    "Install ${hdf5_remedy} or set HDF5_ROOT to it.")
endif()
add_library(lockstep_hdf5 INTERFACE)
target_include_directories(lockstep_hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
target_link_libraries(lockstep_hdf5 INTERFACE ${HDF5_LIBRARIES} MPI::MPI_C)

find_path(XXHASH_INCLUDE_DIR xxhash.h)
find_library(XXHASH_LIBRARY xxhash)
if(NOT XXHASH_INCLUDE_DIR OR NOT XXHASH_LIBRARY)
  message(FATAL_ERROR
    "No xxHash found, which Lockstep needs.\n"
    "Install it (Debian: libxxhash-dev; clusters: module load xxhash), or run `bash slurm/setup.sh`.")
endif()
add_library(lockstep_xxhash INTERFACE)
target_include_directories(lockstep_xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})
target_link_libraries(lockstep_xxhash INTERFACE ${XXHASH_LIBRARY})

if(LOCKSTEP_TORCH)
  include(LockstepTorch)
endif()
include(LockstepCuda)
