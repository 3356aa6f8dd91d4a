#!/usr/bin/env bash
# bash tests/style.sh format          fails where clang-format would change a file
# bash tests/style.sh tidy BUILD      clang-tidy over every source file that BUILD compiles
set -euo pipefail
cd "$(dirname "$0")/.."

sources() { find include src tests -name '*.cpp' -o -name '*.hpp' | sort; }

case ${1:-} in
  format) sources | xargs clang-format --dry-run --Werror ;;
  tidy) sources | grep '\.cpp$' | grep -Ff <(grep -o '"file": "[^"]*"' "$2/compile_commands.json" |
          sed "s|.*\"$PWD/||; s|\"\$||") | xargs -P "$(nproc)" -n 1 clang-tidy --quiet \
          --extra-arg=-Wno-unknown-warning-option -p "$2" ;;
  *) sed -n '2,3s/^# //p' "$0" >&2 && exit 2 ;;
esac
