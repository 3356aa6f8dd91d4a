#!/usr/bin/env python3
"""Compares --conv_algorithm direct with winograd: seconds of a training step, by float32.

    /usr/bin/python3 tests/bench/convolutions.py [--rounds 5] [--batch_size 64] [--threads 1]

Both run in turn, a launch each a round, so that a busy minute falls on both. Steps train MiniResNet on
synthetic 3x32x32 images on one rank. Printed are minimum and median over all steps but each launch's
first two, and the medians of the ratios of one round. Needs nothing but Python.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "build" / "release" / "lockstep"
ALGORITHMS = ("direct", "winograd")


def step_seconds(args, algorithm):
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "run"
        command = [args.lockstep, "train", "--dataset", "synthetic", "--synthetic_size",
                   args.steps * args.batch_size, "--epochs", 1, "--eval_every", 0, "--batch_size",
                   args.batch_size, "--threads", args.threads, "--log_interval", 1, "--no-use_amp",
                   "--conv_algorithm", algorithm, "--output_dir", output]
        result = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                                timeout=600, env={**os.environ, "OMP_NUM_THREADS": str(args.threads)})
        if result.returncode != 0:
            sys.exit(f"lockstep ended with {result.returncode}:\n{result.stdout}{result.stderr}")
        events = [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]
    return [args.batch_size / e["images_per_second"] for e in events if e["event"] == "step"][2:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lockstep", type=Path, default=PROGRAM)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=7)
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    rounds = [{name: step_seconds(args, name) for name in ALGORITHMS} for _ in range(args.rounds)]
    for name in ALGORITHMS:
        seconds = [value for one in rounds for value in one[name]]
        print(f"{name:<9} min {min(seconds):.3f} s  median {statistics.median(seconds):.3f} s")
    for title, of in (("minima", min), ("medians", statistics.median)):
        ratios = [of(one["direct"]) / of(one["winograd"]) for one in rounds]
        print(f"direct / winograd by {title}: {statistics.median(ratios):.2f} "
              f"({min(ratios):.2f} to {max(ratios):.2f} over {args.rounds} rounds)")
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
