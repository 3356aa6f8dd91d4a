#!/usr/bin/env bash
# Runs Lockstep in an interactive Slurm allocation: two nodes, one task a node, unless told otherwise.
#
#   bash slurm/interactive.sh                                   a shell; srun build/release/lockstep ...
#   bash slurm/interactive.sh --nodes=1 --ntasks-per-node=4     the same; options are salloc's
#   bash slurm/interactive.sh -- train --config inputs/digits.ini --output_dir runs/try
#
# What follows -- is given to the program on all ranks; the allocation ends with it.
set -euo pipefail

allocation=(--job-name=lockstep --nodes=2 --ntasks-per-node=1 --cpus-per-task=4 --time=01:00:00)
program=${LOCKSTEP:-build/release/lockstep}
case ${1:-} in -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;; esac

while (($#)) && [ "$1" != -- ]; do allocation+=("$1") && shift; done
if (($#)); then
  shift
  command=(srun --kill-on-bad-exit=1 "$program" "$@")
else
  command=("${SHELL:-bash}")
fi
if [ ! -x "$program" ]; then
  echo "interactive.sh: no program $program in $PWD; build it first (slurm/README.md)." >&2
  exit 2
fi

# srun takes the number of cores a task from SRUN_CPUS_PER_TASK; by itself it does not inherit it.
# shellcheck disable=SC2016  # expanded inside the allocation
exec salloc "${allocation[@]}" bash -c \
  'export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}; exec "$@"' - "${command[@]}"
