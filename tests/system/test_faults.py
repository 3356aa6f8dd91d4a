"""Whatever goes wrong on one rank, wherever: the whole job ends and says who, where and why."""

import os
import socket
import unittest

import harness

PHASES = ("setup", "load", "step", "checkpoint", "evaluate", "finish")
# Much longer than a run takes until the fault, and short enough to call what takes longer hanging.
DEADLINE = 40
HOST = socket.gethostname()

# Of each kind what standard error says, but for the phase.
CAUSES = {
    "throw": [f"[rank 1] on {HOST}: go on in phase ", "a fault was asked for"],
    "bad_alloc": [f"[rank 1] on {HOST}: ", "out of memory"],
    "segv": [f"[rank 1] on {HOST}: died of SIGSEGV in phase "],
    "abort": [f"[rank 1] on {HOST}: died of SIGABRT in phase "],
    "kill": ["BAD TERMINATION"],  # mpiexec's; the rank itself has no say
    "stall": [f"rank 1 ({HOST}) stands still in phase ", "its main thread is at"],
    "stop": [f"rank 1 ({HOST}) stands still in phase "],
}


class Faults(harness.RunTestCase):
    def run_with(self, fault, output, *arguments):
        return harness.run(2, *harness.SMALL, "--epochs", 2, "--output_dir",
                           self.directory / output, "--fault", fault, *arguments,
                           deadline=DEADLINE)

    def assert_nobody_left(self):
        here = str(self.directory).encode()
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    self.assertFalse(here in file.read() and int(entry) != os.getpid(), entry)
            except OSError:
                continue

    def check_kind(self, kind):
        hangs = ["--hang_timeout", 2] if kind in ("stall", "stop") else []
        for phase in PHASES:
            with self.subTest(kind=kind, phase=phase):
                result = self.run_with(f"rank=1,phase={phase},kind={kind}", phase, *hangs)
                self.assertNotEqual(result.returncode, 0)
                said = result.stdout + result.stderr
                for text in CAUSES[kind]:
                    self.assertIn(text + phase if text.endswith("phase ") else text, said)
                self.assert_nobody_left()

    def test_an_exception(self):
        self.check_kind("throw")

    def test_no_memory(self):
        self.check_kind("bad_alloc")

    def test_a_wild_pointer(self):
        self.check_kind("segv")

    def test_an_abort(self):
        self.check_kind("abort")

    def test_a_killed_rank(self):
        self.check_kind("kill")

    def test_a_main_thread_that_stands_still(self):
        self.check_kind("stall")

    def test_a_stopped_process(self):
        self.check_kind("stop")

    def test_rank_zero_is_no_exception(self):
        for kind, text in (("throw", "[rank 0] on "), ("segv", "[rank 0] on "),
                           ("stop", "rank 0 (")):
            result = self.run_with(f"rank=0,phase=step,step=2,kind={kind}", kind,
                                   "--hang_timeout", 2)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(text, result.stderr)
            self.assertIn("step 2", result.stderr)

    def test_writes_that_fail_end_all_and_name_the_file(self):
        for write in ("async", "sync"):
            result = self.run_with("rank=0,phase=checkpoint,kind=write_error", write,
                                   "--checkpoint_write", write)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            self.assertIn("checkpoints/step_", result.stderr)
            self.assertIn("File too large", result.stderr)

    def test_samples_that_are_nan_on_one_rank_make_all_skip_the_step(self):
        result = self.run_with("rank=1,phase=step,step=2,kind=nan", "run")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("step 2 skipped", result.stdout)
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        self.assertEqual(metrics["epoch/skipped_steps"].tolist(), [1, 1])

    def test_a_fault_that_makes_no_sense_is_refused(self):
        result = self.run_with("phase=step,kind=thrw", "run")
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertIn("did you mean 'throw'", result.stderr)
        self.assertFalse((self.directory / "run").exists())

    def test_a_fault_is_not_repeated_by_the_written_configuration(self):
        self.run_with("rank=1,phase=step,step=2,kind=nan", "run")
        self.assertNotIn("fault", (self.directory / "run" / "config.ini").read_text())


if __name__ == "__main__":
    harness.main()
