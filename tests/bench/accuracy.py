#!/usr/bin/env python3
"""Compares the accuracy that --conv_algorithm direct and winograd reach, seed by seed.

    /usr/bin/python3 tests/bench/accuracy.py [--seeds 20] [--jobs 1] [--json FILE] [--SETTING VALUE]...

A seed draws halves of the 1,797 shipped digits. With either algorithm a network learns one half and
is validated on the other, then the other way round, so an accuracy is one over all digits. Initial
weights, order and everything else are the same for both. Printed are one row a seed and the mean
difference with its 95 % interval (Student's t over the seeds' differences), in points of accuracy.
`auto` may stand for an algorithm whose interval lies within 0.3 points of direct. What is not known
here goes to `lockstep train`. Needs h5py, numpy and mpiexec; the machine need not be idle.
"""
import argparse
import concurrent.futures
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "inputs" / "digits.h5"
ALGORITHMS = ("direct", "winograd")
# Student's t, 97.5 %, by degrees of freedom.
T975 = {4: 2.776, 9: 2.262, 14: 2.145, 19: 2.093, 24: 2.064, 29: 2.045}


def write_halves(directory, seed):
    """Two data files, of which one's validation samples are what the other trains on."""
    with h5py.File(DIGITS) as digits:
        images, labels = (np.concatenate([digits[group][name] for group in ("train", "validation")])
                          for name in ("images", "labels"))
    halves = np.array_split(np.random.default_rng(seed).permutation(len(labels)), 2)
    files = [directory / "half_0.h5", directory / "half_1.h5"]
    for file, (train, validation) in zip(files, (halves, halves[::-1])):
        with h5py.File(file, "w") as written:
            for group, chosen in (("train", train), ("validation", validation)):
                written[f"{group}/images"] = images[chosen] / np.float32(16)
                written[f"{group}/labels"] = labels[chosen]
    return files


def correct(args, seed, algorithm, data, more):
    """How many of the validation samples the last epoch's network knows, and of how many."""
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "run"
        command = ["mpiexec", "-n", args.ranks, args.lockstep, "train", "--config",
                   ROOT / "inputs" / "digits.ini", "--train_data", data, "--threads", 1,
                   "--no-use_amp", "--save_every", 0, "--seed", seed,
                   "--conv_algorithm", algorithm, "--output_dir", output, *more]
        result = subprocess.run([str(word) for word in command], cwd=ROOT, text=True,
                                capture_output=True, timeout=3600)
        if result.returncode != 0:
            sys.exit(f"lockstep ended with {result.returncode}:\n{result.stdout}{result.stderr}")
        with h5py.File(output / "metrics.h5") as metrics:
            return np.array([metrics["epoch/val_correct"][-1], metrics["epoch/val_samples"][-1]])


def accuracies(args, seed, more):
    """By algorithm, in points of 100."""
    with tempfile.TemporaryDirectory() as directory:
        halves = write_halves(Path(directory), seed)
        results = {}
        for algorithm in ALGORITHMS:
            known, samples = sum(correct(args, seed, algorithm, half, more) for half in halves)
            results[algorithm] = 100.0 * float(known) / float(samples)
        return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lockstep", type=Path, default=ROOT / "build" / "release" / "lockstep")
    parser.add_argument("--seeds", type=int, default=20, choices=[n + 1 for n in T975])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1, help="seeds at a time")
    parser.add_argument("--json", type=Path, help="also write all figures to this file")
    args, more = parser.parse_known_args()
    rows = []
    print(f"{'seed':>5}" + "".join(f"{name:>10}" for name in ALGORITHMS) + f"{'difference':>12}")
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    seeds = range(1, args.seeds + 1)
    for seed, found in zip(seeds, pool.map(lambda seed: accuracies(args, seed, more), seeds)):
        row = {"seed": seed, **found}
        rows.append(row)
        print(f"{seed:>5}" + "".join(f"{row[name]:>10.2f}" for name in ALGORITHMS)
              + f"{row['winograd'] - row['direct']:>+12.2f}", flush=True)
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
