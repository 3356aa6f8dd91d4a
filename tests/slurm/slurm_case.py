"""What the tests on a real Slurm have in common: they run commands and jobs on a cluster that they start.

usage of a test: python3 tests/slurm/NAME_test.py PROGRAM     (exit code 77: skipped, with its reason)
"""

import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

from cluster import obstacle

SKIPPED = 77
SECONDS_IN_ALL = 270  # less than ctest allows, so that the cluster is taken down in every case
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/lockstep").resolve()


class SlurmTestCase(unittest.TestCase):
    cluster = None  # running while the tests do

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="lockstep-slurm-test-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.run_directory = self.directory / "run"
        self.output = self.directory / "job.out"

    def call(self, *command, program=PROGRAM, seconds=120):
        """Runs a command from the checkout; returns its exit code and all it printed."""
        done = subprocess.run([str(part) for part in command], cwd=ROOT, text=True,
                              env={**self.cluster.environment, "LOCKSTEP": str(program)},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds, check=False)
        return done.returncode, done.stdout

    def submit(self, *arguments, options=(), script="slurm/train.sbatch", **how):
        """Submits a job and waits for its end; returns its exit code and what it printed."""
        code, said = self.call("sbatch", "--wait", f"--output={self.output}", *options, script,
                               *arguments, **how)
        return code, self.output.read_text() if self.output.exists() else said

    def script(self, text):
        """An executable shell script, as a program in Lockstep's place or as a job."""
        path = self.directory / "script.sh"
        path.write_text("#!/usr/bin/env bash\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path


def give_up(number, _):
    print(f"stopped by {signal.Signals(number).name} ({SECONDS_IN_ALL} s are allowed)", flush=True)
    raise KeyboardInterrupt  # an Exception would count as a failure of one test, and the next begin


def main(cluster):
    """Runs the calling script's tests on `cluster`, which is not started yet."""
    if obstacle():
        print(f"skipped: {obstacle()}")
        sys.exit(SKIPPED)
    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGTERM, give_up)
    signal.alarm(SECONDS_IN_ALL)
    with cluster as SlurmTestCase.cluster:  # out here it is ended whatever ends the tests
        tests = unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2, exit=False)
    sys.exit(not tests.result.wasSuccessful())
