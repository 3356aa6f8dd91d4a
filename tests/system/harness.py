"""Runs the whole program as a user does and reads what it wrote with h5py."""

import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy as np

PROGRAM = os.environ["LOCKSTEP_PROGRAM"]
MPIEXEC = os.environ["LOCKSTEP_MPIEXEC"]
PATIENCE = int(os.environ.get("LOCKSTEP_TEST_PATIENCE", "1"))  # more under sanitizers
DEADLINE = 120 * PATIENCE  # seconds; a run takes a few

# A network and data small enough to train in a second.
SMALL = ["--dataset", "synthetic", "--synthetic_size", "40", "--synthetic_val_size", "14",
         "--image_size", "8", "--in_channels", "1", "--width", "8", "--batch_size", "8",
         "--num_workers", "1", "--threads", "1", "--log_interval", "2", "--no-use_amp"]

# Data sets that hold times and so differ from run to run.
TIMES = {"epoch_seconds", "train_seconds", "val_seconds", "images_per_second",
         "data_wait_seconds", "comm_wait_seconds",
         "compute_seconds", "interval_seconds", "elapsed_seconds", "peak_rss_bytes"}


def environment():
    """The environment without what a scheduler or an earlier test may have left in it."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("SLURM_", "LOCKSTEP_", "PMI"))}
    return kept


def command(ranks, *arguments, name="train", program=PROGRAM):
    alone = [program, name, *map(str, arguments)]
    return alone if ranks == 0 else [MPIEXEC, "-n", str(ranks), *alone]


def processes(wanted):
    """Ids, ascending, of the processes whose arguments, a list of bytes, are `wanted`."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            arguments = pathlib.Path("/proc", entry, "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted(arguments):
            found.append(int(entry))
    return sorted(found)


def run(ranks, *arguments, name="train", cwd=None, deadline=DEADLINE):
    """Runs `lockstep name arguments...` on `ranks` ranks; 0: without mpiexec."""
    return subprocess.run(command(ranks, *arguments, name=name), cwd=cwd, env=environment(),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=deadline)


def datasets(path, skip_groups=()):
    """Every data set of an HDF5 file by path, but for those below `skip_groups`."""
    found = {}
    with h5py.File(path, "r") as file:
        def visit(name, item):
            if isinstance(item, h5py.Dataset) and not name.startswith(tuple(skip_groups)):
                found[name] = item[()]
        file.visititems(visit)
    return found


def tree_digest(directory):
    """Content and modification time of every file below `directory`."""
    return {str(path): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
            for path in sorted(pathlib.Path(directory).rglob("*")) if path.is_file()}


class RunTestCase(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="lockstep_test_"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def train(self, ranks, output, *arguments, expect=0):
        """A small run into directory `output`; checks the exit code and returns the result."""
        result = run(ranks, *SMALL, "--output_dir", self.directory / output, *arguments)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result

    def checkpoint(self, output):
        """The newest checkpoint of a run."""
        return max((self.directory / output / "checkpoints").glob("step_*.h5"))

    def assert_same_datasets(self, one, other, skip_groups=()):
        """Bitwise equality of all data sets of two files, but for times."""
        first, second = datasets(one, skip_groups), datasets(other, skip_groups)
        self.assertEqual(sorted(first), sorted(second))
        for path, value in first.items():
            if path.rsplit("/", 1)[-1] in TIMES:
                continue
            self.assertEqual(np.asarray(value).tobytes(), np.asarray(second[path]).tobytes(), path)


class LongRunTestCase(RunTestCase):
    """For what happens to a run while it runs."""

    def launch(self, ranks, *arguments):
        """A run into directory "run", in a process group of its own."""
        process = subprocess.Popen(
            command(ranks, *SMALL, "--output_dir", self.directory / "run", *arguments),
            env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    def start(self, ranks, *arguments):
        """A run that would take long, once it has written metrics."""
        process = self.launch(ranks, *arguments)
        deadline = time.monotonic() + DEADLINE
        while not (self.directory / "run" / "metrics.h5").exists():
            self.assertIsNone(process.poll(), "the run ended by itself")
            self.assertLess(time.monotonic(), deadline, "no metrics were written")
            time.sleep(0.01)
        return process

    def kill(self, process):
        """Every rank and mpiexec at once, as a node's end would, and waits until they are gone."""
        ranks, deadline = self.ranks_of(process), time.monotonic() + DEADLINE
        os.killpg(process.pid, signal.SIGKILL)
        while ranks:  # where mpiexec gives them groups of their own
            for rank in ranks:
                try:
                    os.kill(rank, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.assertLess(time.monotonic(), deadline, "killed ranks are still there")
            ranks = self.ranks_of(process)
        return process.communicate()

    @staticmethod
    def end(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()

    def ranks_of(self, process):
        """Process ids of the run's ranks: those below mpiexec that run the program."""
        run = str(self.directory / "run").encode()
        return processes(lambda arguments: arguments[0] == PROGRAM.encode() and run in arguments)


def main():
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[1:]])
