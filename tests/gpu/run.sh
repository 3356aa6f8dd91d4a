#!/usr/bin/env bash
# Everything that is to be seen on a machine with a GPU, in less than eight minutes, and one table.
#
#   bash tests/gpu/run.sh                    with build/gpu-pack.tar.gz, which tests/gpu/pack.sh makes
#   bash tests/gpu/run.sh --pack FILE        another pack, or the directory it was unpacked to
#   bash tests/gpu/run.sh --output DIR       where result.json and table.txt go (build/gpu-run)
#   bash tests/gpu/run.sh --deadline SECONDS all parts together (450); a part that is late fails
#   bash tests/gpu/run.sh --only WORD,WORD   the parts whose name has one of these words
#
# Needs a python3 on PATH (or LOCKSTEP_GPU_PYTHON) with the torch that the pack was built for, whose
# libraries and CUDA are used. Nothing is compiled or installed, and no network is needed.
# Exit code: 0 if nothing failed, also where parts were not possible; 1 if something failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1:-} in
  -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;;
esac
python=${LOCKSTEP_GPU_PYTHON:-python3}
command -v "$python" >/dev/null || {
  echo "run.sh: there is no $python; name a Python with torch by LOCKSTEP_GPU_PYTHON." >&2
  exit 1
}
PYTHONDONTWRITEBYTECODE=1 exec "$python" "$here/run.py" "$@"
