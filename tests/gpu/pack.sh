#!/usr/bin/env bash
# Packs built programs with the libraries they need, for a machine that has only Python's torch.
#
#   bash tests/gpu/pack.sh             what is in build/release, into build/gpu-pack.tar.gz
#   bash tests/gpu/pack.sh BUILD FILE  what is in BUILD, into FILE; a directory where it does not end in .tar.gz
#
# Build first, with LOCKSTEP_CUDA=ON and LOCKSTEP_TESTS=ON: the targets lockstep, lockstep_gpu_library
# and nccl_on_gpu. In it go these, MPICH's launcher, and all libraries but those of glibc, LibTorch and CUDA.
set -euo pipefail
# shellcheck source=slurm/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../slurm/common.sh"

case ${1:-} in
  -h | --help) usage && exit ;;
  -*) fail "tests/gpu/pack.sh does not know $1." "$(usage)" ;;
esac
build=${1:-$root/build/release}
target=${2:-$root/build/gpu-pack.tar.gz}
[ -x "$build/lockstep" ] || fail "$build/lockstep is not there." \
  "Build it: cmake --preset release && cmake --build --preset release"
[ -f "$build/liblockstep_cuda.so" ] || fail "$build/liblockstep_cuda.so is not there." \
  "Configure with -DLOCKSTEP_CUDA=ON, where there are the CUDA toolkit and NCCL, and build."
[ -f "$build/CMakeCache.txt" ] || fail "$build is no build folder: it has no CMakeCache.txt." \
  "The pack has to know which LibTorch the programs were linked with."
case $target in
  *.tar.gz) ;;
  *) if [ -e "$target" ] && [ ! -f "$target/manifest.json" ]; then
    fail "$target is there, and it is no pack." "Name one that is to be made, or replaced."
  fi ;;
esac
build=$(cd "$build" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pack=$work/gpu-pack
mkdir -p "$pack"/{bin,lib/ucx,libstdc++}

launcher() {  # name: MPICH's own, since mpiexec may be Slurm's or another's
  command -v "$1" || fail "No $1 on PATH: MPICH's launcher is to be packed (Debian: mpich)."
}

programs=("$build/lockstep" "$build"/liblockstep_*.so)
programs+=("$(launcher mpiexec.hydra)" "$(launcher hydra_pmi_proxy)")
nccl_test=$build/tests/gpu/nccl_on_gpu
if [ -x "$nccl_test" ]; then
  programs+=("$nccl_test")
else
  echo "$nccl_test is not there: without it the parts on NCCL are not possible." >&2
fi

# Comes with the target's glibc or torch, or must be the target's own: drivers' and loaders' libraries.
of_glibc='ld-linux[^/]*|lib(c|m|dl|rt|pthread|util|resolv|anl|nsl)'
of_torch='lib(torch|c10|shm|gomp|cuda|cupti|nccl|nvidia)[^/]*'

libraries() {  # program or library...: what they need, with all that these need, as ldd finds it
  ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -Ev "/($of_glibc|$of_torch)\.so[^/]*\$"
}

copy() {  # directory, file...: under the names they are asked for by
  local directory=$1 file
  shift
  for file; do install -m 755 "$(readlink -f "$file")" "$directory/${file##*/}"; done
}

torch_version() {  # of the LibTorch that the build was linked with
  local home
  home=$(sed -n 's/^LOCKSTEP_TORCH_ROOT:[^=]*=//p' "$build/CMakeCache.txt")
  sed -n "s/^__version__ = '\([^']*\)'.*/\1/p" "$home/version.py" 2>/dev/null || true
}

mapfile -t needed < <(libraries "${programs[@]}")
copy "$pack/bin" "${programs[@]}"
for library in "${needed[@]}"; do
  case ${library##*/} in
    # Only where the target's are older: what it has itself may need newer ones than these.
    libstdc++.so.* | libgcc_s.so.*) copy "$pack/libstdc++" "$library" ;;
    *) copy "$pack/lib" "$library" ;;
  esac
done
# Found by UCX below its own folder: what copies between processes of a node.
for library in "${needed[@]}"; do
  module=${library%/*}/ucx/libuct_cma.so.0
  if [[ $library == */libucs.so.* && -e $module ]]; then copy "$pack/lib/ucx" "$module"; fi
done
strip --strip-unneeded "$pack"/bin/* "$pack"/lib/*.so* 2>/dev/null || true

# Whatever the files of the pack name must be in it or come from the target.
of_target=()
while read -r name; do
  if [ -e "$pack/lib/$name" ] || [ -e "$pack/libstdc++/$name" ]; then continue; fi
  [[ "$name" =~ ^($of_glibc|$of_torch)\.so ]] || fail "$name is needed, and ldd does not find it."
  of_target+=("$name")
done < <(find "$pack" -type f -exec readelf -d {} + 2>/dev/null |
  sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u)

oldest_glibc() {  # directory...: the version that has all symbols these files ask for
  find "$@" -type f -exec objdump -T {} + 2>/dev/null | grep -oE 'GLIBC_[0-9][0-9.]*' | sort -Vu |
    sed -n '$s/GLIBC_//p'
}
glibc=$(oldest_glibc "$pack/bin" "$pack/lib")

cat >"$pack/manifest.json" <<JSON
{
  "lockstep": "$("$build/lockstep" --version)",
  "commit": "$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)",
  "glibc": "$glibc",
  "glibc_of_libstdc++": "$(oldest_glibc "$pack/libstdc++")",
  "torch": "$(torch_version)",
  "libraries": ${#needed[@]},
  "from_the_target": "${of_target[*]}"
}
JSON

unpacked=$(du -sh "$pack" | cut -f1)
mkdir -p "$(dirname "$target")"
case $target in
  *.tar.gz) tar -C "$work" -czf "$target.partial" gpu-pack && mv "$target.partial" "$target" ;;
  *) rm -rf "$target" && mv "$pack" "$target" ;;
esac
echo "$target: $(du -sh "$target" | cut -f1), $unpacked unpacked; glibc >= $glibc, ${#needed[@]} libraries"
