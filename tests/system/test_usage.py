"""What a user gets wrong is said at once, with what was meant, and nothing is written."""

import pathlib
import subprocess

import h5py
import numpy as np

import harness


class Usage(harness.RunTestCase):
    def assert_refused(self, result, *texts):
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for text in texts:
            self.assertIn(text, result.stderr)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_the_ready_configurations_are_accepted(self):
        ready = sorted((pathlib.Path(__file__).resolve().parents[2] / "inputs").glob("*.ini"))
        self.assertGreaterEqual(len(ready), 2)
        for path in ready:
            result = harness.run(0, "--config", path, "--print_config", cwd=self.directory)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(path.name, result.stdout)

    def test_misspelt_setting_names_the_nearest(self):
        result = harness.run(0, "--batchsize", "8", cwd=self.directory)
        self.assert_refused(result, "batchsize", "batch_size")

    def test_all_errors_are_listed_at_once(self):
        result = harness.run(0, "--epochs", "0", "--dtype", "float23", "--lrr", "1",
                             cwd=self.directory)
        self.assert_refused(result, "epochs", "float23", "float32", "lrr")

    def test_settings_that_contradict_each_other_are_listed_at_once(self):
        result = harness.run(2, *harness.SMALL, "--output_dir", "run", "--nesterov", "--momentum",
                             "0", "--lr_min", "1", "--warmup_epochs", "11", cwd=self.directory)
        self.assert_refused(result, "nesterov needs a momentum", "lr_min 1 is above lr 0.01",
                            "warmup_epochs 11 is more than the 10 epochs")

    def test_errors_are_printed_once_whatever_the_number_of_ranks(self):
        result = harness.run(3, "--batchsize", "8", cwd=self.directory)
        self.assert_refused(result, "batch_size")
        self.assertEqual(result.stderr.count("batchsize"), 1, result.stderr)

    def test_an_error_on_one_rank_only_ends_all(self):
        program = [harness.PROGRAM, "train", *harness.SMALL, "--output_dir", "run"]
        result = subprocess.run(
            [harness.MPIEXEC, "-n", "1", *program, ":", "-n", "1", *program, "--epochs", "never"],
            cwd=self.directory, env=harness.environment(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=harness.DEADLINE)
        self.assert_refused(result, "on rank 1 (", "never")

    def test_ranks_with_different_settings_are_refused(self):
        program = [harness.PROGRAM, "train", *harness.SMALL, "--output_dir", "run"]
        result = subprocess.run(
            [harness.MPIEXEC, "-n", "2", *program, ":", "-n", "1", *program, "--resume_from",
             "auto"],
            cwd=self.directory, env=harness.environment(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=harness.DEADLINE)
        self.assert_refused(result, "rank 2", "not those of rank 0")

    def test_settings_of_what_is_not_chosen_are_named(self):
        result = self.train(1, "run", "--epochs", 1, "--optimizer", "adamw", "--momentum", "0.5",
                            "--nesterov", "--val_fraction", "0.1")
        self.assertIn("without effect, since optimizer is adamw: momentum (of sgd), nesterov (of sgd)",
                      result.stdout)
        self.assertIn("since dataset is synthetic: val_fraction (of hdf5)", result.stdout)

    def test_the_written_configuration_read_back_warns_of_nothing(self):
        self.train(1, "run", "--epochs", 1)
        result = harness.run(1, "--config", self.directory / "run" / "config.ini", "--resume_from",
                             "auto", cwd=self.directory)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertNotIn("warning", result.stdout + result.stderr)
        self.assertIn("is finished: 1 epoch, 5 steps", result.stdout)

    def test_data_without_its_kind_are_not_passed_over(self):
        result = harness.run(1, "--train_data", "mine.h5", "--output_dir", "run",
                             cwd=self.directory)
        self.assert_refused(result, "dataset is not set and so synthetic",
                            "train_data (of cifar10 or hdf5)")

    def test_unknown_command_names_the_nearest(self):
        result = harness.run(0, name="trian", cwd=self.directory)
        self.assert_refused(result, "trian", "train")

    def test_a_missing_command_is_named_with_what_may_have_been_meant(self):
        result = harness.run(0, name="--config", *["mine.ini"], cwd=self.directory)
        self.assert_refused(result, "run a command: it is missing in front of --config",
                            "lockstep train --config mine.ini")

    def test_an_unknown_variable_is_answered_with_the_name_of_one(self):
        result = subprocess.run(
            [harness.PROGRAM, "train", *harness.SMALL], cwd=self.directory,
            env={**harness.environment(), "LOCKSTEP_BATCHSIZE": "8"}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=harness.DEADLINE)
        self.assert_refused(result, "LOCKSTEP_BATCHSIZE", "did you mean 'LOCKSTEP_BATCH_SIZE'")

    def test_help_on_using_a_network_begins_with_the_checkpoint_and_leaves_training_out(self):
        for name in ("eval", "predict"):
            result = harness.run(0, "--help", name=name, cwd=self.directory)
            self.assertEqual(result.returncode, 0)
            options = [line.split()[0] for line in result.stdout.splitlines()
                       if line.startswith("  --")]
            own = ["--checkpoint"] + (["--split", "--predictions"] if name == "predict" else [])
            self.assertEqual(options[:len(own)], own)
            for shown in ("--val_data", "--batch_size", "--threads", "--image_layout"):
                self.assertIn(shown, options)
            for hidden in ("--lr", "--epochs", "--optimizer", "--output_dir", "--save_every",
                           "--crop_padding", "--width", "--fault", "--bucket_bytes"):
                self.assertNotIn(hidden, options)

    def test_help_shows_settings_with_defaults(self):
        result = harness.run(0, "--help", cwd=self.directory)
        self.assertEqual(result.returncode, 0)
        for text in ("--batch_size", "64", "--[no-]use_amp", "--momentum", "0.9"):
            self.assertIn(text, result.stdout)

    def test_missing_data_is_named_and_nothing_is_written(self):
        result = harness.run(2, "--dataset", "hdf5", "--train_data", "no/such.h5",
                             cwd=self.directory)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no/such.h5", result.stderr)
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_data_that_cannot_be_used_is_said_once_in_plain_words(self):
        files = self.directory / "files"
        files.mkdir()
        with h5py.File(files / "good.h5", "w") as file:
            file["images"] = np.zeros((6, 8, 8), dtype="uint8")
            file["labels"] = np.arange(6)
        (files / "text.h5").write_text("images, labels\n")
        (files / "short.h5").write_bytes((files / "good.h5").read_bytes()[:-30])
        for name, shape in (("flat.h5", (6, 6, 8)), ("turned.h5", (6, 8, 8, 3))):
            with h5py.File(files / name, "w") as file:
                file["images"] = np.zeros(shape, dtype="uint8")
                file["labels"] = np.arange(6)
        with h5py.File(files / "names.h5", "w") as file:
            file["images"] = np.zeros((6, 8, 8), dtype="uint8")
            file["labels"] = ["cat"] * 6
        for arguments, texts in (
                (["text.h5"], ["it is not an HDF5 file"]),
                (["short.h5"], ["it is cut short or damaged"]),
                (["names.h5"], ["/labels", "labels are text, expected integers"]),
                (["good.h5", "--in_channels", "3"], ["images are 1 x 8 x 8", "in_channels = 3"]),
                (["flat.h5"], ["images must be square", "1 x 6 x 8"]),
                (["turned.h5", "--image_layout", "NCHW"],
                 ["images must be square", "8 x 8 x 3"]),
                (["good.h5", "--num_classes", "4"], ["the label of sample 4 is 4", "0 to 3"])):
            for ranks in (1, 2):
                result = harness.run(ranks, "--dataset", "hdf5", "--output_dir", "run",
                                     "--train_data", files / arguments[0], *arguments[1:],
                                     cwd=self.directory)
                self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
                first = result.stderr.splitlines()[0]
                self.assertTrue(first.startswith("lockstep: "), result.stderr)
                self.assertIn(arguments[0], first)
                for text in texts:
                    self.assertEqual(result.stderr.count(text), 1, result.stderr)
                    self.assertIn(text, first)
                if "square" in first:
                    self.assertIn("--image_layout NCHW or NHWC", result.stderr)
        self.assertEqual(list(self.directory.iterdir()), [files])

    def test_directory_that_holds_a_run_is_refused(self):
        self.train(1, "run", "--epochs", 1)
        before = harness.tree_digest(self.directory)
        result = self.train(1, "run", "--epochs", 1, expect=2)
        self.assertIn("--overwrite", result.stderr)
        self.assertIn("--resume_from auto", result.stderr)
        self.assertEqual(harness.tree_digest(self.directory), before)

    def test_overwrite_starts_anew_and_leaves_other_files_alone(self):
        self.train(1, "run", "--epochs", 2)
        (self.directory / "run" / "notes.md").write_text("mine")
        self.train(1, "run", "--epochs", 1, "--overwrite")
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        self.assertEqual(list(metrics["epoch/epoch"]), [0])
        self.assertEqual((self.directory / "run" / "notes.md").read_text(), "mine")

    def test_late_errors_leave_a_run_that_was_to_be_overwritten(self):
        self.train(1, "run", "--epochs", 1)
        before = harness.tree_digest(self.directory)
        for wrong in (["--nesterov", "--momentum", "0"], ["--lr_min", "1"],
                      ["--epochs", "9223372036854775807"], ["--resume_from", "auto"]):
            result = self.train(1, "run", "--overwrite", *wrong, expect=2)
            self.assertIn(wrong[0].strip("-"), result.stderr.replace("number of samples", "epochs"))
            self.assertEqual(harness.tree_digest(self.directory), before)

    def test_the_written_configuration_overwrites_and_resumes_nothing(self):
        self.train(1, "run", "--epochs", 1)
        self.train(1, "run", "--epochs", 1, "--overwrite")
        before = harness.tree_digest(self.directory)
        result = harness.run(1, "--config", self.directory / "run" / "config.ini")
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(harness.tree_digest(self.directory), before)

    def test_named_checkpoint_that_is_missing_is_an_error(self):
        result = self.train(2, "run", "--resume_from", self.directory / "none.h5", expect=2)
        self.assertIn("none.h5", result.stderr)


if __name__ == "__main__":
    harness.main()
