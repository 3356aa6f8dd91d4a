#!/usr/bin/env bash
# Builds and tests everything, from a clean checkout on a bare machine too.
#
#   bash tests/run.sh           set-up, release build, the quick start, all tests; the torch-free modules'
#                               under AddressSanitizer and UndefinedBehaviorSanitizer at 1 and 2 ranks
#   bash tests/run.sh --full    everything under these two instead, at 3 ranks too; all but whole programs
#                               and parity with PyTorch, which compute on one thread, under
#                               ThreadSanitizer; clang-tidy and clang-format
#
# The sanitizers' tests come first and the release build's last, whose summary from ctest ends the output.
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

# What tests of a build are left out, as ctest's options.
left_out() {  # build
  case $1 in
    asan-torchfree) echo '--exclude-regex [.]ranks_3$' ;;
    tsan) echo '--label-exclude system|parity' ;;
  esac
}

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
if [ "$full" ]; then
  build asan asan
  build tsan tsan
else
  build asan-torchfree asan -DLOCKSTEP_TORCH=OFF
fi
build release release
stage "quick start, into runs/quickstart" bash slurm/quickstart.sh

failed=''
if [ "$full" ]; then
  stage "clang-format" bash tests/style.sh format || failed+=' clang-format'
  stage "clang-tidy" bash tests/style.sh tidy build/release || failed+=' clang-tidy'
fi
report "all before the tests" "$start"
for name in "${builds[@]}"; do
  printf '\n%s: tests\n' "$name"
  # shellcheck disable=SC2046  # options, to be split
  ctest --test-dir "build/$name" --parallel "$(nproc)" --output-on-failure --no-tests=error \
    $(left_out "$name") </dev/null || failed+=" $name"
done
if [ "$failed" ]; then
  echo "failed:$failed" >&2
  exit 1
fi
