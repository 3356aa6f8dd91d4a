#!/usr/bin/env python3
"""Compares Lockstep with PyTorch DDP here: launch to first step, images/s, memory a rank.

    python3 tests/bench/bench.py --python ~/torch-venv/bin/python

The programs run in turn, a round each, so that a busy minute falls on all of them. Both are started
by mpiexec with one thread a rank and train MiniResNet on synthetic 3x32x32 images. README.md says
what is measured. Needs h5py here, and PyTorch in the Python that --python names.
"""
import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import h5py

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TIMEOUT_SECONDS = 600
BLOCK_STEPS = 5
BLOCKS = 4  # the first is a warm-up

# Title, unit, what Figures call it, format, scale, and which of several peers is the better one.
QUANTITIES = (("launch to first step", "s", "first_step_seconds", ".2f", 1, min),
              ("rate of all ranks", "images/s", "images_per_second", ".1f", 1, max),
              ("peak memory a rank", "MB", "peak_rss_bytes", ".0f", 1e6, min))


@dataclass
class Figures:
    """What one program showed: one launch a round, several blocks of steps each."""
    first_step_seconds: list[float] = field(default_factory=list)
    images_per_second: list[float] = field(default_factory=list)
    peak_rss_bytes: list[float] = field(default_factory=list)
    version: str = ""

    def add(self, version, first_step_seconds, images_per_second, peak_rss_bytes):
        self.version = version
        self.first_step_seconds.append(first_step_seconds)
        self.images_per_second.extend(images_per_second)
        self.peak_rss_bytes.append(peak_rss_bytes)

    def median(self, quantity):
        return statistics.median(getattr(self, quantity))


def launch(args, command):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "LOCKSTEP_LAUNCH_TIME": repr(time.time())}
    result = subprocess.run(["mpiexec", "-n", str(args.ranks), *map(str, command)], text=True,
                            env=environment, timeout=TIMEOUT_SECONDS, capture_output=True)
    if result.returncode != 0:
        sys.exit(f"{command[0]} ended with {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def run_lockstep(args, figures, options):
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "run"
        samples = args.ranks * args.batch_size * BLOCK_STEPS * BLOCKS
        launch(args, [
            args.lockstep, "train", "--dataset", "synthetic", "--synthetic_size", samples,
            "--epochs", 1, "--eval_every", 0, "--batch_size", args.batch_size, "--threads", 1,
            "--log_interval", BLOCK_STEPS, "--output_dir", output,
            "--no-use_amp" if args.fp32 else "--use_amp", *options])
        events = [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]
        first_step = next(e["seconds_since_launch"] for e in events if e["event"] == "first_step")
        rates = [e["images_per_second"] for e in events if e["event"] == "step"]
        with h5py.File(output / "metrics.h5") as metrics:
            figures.add(f"Lockstep {metrics.attrs['lockstep_version']}", first_step, rates[1:],
                        int(metrics["rank/peak_rss_bytes"][...].max()))


def run_peer(args, figures, options):
    with tempfile.TemporaryDirectory() as directory:
        printed = launch(args, [
            args.python, HERE / "peer_ddp.py", "--store", Path(directory) / "store",
            "--batch_size", args.batch_size, "--block", BLOCK_STEPS, "--blocks", BLOCKS, *options])
    figures.add(**json.loads(printed))


def machine():
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    return {"cpu": model[1] if model else platform.machine(), "cores": len(os.sched_getaffinity(0)),
            "load_average_before": os.getloadavg()[0]}


def print_table(columns):
    """Medians, and Lockstep's ratios to the better peer."""
    own = [name for name in columns if name.startswith("Lockstep")]
    peers = [name for name in columns if name not in own]
    print_row("", list(columns) + [f"{name} / peer" for name in own if peers])
    for title, unit, quantity, form, scale, better in QUANTITIES:
        medians = {name: figures.median(quantity) for name, figures in columns.items()}
        cells = [f"{value / scale:{form}} {unit}" for value in medians.values()]
        if peers:
            peer = better(medians[name] for name in peers)
            cells += [f"{medians[name] / peer:.2f}" for name in own]
        print_row(title, cells)


def print_row(title, cells):
    print(f"{title:<20}" + "".join(f"{cell:>26}" for cell in cells))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lockstep", type=Path, default=ROOT / "build" / "release" / "lockstep")
    parser.add_argument("--python", default=os.environ.get("LOCKSTEP_PEER_PYTHON"),
                        help="a Python with PyTorch (default: LOCKSTEP_PEER_PYTHON)")
    parser.add_argument("--rounds", type=int, default=3, help="launches of each program")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=64, help="images a rank and step")
    parser.add_argument("--algorithms", default="auto",
                        help="values of Lockstep's --conv_algorithm, with commas (default: auto)")
    parser.add_argument("--fp32", action="store_true", help="Lockstep and tuned peer in float32")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    return parser.parse_args()


def main():
    args = arguments()
    if not shutil.which(args.lockstep):
        sys.exit(f"{args.lockstep} is not there; build it with: cmake --build --preset release")
    programs = {f"Lockstep {name}": lambda *to, name=name: run_lockstep(
        *to, ["--conv_algorithm", name]) for name in args.algorithms.split(",")}
    if args.python:
        tuned = ["--fp32"] if args.fp32 else []
        programs["peer tuned"] = lambda *to: run_peer(*to, tuned)
        programs["peer default"] = lambda *to: run_peer(*to, ["--default"])
    else:
        print("No peer: neither --python nor LOCKSTEP_PEER_PYTHON names a Python with PyTorch.")
    description = machine()
    precision = "float32" if args.fp32 else "bfloat16"
    print(f"{description['cpu']}, {description['cores']} cores, "
          f"load {description['load_average_before']:.1f} before; {args.ranks} ranks of one "
          f"thread, {args.batch_size} images a rank, {precision}, medians of {args.rounds} rounds")
    columns = {name: Figures() for name in programs}
    for _ in range(args.rounds):
        for name, run in programs.items():
            run(args, columns[name])
    print_table(columns)
    if args.json:
        args.json.write_text(json.dumps({
            "machine": description, "ranks": args.ranks, "batch_size": args.batch_size,
            "precision": precision,
            "figures": {name: vars(figures) for name, figures in columns.items()},
        }, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
