# Everything the project links, found once. Where something is missing the message names the fix.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
if(LOCKSTEP_TESTS)
  find_package(GTest REQUIRED)
endif()
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS C)

set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR
    "The HDF5 found (${HDF5_INCLUDE_DIRS}) is serial; Lockstep writes its files by parallel IO.\n"
    "Install the MPI build (Debian: libhdf5-mpich-dev; clusters: module load a hdf5 built with "
    "your MPI) or set HDF5_ROOT to it.")
endif()
add_library(lockstep_hdf5 INTERFACE)
target_include_directories(lockstep_hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
target_link_libraries(lockstep_hdf5 INTERFACE ${HDF5_LIBRARIES} MPI::MPI_C)

find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
add_library(lockstep_xxhash INTERFACE)
target_include_directories(lockstep_xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})
target_link_libraries(lockstep_xxhash INTERFACE ${XXHASH_LIBRARY})

if(LOCKSTEP_TORCH)
  include(LockstepTorch)
endif()
