"""A run that was stopped, killed or resumed ends as if nothing had happened."""

import json
import math
import os
import pathlib
import signal
import subprocess

import h5py
import numpy as np

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

    def test_a_checkpoint_that_overwriting_would_remove_is_not_resumed_from(self):
        self.train(1, "run", "--epochs", 2, "--stop_after_epochs", 1)
        before = harness.tree_digest(self.directory)
        for elsewhere in ([], ["--checkpoint_dir", self.directory / "elsewhere"]):
            result = self.train(1, "run", "--epochs", 2, *elsewhere, "--overwrite", "--resume_from",
                                self.checkpoint("run"), expect=2)
            self.assertIn("would remove the checkpoint", result.stderr)
            self.assertEqual(harness.tree_digest(self.directory), before)

    def test_finished_run_says_so_and_is_not_touched(self):
        self.train(2, "run", "--epochs", 2)
        before = harness.tree_digest(self.directory)
        result = self.train(2, "run", "--epochs", 2, "--resume_from", "auto")
        self.assertIn("finished", result.stdout)
        self.assertEqual(harness.tree_digest(self.directory), before)

    def test_auto_in_an_empty_directory_starts_from_the_beginning(self):
        self.train(2, "run", "--epochs", 1, "--resume_from", "auto")

    def test_further_checkpoints_by_step_and_time_can_be_gone_on_from(self):
        # 40 samples in global batches of 16: three steps an epoch.
        self.train(2, "straight", "--epochs", 3, "--save_every_steps", 2, "--keep_last", 0)
        saved = sorted((self.directory / "straight" / "checkpoints").glob("step_*.h5"))
        self.assertEqual([int(path.stem[5:]) for path in saved], [2, 3, 4, 6, 8, 9])
        for number, file in enumerate(saved[:3]):
            self.train(2, f"from_{number}", "--epochs", 3, "--resume_from", file)
            self.assert_same_datasets(self.checkpoint("straight"),
                                      self.checkpoint(f"from_{number}"))
        self.train(2, "by_time", "--epochs", 3, "--save_every_minutes", 1e-9, "--save_every", 0,
                   "--keep_last", 0)
        # A rank's wish at step k is known at step k + 1.
        saved = {path.name for path in (self.directory / "by_time" / "checkpoints").iterdir()}
        self.assertIn("step_000000000002.h5", saved)
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("by_time"))

    def test_writing_behind_the_training_changes_nothing(self):
        frequent = ["--epochs", 3, "--save_every_steps", 1, "--keep_last", 0]
        self.train(2, "behind", *frequent, "--metrics_interval", 1e-9)
        self.train(2, "at_once", *frequent, "--checkpoint_write", "sync")
        for path in sorted((self.directory / "behind" / "checkpoints").glob("step_*.h5")):
            self.assert_same_datasets(path, self.directory / "at_once" / "checkpoints" / path.name)
        self.assert_same_datasets(self.directory / "behind" / "metrics.h5",
                                  self.directory / "at_once" / "metrics.h5")

    def test_checkpoints_may_lie_elsewhere(self):
        elsewhere = self.directory / "elsewhere"
        arguments = ["--epochs", 2, "--checkpoint_dir", elsewhere]
        self.train(2, "run", *arguments, "--stop_after_epochs", 1)
        self.assertFalse((self.directory / "run" / "checkpoints").exists())
        result = self.train(2, "run", *arguments, "--resume_from", "auto")
        self.assertIn("resumed from " + str(elsewhere), result.stdout)
        result = self.train(2, "other", *arguments, expect=2)
        self.assertIn("already holds", result.stderr)
        self.train(2, "other", *arguments, "--overwrite")
        self.assertEqual(len(list(elsewhere.glob("step_*.h5"))), 2)
        self.train(2, "straight", "--epochs", 2)
        self.assert_same_datasets(self.checkpoint("straight"), max(elsewhere.glob("step_*.h5")))
        evaluation = harness.run(2, "--checkpoint", elsewhere, name="eval")
        self.assertEqual(evaluation.returncode, 0, evaluation.stderr)

    def test_a_new_end_must_be_asked_for(self):
        self.train(1, "run", "--epochs", 2)
        result = self.train(1, "run", "--epochs", 4, "--resume_from", "auto", expect=2)
        self.assertIn("--new_horizon", result.stderr)
        self.train(1, "run", "--epochs", 4, "--resume_from", "auto", "--new_horizon")
        with h5py.File(self.checkpoint("run")) as file:
            self.assertEqual(file["schedule/horizon_epochs"][()], 4)
            self.assertEqual(file["sampler/epoch"][()], 4)
            # A cosine that aims at 160 samples: its value at each epoch's last step, by hand.
            rates = file["metrics/epoch/lr"][2:]
        for rate, consumed in zip(rates, (112, 152)):
            self.assertAlmostEqual(rate, 0.005 * (1 + math.cos(math.pi * consumed / 160)), 12)

    def test_other_data_must_be_asked_for(self):
        for name, seed in (("before.h5", 1), ("after.h5", 2)):
            draw = np.random.default_rng(seed)
            with h5py.File(self.directory / name, "w") as file:
                file["images"] = draw.normal(size=(40, 1, 8, 8)).astype(np.float32)
                file["labels"] = np.arange(40) % 10
        arguments = ["--epochs", 2, "--dataset", "hdf5", "--train_data"]
        before, after = self.directory / "before.h5", self.directory / "after.h5"
        self.train(1, "run", *arguments, before, "--max_steps", 2)
        result = self.train(1, "run", *arguments, after, "--resume_from", "auto", expect=2)
        self.assertIn("fingerprint", result.stderr)
        self.assertIn("--new_data", result.stderr)
        self.train(1, "run", *arguments, after, "--resume_from", "auto", "--new_data")
        with h5py.File(self.directory / "run" / "metrics.h5") as file:
            self.assertEqual(file["epoch/train_samples"][:].tolist(), [40, 40])
            self.assertEqual(file["epoch/samples_seen"][:].tolist(), [56, 96])

    def test_settings_of_the_trajectory_may_not_change(self):
        self.train(1, "run", "--epochs", 2, "--stop_after_epochs", 1)
        result = self.train(1, "run", "--epochs", 2, "--resume_from", "auto", "--lr", "0.5",
                            "--momentum", "0.5", expect=2)
        self.assertIn("lr = 0.5", result.stderr)
        self.assertIn("momentum = 0.5", result.stderr)

    def test_other_convolutions_are_named(self):
        self.train(1, "run", "--epochs", 2, "--stop_after_epochs", 1, "--threads", 1)
        # `auto` is Winograd's up to 8 threads, where the processor has the instructions.
        result = self.train(1, "run", "--epochs", 2, "--resume_from", "auto", "--threads", 9)
        said = result.stdout + result.stderr
        self.assertIn("threads_per_rank was 1 and is 9", said)
        flags = pathlib.Path("/proc/cpuinfo").read_text().split()
        if "avx2" in flags and "fma" in flags:
            self.assertRegex(said, "convolutions was Winograd's .* and is LibTorch's")

    def test_settings_that_this_program_does_not_know_are_named_with_the_version(self):
        other = os.environ["LOCKSTEP_FAULTY_PROGRAM"]
        made = subprocess.run(
            harness.command(1, *harness.SMALL, "--epochs", 2, "--stop_after_epochs", 1,
                            "--output_dir", self.directory / "run", program=other),
            env=harness.environment(), capture_output=True, text=True, timeout=harness.DEADLINE)
        self.assertEqual(made.returncode, 0, made.stderr)
        with h5py.File(self.checkpoint("run")) as file:
            version = file["provenance"].attrs["lockstep_version"]
        said = f"written by Lockstep {version} with settings that this program ({version}) does " \
               "not know: faulty_setting"
        result = self.train(2, "run", "--epochs", 2, "--resume_from", "auto", expect=2)
        self.assertIn(said, result.stderr)
        result = harness.run(2, "--checkpoint", self.directory / "run", name="eval")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((result.stdout + result.stderr).count(said), 1)

    def test_a_damaged_newest_checkpoint_is_skipped_and_named(self):
        self.train(1, "straight", "--epochs", 4)
        self.train(1, "run", "--epochs", 4, "--stop_after_epochs", 3)
        newest = self.checkpoint("run")
        newest.write_bytes(newest.read_bytes()[:-5000])
        result = self.train(1, "run", "--epochs", 4, "--resume_from", "auto")
        self.assertIn(newest.name, result.stdout)
        self.assertIn("truncated: ", result.stdout)
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("run"))

    def flip_a_bit(self, path, dataset):
        """Of the first element of a data set."""
        with h5py.File(path) as file:
            offset = file[dataset].id.get_offset()
        damaged = bytearray(path.read_bytes())
        damaged[offset] ^= 1
        path.write_bytes(damaged)

    def test_one_flipped_bit_is_enough_to_be_skipped_and_named(self):
        self.train(2, "straight", "--epochs", 3)
        self.train(2, "run", "--epochs", 3, "--stop_after_epochs", 2)
        newest = self.checkpoint("run")
        self.flip_a_bit(newest, "model/fc.weight")
        for name in ("eval", "predict"):
            result = harness.run(2, "--checkpoint", self.directory / "run", name=name,
                                 cwd=self.directory)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"skipped {newest}: damaged: block 1 of 1", result.stdout)
        result = self.train(2, "run", "--epochs", 3, "--resume_from", "auto")
        self.assertIn(f"skipped {newest}: damaged: block 1 of 1", result.stdout)
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("run"))

    def test_a_named_checkpoint_that_is_damaged_is_an_error(self):
        self.train(2, "run", "--epochs", 2, "--stop_after_epochs", 1)
        path = self.checkpoint("run")
        self.flip_a_bit(path, "model/fc.weight")
        before = harness.tree_digest(self.directory)
        result = self.train(2, "branch", "--epochs", 2, "--resume_from", path, expect=2)
        self.assertIn(f"open '{path}': damaged: block 1 of 1", result.stderr)
        for name in ("eval", "predict"):
            result = harness.run(2, "--checkpoint", path, name=name, cwd=self.directory)
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn(f"open '{path}': damaged: block 1 of 1", result.stderr)
        result = self.train(2, "run", "--epochs", 2, "--resume_from", "auto", expect=2)
        self.assertIn("none of 1 can be read", result.stderr)
        self.assertEqual(harness.tree_digest(self.directory), before)

    def test_the_best_and_every_nth_checkpoint_stay_also_after_a_resume(self):
        # So high a rate that the validation loss rises from the first epoch on.
        keep = ["--lr", 0.05, "--keep_last", 1, "--keep_every", 4, "--keep_best", "val_loss"]
        self.train(2, "straight", "--epochs", 6, *keep)
        self.train(2, "parts", "--epochs", 6, "--stop_after_epochs", 5, *keep)
        self.train(2, "parts", "--epochs", 6, "--resume_from", "auto", *keep)
        for run in ("straight", "parts"):
            metrics = harness.datasets(self.directory / run / "metrics.h5")
            steps, losses = metrics["epoch/global_step"], metrics["epoch/val_loss"]
            best = int(losses.argmin())
            self.assertNotIn(best, (3, 4, 5), "this best one would stay anyway")
            kept = sorted(path.name for path in (self.directory / run / "checkpoints").iterdir())
            self.assertEqual(kept, [f"step_{steps[epoch]:012d}.h5"
                                    for epoch in sorted({best, 3, 5})])
            with h5py.File(self.directory / run / "checkpoints" / kept[0]) as file:
                self.assertEqual(file.attrs["val_loss"], losses[best])
                self.assertEqual(file.attrs["epochs_done"], best + 1)

    def test_keeping_the_best_needs_validations(self):
        result = self.train(1, "run", "--keep_best", "val_loss", "--eval_every", 0, expect=2)
        self.assertIn("keep_best = val_loss needs validations", result.stderr)


class Interrupted(harness.LongRunTestCase):
    def test_killed_run_leaves_metrics_readable_and_can_be_resumed(self):
        process = self.start(2, "--epochs", 100000)
        self.kill(process)
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
        process.communicate(timeout=30 * harness.PATIENCE)
        self.assertNotEqual(process.returncode, 0)

    def test_signal_to_one_rank_stops_all_with_a_checkpoint(self):
        process = self.start(2, "--epochs", 100000, "--save_every", 0)
        os.kill(self.ranks_of(process)[-1], signal.SIGUSR1)
        output, errors = process.communicate(timeout=60 * harness.PATIENCE)
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
