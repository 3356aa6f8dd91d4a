#!/usr/bin/env bash
# Installs what building and running Lockstep needs and is not there yet.
#
#   bash slurm/setup.sh            the compiler, the libraries, LibTorch, Python for the plots
#   bash slurm/setup.sh --tests    also what tests/run.sh needs
#   bash slurm/setup.sh --full     also what tests/run.sh --full needs
#
# As root on Debian or Ubuntu, packages come by apt. Otherwise the script names what is missing; what is
# there by other means (modules, Spack, CMAKE_PREFIX_PATH) counts as there. LibTorch is taken from
# Torch_DIR or CMAKE_PREFIX_PATH if one of them names it, else downloaded once from PyPI into
# LOCKSTEP_CACHE_DIR (default: ~/.cache/lockstep). A second run finds everything and changes nothing.
set -euo pipefail
# shellcheck source=slurm/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

torch_version=2.11.0
torch_wheels=("torch==$torch_version" nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85)
torch_oldest=2.7
cache=${LOCKSTEP_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}
torch_home=$cache/libtorch-$torch_version  # cmake/LockstepTorch.cmake looks there

# Debian's package | what a person without apt looks for | how to see that it is there anyway
needs=(
  "g++|a C++20 compiler (module gcc >= 11)|has_compiler"
  "cmake|CMake >= 3.25 (module cmake)|has_cmake"
  "ninja-build|ninja (module ninja)|has_command ninja"
  "mpich|an MPI 3 launcher (module mpich)|has_command mpiexec"
  "libmpich-dev|an MPI 3 library with mpicc (module mpich)|has_command mpicc"
  "libhdf5-mpich-dev|HDF5 >= 1.10 built with the same MPI (module hdf5-parallel)|has_parallel_hdf5"
  "libboost-program-options-dev|Boost.Program_options >= 1.74 (module boost)|has_header boost/program_options.hpp"
  "libspdlog-dev|spdlog (module spdlog)|has_header spdlog/spdlog.h"
  "libfmt-dev|fmt (module fmt)|has_header fmt/core.h"
  "nlohmann-json3-dev|nlohmann-json (module nlohmann-json)|has_header nlohmann/json.hpp"
  "libxxhash-dev|xxHash >= 0.8 (module xxhash)|has_header xxhash.h"
  "python3-h5py|h5py (python3 -m pip install --user h5py)|find_python h5py matplotlib"
  "python3-matplotlib|matplotlib (python3 -m pip install --user matplotlib)|find_python h5py matplotlib"
)
needs_tests=(
  "libgtest-dev|GoogleTest (module googletest)|has_header gtest/gtest.h"
  "libgmock-dev|GoogleMock (module googletest)|has_header gmock/gmock.h"
  "python3-xxhash|xxhash for Python (python3 -m pip install --user xxhash)|find_python xxhash"
  "hdf5-tools|h5dump (module hdf5-parallel)|has_command h5dump"
)
needs_slurm=(  # the tests that start a Slurm of their own are skipped where it is missing
  "slurm-wlm|Slurm's daemons|has_command slurmctld"
  "munge|munge|has_command munged"
)
needs_full=(
  "clang-format|clang-format|has_command clang-format"
  "clang-tidy|clang-tidy|has_command clang-tidy"
)
needs_pip=("python3-pip|pip for Python 3|find_python pip")

has_command() { PATH=$PATH:/usr/sbin:/sbin command -v "$1"; }

has_header() {  # in the compiler's own path (CPATH included) or below CMAKE_PREFIX_PATH
  local prefix prefixes include=()
  IFS=':;' read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}"
  for prefix in ${prefixes[@]+"${prefixes[@]}"}; do include+=(-I "$prefix/include"); done
  echo "#include <$1>" | "${CXX:-c++}" -std=c++20 ${include[@]+"${include[@]}"} -E -x c++ -
}

has_compiler() { has_header source_location; }

has_cmake() {
  local version
  version=$(cmake --version | awk 'NR == 1 { print $3 }') && version_at_least "$version" 3.25
}

has_parallel_hdf5() {
  local shown
  shown=$("${HDF5_ROOT:+$HDF5_ROOT/bin/}h5pcc" -showconfig) && grep -qi 'parallel hdf5: *yes' <<<"$shown"
}

version_at_least() { printf '%s\n%s\n' "$2" "$1" | sort -V -C; }

# missing NEED...: prints the needs that neither dpkg nor their own check finds.
missing() {
  local need installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package} \n' "${@%%|*}" 2>/dev/null || true)
  for need; do
    [[ "$installed" == *"installed ${need%%|*} "* ]] || ${need##*|} >/dev/null 2>&1 || echo "$need"
  done
}

apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  local apt=(apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "$@"
}

