"""Checks that every source file includes only what its module may, and public headers what they need.

Usage: check_includes.py ROOT. Prints one line a violation, "file:line: what is wrong", and exits
with 1 if there is any.
"""

import pathlib
import re
import sys

# Bottom to top. A module may include itself, base and those named here, which stand above it.
MODULES = {
    "base": [],
    "config": [],
    "launch": [],
    "comm": ["launch"],
    "io": ["comm"],
    "data": ["comm", "io"],
    "bench": ["comm", "io", "data"],
    "control": ["comm", "launch"],
    "cuda": ["comm"],
    "kernels": [],
    "model": ["kernels"],
    "optim": [],
    "ddp": ["comm", "model"],
    "train": ["config", "launch", "comm", "io", "data", "control", "model", "optim", "ddp"],
    "app": ["config", "launch", "comm", "io", "data", "control", "model", "optim", "ddp", "train",
            "cuda", "bench"],
}
WITH_TORCH = {"model", "optim", "ddp", "train", "app"}
DEFINES_NETWORKS = {"model"}

# A private header is for its own module, with one exception: parallel HDF5 needs the MPI_Comm.
DOORS = {("io", "comm/mpi_door.hpp")}

# Libraries behind a module's door: what includes them, which modules' sources may (no public header
# ever may), and what they are called.
LIBRARIES = [
    (re.compile(r"mpi\.h$"), {"comm"}, "MPI"),
    (re.compile(r"hdf5(_hl)?\.h$|H5\w*\.h$"), {"io"}, "HDF5"),
    (re.compile(r"nccl\.h$"), {"cuda"}, "NCCL"),
    # What ends in .hpp below cuda/ is the module's own.
    (re.compile(r"(cuda|cudnn|cublas|curand|nvml)\w*\.h$|cuda/(?!\w+\.hpp$)|(ATen|c10)/cuda/"), {"cuda"}, "CUDA"),
    (re.compile(r"boost/"), {"config"}, "Boost"),
    (re.compile(r"spdlog/"), {"base"}, "spdlog"),
]

# What is compiled where there is a CUDA toolkit: nothing else may need one.
NEEDS_TOOLKIT = {"CUDA", "NCCL"}
WITH_TOOLKIT = pathlib.PurePath("src/cuda/gpu_api.cpp")

TORCH = re.compile(r"(torch|ATen|c10)/")
TORCH_NN = re.compile(r"torch/(nn[./]|torch\.h$|all\.h$|csrc/api/include/torch/nn)")

# LibTorch's headers may be precompiled, and the compiler then misses none: who uses its names includes one.
TORCH_NAME = re.compile(r"^(?!\s*//).*\b(at|c10|torch)::\w")

SUFFIXES = {".hpp", ".h", ".cuh", ".cpp", ".cc", ".cu"}
INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]+)[>"]')
PUBLIC = pathlib.PurePath("include/lockstep")
PRIVATE = pathlib.PurePath("src")


def violations_of_include(path, module, public, header):
    """What is wrong with `path`, of `module`, including `header`; `public` for a public header."""
    parts = header.split("/")
    if parts[0] == "lockstep":
        target = parts[1]
        if target not in MODULES:
            yield f"{header} belongs to no known module"
        elif target not in {module, "base", *MODULES[module]}:
            yield f"{module} may not include {target} ({header})"
    elif parts[0] in MODULES and len(parts) > 1:
        if public:
            yield f"a public header may not include the private {header}"
        elif parts[0] != module and (module, header) not in DOORS:
            yield f"{header} is private to {parts[0]}"

    for pattern, modules, name in LIBRARIES:
        if pattern.match(header):
            if public:
                yield f"{name} ({header}) may appear in no public header"
            elif module not in modules:
                yield f"{module} may not include {name} ({header})"
            elif name in NEEDS_TOOLKIT and path != WITH_TOOLKIT:
                yield f"only {WITH_TOOLKIT} may include {name} ({header})"
    if TORCH.match(header) and module not in WITH_TORCH:
        yield f"{module} is free of torch ({header})"
    if TORCH_NN.match(header) and module not in DEFINES_NETWORKS:
        yield f"only files that define networks include torch/nn ({header})"


def module_of(path):
    """The module of a file (path relative to the root) and whether it is a public header."""
    for base in (PUBLIC, PRIVATE):
        if path.is_relative_to(base):
            inner = path.relative_to(base)
            # main.cpp, directly in src, is the top of app.
            return (inner.parts[0] if len(inner.parts) > 1 else "app"), base == PUBLIC
    raise ValueError(f"{path} is no source file")


def own_header(root, path):
    """The header of a source file (path relative to the root), as it is included; None: it has none."""
    if path.suffix not in {".cpp", ".cc", ".cu"}:
        return None
    inner = path.relative_to(PRIVATE).with_suffix(".hpp")
    if (root / PUBLIC / inner).exists():
        return f"lockstep/{inner}"
    return str(inner) if (root / PRIVATE / inner).exists() else None


def violations(root):
    """All violations below `root`, as texts."""
    found = []
    files = sorted(file for base in (PUBLIC, PRIVATE) for file in (root / base).rglob("*")
                   if file.suffix in SUFFIXES)
    for file in files:
        path = file.relative_to(root)
        module, public = module_of(path)
        if module not in MODULES:
            found.append(f"{path}: {module} is no known module")
            continue
        lines = file.read_text().splitlines()
        includes = {number: match[1] for number, line in enumerate(lines, start=1)
                    if (match := INCLUDE.match(line))}
        for number, header in includes.items():
            found += [f"{path}:{number}: {text}"
                      for text in violations_of_include(path, module, public, header)]
        own = own_header(root, path)
        if own and next(iter(includes.values()), None) != own:
            found.append(f"{path}: does not include its own {own} first")
        uses = [number for number, line in enumerate(lines, start=1) if TORCH_NAME.match(line)]
        if public and uses and not any(map(TORCH.match, includes.values())):
            found.append(f"{path}:{uses[0]}: uses LibTorch without including any of its headers")
    if not files:
        found.append(f"{root}: holds no source files")
    return found


if __name__ == "__main__":
    problems = violations(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "every include is allowed")
    sys.exit(1 if problems else 0)
