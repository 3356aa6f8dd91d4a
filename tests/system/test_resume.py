"""A run that was stopped, killed or resumed ends as if nothing had happened."""

import json
import os
import signal
import subprocess
import time
import unittest

import h5py

import harness


class Resume(harness.RunTestCase):
    def check_three_and_three(self, ranks, *arguments):
        self.train(ranks, "straight", "--epochs", 6, *arguments)
        self.train(ranks, "parts", "--epochs", 6, "--stop_after_epochs", 3, *arguments)
        stop = json.loads((self.directory / "parts" / "stop.json").read_text())
        self.assertEqual(stop["restart"], False)
        self.train(ranks, "parts", "--epochs", 6, "--resume_from", "auto", *arguments)
        self.assertFalse((self.directory / "parts" / "stop.json").exists())
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("parts"))
        self.assert_same_datasets(self.directory / "straight" / "metrics.h5",
                                  self.directory / "parts" / "metrics.h5")

    def test_three_epochs_and_three_equal_six_on_one_rank(self):
        self.check_three_and_three(1)

    def test_three_epochs_and_three_equal_six_on_two_ranks(self):
        self.check_three_and_three(2)

    def test_epochs_without_validation_stay_without(self):
        self.check_three_and_three(1, "--eval_every", 2)

    def test_overwriting_another_run_leaves_nothing_of_it(self):
        self.train(1, "straight", "--epochs", 4, "--keep_last", 0)
        self.train(1, "branch", "--epochs", 40, "--batch_size", 1)
        first = min((self.directory / "straight" / "checkpoints").glob("step_*.h5"))
        self.train(1, "branch", "--epochs", 4, "--resume_from", first, "--overwrite")
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("branch"))

    def test_other_worker_counts_change_nothing(self):
        self.train(2, "one", "--epochs", 2, "--num_workers", 0)
        self.train(2, "two", "--epochs", 2, "--num_workers", 3)
        self.assert_same_datasets(self.checkpoint("one"), self.checkpoint("two"))

    def test_max_steps_stops_there_and_the_run_goes_on_bitwise(self):
        # 40 samples in global batches of 16: three steps an epoch.
        self.train(2, "straight", "--epochs", 3)
        for stop in (1, 3, 4, 8):
            self.train(2, "parts", "--epochs", 3, "--max_steps", stop, "--resume_from", "auto")
            self.assertEqual(harness.datasets(self.checkpoint("parts"))["sampler/global_step"], stop)
            note = json.loads((self.directory / "parts" / "stop.json").read_text())
            self.assertEqual(note, {"reason": f"max_steps = {stop}", "step": stop, "restart": False})
        self.train(2, "parts", "--epochs", 3, "--resume_from", "auto")
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("parts"))

    def test_augmentation_depends_on_neither_workers_nor_interruption(self):
        augmented = ["--crop_padding", 2, "--horizontal_flip", "--normalize", "data"]
        self.check_three_and_three(2, *augmented)
        self.train(2, "workers", "--epochs", 6, *augmented, "--num_workers", 0)
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("workers"))
        self.train(2, "plain", "--epochs", 6, "--normalize", "data")
        with h5py.File(self.checkpoint("plain")) as plain, \
                h5py.File(self.checkpoint("straight")) as straight:
            self.assertFalse((plain["model/fc.weight"][()] ==
                              straight["model/fc.weight"][()]).all())

    def test_resume_from_a_named_file_starts_a_branch(self):
        self.train(1, "straight", "--epochs", 4, "--keep_last", 0)
        first = min((self.directory / "straight" / "checkpoints").glob("step_*.h5"))
        self.train(1, "branch", "--epochs", 4, "--resume_from", first)
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("branch"))

    def test_finished_run_says_so_and_is_not_touched(self):
        self.train(2, "run", "--epochs", 2)
        before = harness.tree_digest(self.directory)
        result = self.train(2, "run", "--epochs", 2, "--resume_from", "auto")
        self.assertIn("finished", result.stdout)
        self.assertEqual(harness.tree_digest(self.directory), before)

    def test_auto_in_an_empty_directory_starts_from_the_beginning(self):
        self.train(2, "run", "--epochs", 1, "--resume_from", "auto")

    def test_another_number_of_ranks_is_refused(self):
        self.train(2, "run", "--epochs", 2, "--stop_after_epochs", 1)
        result = self.train(3, "run", "--epochs", 2, "--resume_from", "auto", expect=2)
        self.assertIn("ranks was 2 and is now 3", result.stderr)

    def test_settings_of_the_trajectory_may_not_change(self):
        self.train(1, "run", "--epochs", 2, "--stop_after_epochs", 1)
        result = self.train(1, "run", "--epochs", 2, "--resume_from", "auto", "--lr", "0.5",
                            "--momentum", "0.5", expect=2)
        self.assertIn("lr = 0.5", result.stderr)
        self.assertIn("momentum = 0.5", result.stderr)

    def test_a_damaged_newest_checkpoint_is_skipped_and_named(self):
        self.train(1, "straight", "--epochs", 4)
        self.train(1, "run", "--epochs", 4, "--stop_after_epochs", 3)
        newest = self.checkpoint("run")
        newest.write_bytes(newest.read_bytes()[:-5000])
        result = self.train(1, "run", "--epochs", 4, "--resume_from", "auto")
        self.assertIn(newest.name, result.stdout)
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("run"))


