# Sourced by the scripts that people run: stages with their seconds, build width, choice of a Python.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
log=$root/build/log/$(basename "$0" .sh).log
mkdir -p "$(dirname "$log")"
: >"$log"

fail() {  # line...: says what is wrong and ends the script
  printf '%s\n' "$@" >&2
  exit 1
}

usage() {  # prints the comment at the head of the running script
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
}

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

report() {  # name, milliseconds at its start: closes the line of a stage
  local spent=$(($(milliseconds) - $2))
  printf '%-72s %4d.%d s\n' "$1" $((spent / 1000)) $((spent % 1000 / 100))
}

# stage NAME COMMAND...: one line on the screen; what the command prints goes to the log and is shown
# only if it fails.
stage() {
  local name=$1 start before
  shift
  start=$(milliseconds)
  before=$(wc -c <"$log")
  [ ! -t 1 ] || printf '%s ...\r' "$name"
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    tail -c "+$((before + 1))" "$log" | tail -n 100 >&2
    printf '\n%s: failed. The whole log is %s\n' "$name" "$log" >&2
    return 1
  fi
  report "$name" "$start"
}

# How many compilers run at once: one a core, and no more than one for each 3 GB of memory, which is
# what a file that includes torch can take.
build_jobs() {
  local cores memory_kb limit jobs
  cores=$(nproc)
  memory_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  if [ "$limit" != max ] && ((limit / 1024 < memory_kb)); then memory_kb=$((limit / 1024)); fi
  jobs=$((memory_kb / 3000000))
  if ((jobs > cores)); then jobs=$cores; fi
  if ((jobs < 1)); then jobs=1; fi
  echo "$jobs"
}

# find_python MODULE...: prints the first Python 3 that has all modules. The first on PATH need not be
# the one that Debian's packages (python3-h5py ...) belong to.
find_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" - "$@" >/dev/null 2>&1 <<'PY'; then
import importlib.util, sys
sys.exit(any(importlib.util.find_spec(module) is None for module in sys.argv[1:]))
PY
      command -v "$python"
      return
    fi
  done
  return 1
}
