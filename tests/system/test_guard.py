"""A run keeps its directory for itself, ends when a rank hangs, and takes signals as they come."""

import json
import os
import shutil
import signal
import socket
import time

import harness

ENDLESS = ["--epochs", 100000]


class Guard(harness.LongRunTestCase):
    def steps(self):
        """Log points so far."""
        return (self.directory / "run" / "log.txt").read_text().count("step")

    def wait_for_progress(self, process):
        before, deadline = self.steps(), time.monotonic() + harness.DEADLINE
        while self.steps() <= before + 2:
            self.assertIsNone(process.poll(), "the run ended by itself")
            self.assertLess(time.monotonic(), deadline, "the run does not go on")
            time.sleep(0.01)

    def test_a_second_run_in_the_directory_is_refused_and_changes_nothing(self):
        process = self.start(2, *ENDLESS)
        for way in (["--resume_from", "auto"], ["--overwrite"]):
            result = self.train(2, "run", *ENDLESS, *way, expect=2)
            self.assertIn("another run does: process ", result.stderr)
            self.assertIn(f" on {socket.gethostname()}, since ", result.stderr)
            self.assertIn(str(self.ranks_of(process)[0]), result.stderr)
        self.wait_for_progress(process)
        os.kill(self.ranks_of(process)[0], signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, output + errors)
        self.train(2, "run", *ENDLESS, "--resume_from", "auto", "--max_steps", 1)

    def test_checkpoints_elsewhere_are_kept_for_one_run_too(self):
        self.start(1, *ENDLESS, "--checkpoint_dir", self.directory / "elsewhere")
        result = self.train(1, "other", *ENDLESS, "--checkpoint_dir",
                            self.directory / "elsewhere", "--overwrite", expect=2)
        self.assertIn("another run does", result.stderr)

    def test_a_killed_run_keeps_nobody_out(self):
        process = self.start(2, *ENDLESS)
        self.kill(process)
        self.train(2, "run", *ENDLESS, "--resume_from", "auto", "--max_steps", 1)

    def test_a_rank_that_is_stopped_ends_the_job_and_is_named(self):
        host = socket.gethostname()
        for ranks, stopped in ((2, 0), (2, 1), (3, 1)):
            process = self.start(ranks, *ENDLESS, "--hang_timeout", 10)
            # mpiexec starts ranks in order, and so they are numbered.
            os.kill(self.ranks_of(process)[stopped], signal.SIGSTOP)
            output, errors = process.communicate(timeout=60)
            self.assertNotEqual(process.returncode, 0, output + errors)
            for rank in range(ranks):
                if rank != stopped:
                    self.assertIn(f"[rank {rank}] watchdog on {host}: rank {stopped} ({host}) "
                                  "stands still", errors)
            if stopped != 0:
                self.assertIn(f"rank {stopped} ({host}) stands still",
                              (self.directory / "run" / "log.txt").read_text())
            shutil.rmtree(self.directory / "run")  # whose metrics tell that the next one trains

    def test_a_job_that_is_suspended_as_a_whole_goes_on_afterwards(self):
        process = self.start(2, *ENDLESS, "--hang_timeout", 10)
        ranks = self.ranks_of(process)
        for rank in ranks:
            os.kill(rank, signal.SIGSTOP)
        time.sleep(13)  # longer than the time-out: what is tested is that it passes unnoticed
        for rank in ranks:
            os.kill(rank, signal.SIGCONT)
        self.wait_for_progress(process)
        os.kill(ranks[1], signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, output + errors)

    def test_more_signals_while_it_stops_and_writes_do_no_harm(self):
        arguments = [*ENDLESS, "--save_every_steps", 1]
        process = self.start(2, *arguments)
        ranks = self.ranks_of(process)
        os.kill(ranks[1], signal.SIGUSR1)
        more, deadline = (signal.SIGTERM, signal.SIGUSR2, signal.SIGINT), time.monotonic() + 60
        sent = 0
        while process.poll() is None:
            self.assertLess(time.monotonic(), deadline, "the run does not stop")
            for rank in ranks:
                try:
                    os.kill(rank, more[sent % len(more)])
                except ProcessLookupError:
                    pass
            sent += 1
            time.sleep(0.005)
        output, errors = process.communicate()
        self.assertEqual(process.returncode, 75, output + errors)
        note = json.loads((self.directory / "run" / "stop.json").read_text())
        self.assertTrue(note["restart"])
        self.assertEqual(harness.datasets(self.checkpoint("run"))["sampler/global_step"],
                         note["step"])
        self.train(2, "run", *arguments, "--resume_from", "auto", "--max_steps", note["step"] + 2)
        self.train(2, "straight", *arguments, "--max_steps", note["step"] + 2)
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("run"))


if __name__ == "__main__":
    harness.main()
