"""Kills ranks with SIGKILL while they write: what was finished before stays readable.

usage: kill_writer.py MPIEXEC IO_WRITE_FILES
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

TIMEOUT = 60 * int(os.environ.get("LOCKSTEP_TEST_PATIENCE", "1"))  # more under sanitizers


def step_of(path):
    return int(path.name.split("_")[1].split(".")[0])


def wait_for(condition, what):
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, f"no {what} in {TIMEOUT} s"


def ranks_below(pid):
    """The processes that mpiexec started, also those its proxies started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children] + [p for c in children for p in ranks_below(c)]


def kill_while_writing(mpiexec, program, directory, part_written):
    """Kills all once `part_written` tells; returns the last step announced before."""
    writer = subprocess.Popen([mpiexec, "-n", "2", program, "endless", str(directory)],
                              stdout=subprocess.PIPE, text=True)
    try:
        announced = 0
        while announced < 2:
            announced = int(writer.stdout.readline())
        wait_for(lambda: part_written(directory), "temporary file")
    finally:
        for pid in ranks_below(writer.pid):
            os.kill(pid, signal.SIGKILL)
        writer.wait(TIMEOUT)
    rest = [int(line) for line in writer.stdout.read().split("\n")[:-1] if line.isdigit()]
    return max([announced, *rest])


def check(mpiexec, program, directory, announced):
    checkpoints = sorted(Path(directory).glob("step_*.h5"))
    steps = [step_of(path) for path in checkpoints]
    assert announced in steps, (announced, steps)
    for path in checkpoints:
        with h5py.File(path, "r") as f:
            weight = f["model/w"][()]
        assert np.all(weight == step_of(path)), path
    with h5py.File(Path(directory) / "metrics.h5", "r") as f:
        epochs = f["epoch/epoch"][()].tolist()
    assert epochs == list(range(len(epochs))) and len(epochs) >= announced
    found = subprocess.run([mpiexec, "-n", "1", program, "newest", str(directory)], check=True,
                           timeout=TIMEOUT, capture_output=True, text=True).stdout
    assert int(found) == steps[-1]
    assert not list(Path(directory).glob("step_*.tmp"))


def main():
    mpiexec, program = sys.argv[1:3]

    def checkpoint_begun(directory):
        return list(Path(directory).glob("step_*.tmp"))

    def checkpoint_half_written(directory):
        # The space is reserved, so the file has its size: blocks tell nothing, bytes do.
        for path in checkpoint_begun(directory):
            try:
                with open(path, "rb") as f:
                    f.seek(4 << 20)
                    if any(f.read(64)):
                        return True
            except FileNotFoundError:
                pass
        return False

    def metrics_begun(directory):
        return (Path(directory) / "metrics.h5.tmp").exists()

    for moment in (checkpoint_begun, checkpoint_half_written, metrics_begun):
        with tempfile.TemporaryDirectory() as directory:
            announced = kill_while_writing(mpiexec, program, directory, moment)
            check(mpiexec, program, directory, announced)


main()
