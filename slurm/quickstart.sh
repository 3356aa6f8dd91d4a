#!/usr/bin/env bash
# From a bare checkout to a trained network: sets up, builds, trains MiniResNet on the handwritten
# digits on two ranks, checks it on the validation set and draws the learning curves.
#
#   bash slurm/quickstart.sh                   everything; a second run finds it done and says so
#   bash slurm/quickstart.sh --fresh           train again from the start
#   bash slurm/quickstart.sh --fresh --epochs 20 ...   what follows goes to `lockstep train`
#
# What it writes is in runs/quickstart, or where an --output_dir among these says; what it printed on the
# way is in build/log.
set -euo pipefail
# shellcheck source=slurm/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

program=build/release/lockstep
resume=(--resume_from auto)
case ${1:-} in
  -h | --help) usage && exit ;;
  --fresh) resume=(--overwrite) && shift ;;
esac
settings=(--config inputs/digits.ini --output_dir runs/quickstart "${resume[@]}" "$@")

configure() {  # the tests need more than this machine may have; tests/run.sh switches them on
  local first=()
  [ -f build/release/build.ninja ] || first=(-DLOCKSTEP_TESTS=OFF)
  cmake --preset release ${first[@]+"${first[@]}"}
}
build() { cmake --build --preset release --parallel "$(build_jobs)" --target lockstep; }
output_dir() {
  local config
  config=$("$program" train "${settings[@]}" --print_config) || return
  sed -n 's/^output_dir  *= \(.*[^ ]\)  *# .*/\1/p' <<<"$config"
}
train() {
  local code=0
  mpiexec -n 2 "$program" train "${settings[@]}" </dev/null || code=$?
  if [ "$code" = 2 ] && [ "${resume[1]:-}" = auto ] && [ -e "$run/config.ini" ]; then
    echo "quickstart.sh: $run holds a run already, and this was to go on with it. To train anew instead:" >&2
    echo "  bash slurm/quickstart.sh --fresh $*" >&2
  fi
  return "$code"
}
draw() { PYTHONPATH=postproc "$(find_python h5py matplotlib)" -m lockstep_post "$@"; }

start=$(milliseconds)
bash slurm/setup.sh
stage "configure" configure
stage "build on $(build_jobs) of $(nproc) cores" build
echo
run=$(output_dir)
train "$@"
mpiexec -n 2 "$program" eval --checkpoint "$run" </dev/null
draw plot "$run" -o "$run/curves.png" >/dev/null
echo
draw table "$run"
echo
for file in metrics.h5 checkpoints/ curves.png log.txt log.jsonl config.ini; do echo "  $run/$file"; done
report "quick start" "$start"