class Interrupted(harness.RunTestCase):
    def start(self, ranks, *arguments):
        """A run that would take long, once it has written metrics."""
        process = subprocess.Popen(
            harness.command(ranks, *harness.SMALL, "--output_dir", self.directory / "run",
                            *arguments),
            env=harness.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.end, process)
        deadline = time.monotonic() + harness.DEADLINE
        while not (self.directory / "run" / "metrics.h5").exists():
            self.assertIsNone(process.poll(), "the run ended by itself")
            self.assertLess(time.monotonic(), deadline, "no metrics were written")
            time.sleep(0.01)
        return process

    @staticmethod
    def end(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.communicate()

    def ranks_of(self, process):
        """Process ids of the run's ranks: those below mpiexec that run the program."""
        found = []
        for entry in os.listdir("/proc"):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    arguments = file.read().split(b"\0")
            except (OSError, NotADirectoryError):
                continue
            if arguments[0] == harness.PROGRAM.encode() and \
                    str(self.directory / "run").encode() in arguments:
                found.append(int(entry))
        return sorted(found)

    def test_killed_run_leaves_metrics_readable_and_can_be_resumed(self):
        process = self.start(2, "--epochs", 100000)
        os.killpg(process.pid, signal.SIGKILL)
        for rank in self.ranks_of(process):
            os.kill(rank, signal.SIGKILL)
        process.communicate()
        with h5py.File(self.directory / "run" / "metrics.h5") as file:
            epochs = len(file["epoch/epoch"])
        # An epoch's line in the log comes just before its row in the file.
        finished = (self.directory / "run" / "log.txt").read_text().count(" done in ")
        self.assertGreaterEqual(epochs, max(1, finished - 1))
        result = self.train(2, "run", "--epochs", 100000, "--stop_after_epochs", epochs + 1,
                            "--resume_from", "auto")
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        self.assertEqual(list(metrics["epoch/epoch"]), list(range(epochs + 1)))

    def test_one_dead_rank_ends_the_job(self):
        process = self.start(2, "--epochs", 100000)
        os.kill(self.ranks_of(process)[-1], signal.SIGKILL)
        process.communicate(timeout=30)
        self.assertNotEqual(process.returncode, 0)

    def test_signal_to_one_rank_stops_all_with_a_checkpoint(self):
        process = self.start(2, "--epochs", 100000, "--save_every", 0)
        os.kill(self.ranks_of(process)[-1], signal.SIGUSR1)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75, output + errors)
        stop = json.loads((self.directory / "run" / "stop.json").read_text())
        self.assertEqual(stop["reason"], "SIGUSR1")
        self.assertEqual(stop["restart"], True)
        with h5py.File(self.checkpoint("run")) as file:
            self.assertEqual(file["sampler/global_step"][()], stop["step"])
            epochs = int(file["sampler/epoch"][()]) + 2

        self.train(2, "run", "--epochs", 100000, "--save_every", 0, "--stop_after_epochs", epochs,
                   "--resume_from", "auto")
        self.train(2, "straight", "--epochs", 100000, "--save_every", 0, "--stop_after_epochs",
                   epochs)
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("run"))


if __name__ == "__main__":
    harness.main()
