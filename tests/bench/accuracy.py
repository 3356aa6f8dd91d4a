#!/usr/bin/env python3
"""Compares the accuracy that --conv_algorithm direct and winograd reach, seed by seed.

    /usr/bin/python3 tests/bench/accuracy.py [--seeds 20] [--json FILE] [--SETTING VALUE]...

Each seed trains the shipped digits twice, with the same initial weights, order and everything else,
and the last epoch's validation accuracies are subtracted. Printed are one row a seed and the mean
difference with its 95 % interval (Student's t over the seeds' differences), in points of accuracy.
`auto` may stand for an algorithm whose interval lies within 0.3 points of direct. What is not known
here goes to `lockstep train`. Needs h5py and mpiexec; the machine need not be idle.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py

ROOT = Path(__file__).resolve().parents[2]
ALGORITHMS = ("direct", "winograd")
# Student's t, 97.5 %, by degrees of freedom.
T975 = {4: 2.776, 9: 2.262, 14: 2.145, 19: 2.093, 24: 2.064, 29: 2.045}


def accuracy(args, seed, algorithm, more):
    """The last epoch's, in points of 100."""
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "run"
        command = ["mpiexec", "-n", args.ranks, args.lockstep, "train", "--config",
                   ROOT / "inputs" / "digits.ini", "--threads", 1, "--no-use_amp",
                   "--save_every", 0, "--seed", seed, "--conv_algorithm", algorithm,
                   "--output_dir", output, *more]
        result = subprocess.run([str(word) for word in command], cwd=ROOT, text=True,
                                capture_output=True, timeout=3600)
        if result.returncode != 0:
            sys.exit(f"lockstep ended with {result.returncode}:\n{result.stdout}{result.stderr}")
        with h5py.File(output / "metrics.h5") as metrics:
            return 100.0 * float(metrics["epoch/val_accuracy"][-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lockstep", type=Path, default=ROOT / "build" / "release" / "lockstep")
    parser.add_argument("--seeds", type=int, default=20, choices=[n + 1 for n in T975])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    args, more = parser.parse_known_args()
    rows = []
    print(f"{'seed':>5}" + "".join(f"{name:>10}" for name in ALGORITHMS) + f"{'difference':>12}")
    for seed in range(1, args.seeds + 1):
        direct, winograd = (accuracy(args, seed, name, more) for name in ALGORITHMS)
        rows.append({"seed": seed, "direct": direct, "winograd": winograd})
        print(f"{seed:>5}{direct:>10.2f}{winograd:>10.2f}{winograd - direct:>+12.2f}", flush=True)
    differences = [row["winograd"] - row["direct"] for row in rows]
    mean = statistics.mean(differences)
    half = T975[args.seeds - 1] * statistics.stdev(differences) / args.seeds**0.5
    means = [statistics.mean(row[name] for row in rows) for name in ALGORITHMS]
    print(f" mean{means[0]:>10.2f}{means[1]:>10.2f}{mean:>+12.2f}"
          f"   95 % interval {mean - half:+.2f} to {mean + half:+.2f}")
    if args.json:
        args.json.write_text(json.dumps(
            {"settings": more, "ranks": args.ranks, "rows": rows, "mean_difference": mean,
             "interval_95": [mean - half, mean + half]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
