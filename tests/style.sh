#!/usr/bin/env bash
# bash tests/style.sh format          fails where clang-format would change a file
# bash tests/style.sh tidy BUILD      clang-tidy over every source file that BUILD compiles
set -euo pipefail
cd "$(dirname "$0")/.."

sources() { find include src tests -name '*.cpp' -o -name '*.hpp' | sort; }

# What GCC precompiled clang cannot read, so it is told to compile without.
commands_without_precompiled_headers() {  # BUILD
  mkdir -p "$1/tidy"
  sed 's| -include [^ ]*/precompiled/[^ ]*||g' "$1/compile_commands.json" >"$1/tidy/compile_commands.json"
}

compiled_sources() {  # BUILD
  sources | grep '\.cpp$' | grep -Ff <(grep -o '"file": "[^"]*"' "$1/compile_commands.json" |
    sed "s|.*\"$PWD/||; s|\"\$||")
}

case ${1:-} in
  format) sources | xargs clang-format --dry-run --Werror ;;
  tidy)
    commands_without_precompiled_headers "$2"
    compiled_sources "$2" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet \
      --extra-arg=-Wno-unknown-warning-option -p "$2/tidy"
    ;;
  *) sed -n '2,3s/^# //p' "$0" >&2 && exit 2 ;;
esac