name_missing() {  # why apt cannot help, needs...
  local why=$1 need what
  shift
  printf '%s, so these are yours to provide:\n' "$why"
  for need; do
    what=${need#*|}
    printf '  %-30s %s\n' "${need%%|*}" "${what%|*}"
  done
  printf 'On Debian or Ubuntu, as root:  apt-get install %s\n' "${*%%|*}"
  printf 'On a cluster: load the modules (module avail NAME), then run this again.\n'
}

# provide OPTIONAL NEED...: installs what is missing, or names it and fails unless it is optional.
provide() {
  local optional=$1 lacking why=''
  shift
  mapfile -t lacking < <(missing "$@")
  ((${#lacking[@]})) || return 0
  [ "$(id -u)" = 0 ] || why="Not root"
  command -v apt-get >/dev/null || why="No apt here"
  if [ -z "$why" ]; then
    stage "packages: ${#lacking[@]} by apt" apt_install "${lacking[@]%%|*}"
  else
    name_missing "$why" "${lacking[@]}" >&2
    [ "$optional" = optional ]
  fi
}

# Prints the LibTorch that Torch_DIR or CMAKE_PREFIX_PATH names; fails where they name none.
named_libtorch() {
  local candidates candidate
  IFS=':;' read -ra candidates <<<"${Torch_DIR:+$Torch_DIR/../../..}:${CMAKE_PREFIX_PATH:-}"
  for candidate in "${candidates[@]}"; do
    [ -d "$candidate" ] || continue
    case $candidate in */share/cmake | */share/cmake/) candidate=$candidate/../.. ;; esac
    if [ -f "$candidate/include/ATen/core/Tensor.h" ]; then (cd "$candidate" && pwd) && return; fi
  done
  return 1
}

libtorch_version() {  # root
  local header=$1/include/torch/headeronly/version.h
  [ -f "$header" ] || header=$1/include/torch/csrc/api/include/torch/version.h  # before 2.9
  awk '/define TORCH_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $3; dot = "." }' "$header"
}

libtorch_complete() {  # root: headers and libraries are there, and so is every library these need
  local needed
  [ -f "$1/include/ATen/core/Tensor.h" ] && [ -f "$1/lib/libc10.so" ] &&
    needed=$(ldd "$1/lib/libtorch_cpu.so" 2>/dev/null) && ! grep -q 'not found' <<<"$needed"
}

# The wheels serve C++ here, so any CPython's will do, whichever Python runs pip. What is in place is
# replaced only by a download that is complete, so an interruption leaves nothing half-done.
download_libtorch() {
  local partial=$torch_home.partial platforms=() glibc
  for glibc in {28..17}; do platforms+=(--platform "manylinux_2_${glibc}_$(uname -m)"); done
  rm -rf "$partial" && mkdir -p "$partial/tmp" &&
    TMPDIR=$partial/tmp PIP_USER=0 PIP_REQUIRE_VIRTUALENV=0 PIP_ROOT_USER_ACTION=ignore \
      "$(find_python pip)" -m pip install --quiet --disable-pip-version-check \
      --no-deps --no-cache-dir --no-compile --only-binary=:all: "${platforms[@]}" \
      --implementation cp --python-version 3.11 --target "$partial/site" "${torch_wheels[@]}" &&
    libtorch_complete "$partial/site/torch" &&
    rm -rf "$torch_home" && mv "$partial/site" "$torch_home" && rm -rf "$partial"
}

# Sets libtorch to the one in use; fails where it is yet to be downloaded.
find_libtorch() {
  local version
  if libtorch=$(named_libtorch); then
    version=$(libtorch_version "$libtorch")
    version_at_least "$version" "$torch_oldest" || fail \
      "LibTorch $version in $libtorch is too old: Lockstep needs $torch_oldest or later." \
      "Take it out of Torch_DIR and CMAKE_PREFIX_PATH, and this script downloads $torch_version."
  else
    libtorch=$torch_home/torch
    libtorch_complete "$libtorch"
  fi
}

provide_libtorch() {
  mkdir -p "$cache"
  exec {lock}>"$cache/setup.lock"
  flock -n "$lock" || { echo "waiting for another set-up in $cache" && flock "$lock"; }
  libtorch_complete "$libtorch" || {
    trap 'rm -rf "$torch_home.partial"' EXIT
    stage "LibTorch $torch_version: download (530 MB, once)" download_libtorch
  }
  exec {lock}>&-
}

tests='' full='' download=''
for argument; do
  case $argument in
    --tests) tests=1 ;;
    --full) tests=1 full=1 ;;
    -h | --help) usage && exit ;;
    *) fail "setup.sh does not know $argument." "$(usage)" ;;
  esac
done

start=$(milliseconds)
find_libtorch || download=1
provide required "${needs[@]}" ${download:+"${needs_pip[@]}"} \
  ${tests:+"${needs_tests[@]}"} ${full:+"${needs_full[@]}"}
if [ "$tests" ]; then provide optional "${needs_slurm[@]}"; fi
if [ "$download" ]; then provide_libtorch; fi
report "set-up: LibTorch $(libtorch_version "$libtorch") in $libtorch" "$start"
