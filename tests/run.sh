#!/usr/bin/env bash
# Builds and tests everything, from a clean checkout on a bare machine too.
#
#   bash tests/run.sh           set-up, release build, the torch-free modules under AddressSanitizer and
#                               UndefinedBehaviorSanitizer, all tests of both
#   bash tests/run.sh --full    also everything under these two, the same under ThreadSanitizer,
#                               clang-tidy and clang-format
#
# One run of ctest over all builds comes last; its summary is the result.
set -euo pipefail
# shellcheck source=slurm/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../slurm/common.sh"
cd "$root"

full=''
case ${1:-} in
  '') ;;
  --full) full=1 ;;
  -h | --help) usage && exit ;;
  *) fail "tests/run.sh does not know $1." "$(usage)" ;;
esac

builds=()
build() {  # name, preset, cmake's options...: configures and builds build/<name>
  local name=$1 preset=$2
  shift 2
  stage "$name: configure" cmake --preset "$preset" -B "build/$name" -DLOCKSTEP_TESTS=ON "$@"
  stage "$name: build on $(build_jobs) of $(nproc) cores" \
    cmake --build "build/$name" --parallel "$(build_jobs)"
  builds+=("$name")
}

start=$(milliseconds)
if [ "$full" ]; then bash slurm/setup.sh --full; else bash slurm/setup.sh --tests; fi
build release release
build asan-torchfree asan -DLOCKSTEP_TORCH=OFF
if [ "$full" ]; then
  build asan asan
  build tsan tsan
fi

# A CTestTestfile that leads into each build makes them one set of tests with one summary. Their
# numbers tell the builds apart.
mkdir -p build/tests
first=1
for name in "${builds[@]}"; do
  echo "subdirs(\"$root/build/$name\")"
  count=$(ctest --test-dir "build/$name" --show-only | awk '/^Total Tests:/ { print $3 }')
  echo "tests $first to $((first + count - 1)): $name" >&2
  first=$((first + count))
done >build/tests/CTestTestfile.cmake
if [ "$full" ]; then
  cat >>build/tests/CTestTestfile.cmake <<CTEST
add_test(clang_format bash "$root/tests/style.sh" format)
add_test(clang_tidy bash "$root/tests/style.sh" tidy "$root/build/release")
set_tests_properties(clang_tidy PROPERTIES TIMEOUT 7200 RUN_SERIAL ON)
CTEST
fi

report "all before the tests" "$start"
ctest --test-dir build/tests --parallel "$(nproc)" --output-on-failure --no-tests=error </dev/null
