"""Runs in which something goes wrong on purpose, on one rank, in one phase."""

import concurrent.futures
import socket
import time

import harness

PHASES = ("setup", "load", "step", "checkpoint", "evaluate", "finish")
# Seconds; a healthy run moves within these on a busy machine too.
HANG_TIMEOUT = 10
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


class FaultTestCase(harness.RunTestCase):
    def run_with(self, fault, output, *arguments):
        return harness.run(2, *harness.SMALL, "--epochs", 2, "--output_dir",
                           self.directory / output, "--fault", fault, *arguments)

    def assert_nobody_left(self):
        """mpiexec does not wait for those it kills."""
        here, deadline = str(self.directory).encode(), time.monotonic() + 10
        while harness.processes(lambda arguments: any(here in one for one in arguments)):
            self.assertLess(time.monotonic(), deadline, "ranks have outlived mpiexec")
            time.sleep(0.01)

    def check_kind(self, kind):
        hangs = kind in ("stall", "stop")
        time_out = ["--hang_timeout", HANG_TIMEOUT] if hangs else []

        def run(phase):
            return self.run_with(f"rank=1,phase={phase},kind={kind}", phase, *time_out)

        # Runs that hang leave most of the machine to each other.
        with concurrent.futures.ThreadPoolExecutor(3 if hangs else 1) as pool:
            results = dict(zip(PHASES, pool.map(run, PHASES)))
        for phase, result in results.items():
            with self.subTest(kind=kind, phase=phase):
                self.assertNotEqual(result.returncode, 0)
                said = result.stdout + result.stderr
                for text in CAUSES[kind]:
                    self.assertIn(text + phase if text.endswith("phase ") else text, said)
        self.assert_nobody_left()
