# LOCKSTEP_CUDA_FOUND and lockstep_nvidia (the CUDA runtime and NCCL, for the one library that calls
# them), as LOCKSTEP_CUDA asks for. No CUDA compiler is needed: nothing of Lockstep is device code.
set(LOCKSTEP_CUDA_FOUND OFF)
string(TOUPPER "${LOCKSTEP_CUDA}" cuda_choice)
if(NOT cuda_choice MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "LOCKSTEP_CUDA is ${LOCKSTEP_CUDA}; it may be AUTO, ON or OFF.")
endif()
if(cuda_choice STREQUAL OFF)
  message(STATUS "GPUs: without (LOCKSTEP_CUDA=OFF)")
  return()
endif()

# Communicators that do not block came with 2.14; their finalization was mended until 2.18.
set(oldest_nccl 2.18)

set(cuda_missing "")
find_package(CUDAToolkit QUIET)
if(NOT CUDAToolkit_FOUND)
  set(cuda_missing "no CUDA toolkit was found (nvcc on PATH, or CUDAToolkit_ROOT)")
else()
  # NCCL as the wheels of Python's torch bring it lies beside LibTorch, without the name to link by.
  set(toolkit ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_TARGET_DIR} ${CUDAToolkit_LIBRARY_DIR}/..
      ${LOCKSTEP_TORCH_ROOT}/../nvidia/nccl)
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${NCCL_ROOT} $ENV{NCCL_ROOT} ${toolkit}
            PATH_SUFFIXES include)
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 NAMES_PER_DIR HINTS ${NCCL_ROOT} $ENV{NCCL_ROOT} ${toolkit}
               PATH_SUFFIXES lib64 lib)
  if(NOT NCCL_LIBRARY OR NOT EXISTS "${NCCL_INCLUDE_DIR}/nccl.h")
    set(cuda_missing "no NCCL was found beside the CUDA toolkit ${CUDAToolkit_VERSION} (NCCL_ROOT)")
  else()
    file(STRINGS ${NCCL_INCLUDE_DIR}/nccl.h nccl_lines REGEX "define NCCL_(MAJOR|MINOR|PATCH) ")
    string(REGEX REPLACE "[^0-9]+([0-9]+)[^0-9]+([0-9]+)[^0-9]+([0-9]+)" "\\1.\\2.\\3"
           nccl_version "${nccl_lines}")
    if(nccl_version VERSION_LESS oldest_nccl)
      set(cuda_missing "the NCCL ${nccl_version} found (${NCCL_INCLUDE_DIR}) is older than ${oldest_nccl}")
    endif()
  endif()
endif()

# Two CUDA runtimes in one process do not see each other's memory and streams.
if(LOCKSTEP_TORCH AND EXISTS ${LOCKSTEP_TORCH_ROOT}/lib/libc10_cuda.so AND NOT cuda_missing)
  file(STRINGS ${LOCKSTEP_TORCH_ROOT}/lib/libc10_cuda.so torch_runtime
       REGEX "libcudart[^ ]*\\.so\\.[0-9]+" LIMIT_COUNT 1)
  string(REGEX REPLACE ".*libcudart[^ ]*\\.so\\.([0-9]+).*" "\\1" torch_cuda "${torch_runtime}")
  if(torch_cuda AND NOT torch_cuda EQUAL CUDAToolkit_VERSION_MAJOR)
    set(cuda_missing "the toolkit is CUDA ${CUDAToolkit_VERSION}, but LibTorch is one for CUDA ${torch_cuda}")
  endif()
endif()

if(cuda_missing AND cuda_choice STREQUAL ON)
  message(FATAL_ERROR
    "LOCKSTEP_CUDA=ON, but ${cuda_missing}.\n"
    "Install the CUDA toolkit, of the major version that LibTorch is for, and NCCL >= ${oldest_nccl} "
    "(clusters: module load cuda nccl), or set "
    "LOCKSTEP_CUDA=OFF to build for CPUs alone.")
endif()
if(cuda_missing)
  message(STATUS "GPUs: without (LOCKSTEP_CUDA=AUTO, and ${cuda_missing})")
  return()
endif()
message(STATUS "GPUs: with CUDA ${CUDAToolkit_VERSION}, NCCL ${nccl_version} "
               "(LOCKSTEP_CUDA=${cuda_choice}): ${NCCL_LIBRARY}")
set(LOCKSTEP_CUDA_FOUND ON)
add_library(lockstep_nvidia INTERFACE)
target_include_directories(lockstep_nvidia SYSTEM INTERFACE ${NCCL_INCLUDE_DIR})
target_link_libraries(lockstep_nvidia INTERFACE CUDA::cudart ${NCCL_LIBRARY})
