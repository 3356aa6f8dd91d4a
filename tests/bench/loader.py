#!/usr/bin/env python3
"""Compares data loading with PyTorch's DataLoader: images a second of processor time.

    /usr/bin/python3 tests/bench/loader.py --python ~/torch-venv/bin/python [--json FILE]

Both read the same 8192 images of 3x32x32 bytes from memory, crop them at random after padding by 4,
flip every other one, normalise them and hand out batches of 64. They take turns, a launch each a
round. The DataLoader has no worker process; "tuned" transforms whole batches. Needs h5py here, and
PyTorch and h5py in the Python that --python names.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parents[1] / "build" / "release" / "lockstep"


def write_images(path):
    random = np.random.default_rng(1)
    with h5py.File(path, "w") as file:
        file["images"] = random.integers(0, 256, (8192, 3, 32, 32), dtype=np.uint8)
        file["labels"] = random.integers(0, 10, 8192)


def output_of(command):
    result = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                            timeout=600, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if result.returncode != 0:
        sys.exit(f"{command[0]} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def lockstep(args, data):
    with tempfile.TemporaryDirectory() as directory:
        figures = Path(directory) / "figures.json"
        output_of([args.lockstep, "bench", "loader", "--blocks", 1, "--block_seconds", args.seconds,
                   "--dataset", "hdf5", "--train_data", data, "--val_fraction", 0,
                   "--crop_padding", 4, "--horizontal_flip", "--normalize", "data",
                   "--batch_size", 64, "--num_workers", 1, "--threads", 1, "--json", figures])
        found = json.loads(figures.read_text())["figures"]
    return next(f["blocks"][0] for f in found if f["unit"] == "images/s a core")


def peer(args, data, *options):
    printed = output_of([args.python, HERE / "peer_loader.py", data, "--seconds", args.seconds,
                         *options])
    return json.loads(printed)["images_per_core_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lockstep", type=Path, default=PROGRAM)
    parser.add_argument("--python", default=os.environ.get("LOCKSTEP_PEER_PYTHON"), required=
                        "LOCKSTEP_PEER_PYTHON" not in os.environ, help="a Python with PyTorch")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a block")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    args = parser.parse_args()
    programs = {"Lockstep": lockstep, "DataLoader": peer,
                "DataLoader tuned": lambda *to: peer(*to, "--tuned")}
    rates = {name: [] for name in programs}
    with tempfile.TemporaryDirectory() as directory:
        data = Path(directory) / "images.h5"
        write_images(data)
        for _ in range(args.rounds):
            for name, measure in programs.items():
                rates[name].append(measure(args, data))
    print(f"images a second and core, {args.rounds} rounds{'minimum':>18}{'median':>12}"
          f"{'ratio of medians':>20}")
    own = statistics.median(rates["Lockstep"])
    for name, values in rates.items():
        middle = statistics.median(values)
        print(f"{name:<42}{min(values):>12.0f}{middle:>12.0f}{own / middle:>20.2f}")
    print(f"load average {os.getloadavg()[0]:.1f}")
    if args.json:
        args.json.write_text(json.dumps(rates, indent=2) + "\n")


if __name__ == "__main__":
    main()
