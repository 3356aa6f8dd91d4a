"""What users get wrong, on two ranks: one error from rank 0 that says what to do, the right exit
code, and nothing written."""

import os
import shutil
import subprocess
import unittest

import h5py
import numpy as np

import harness


def write_data(path, images=None, labels=None):
    """A small data set, or one with other images or labels (None: as in the good one)."""
    with h5py.File(path, "w") as file:
        file["images"] = np.zeros((6, 8, 8), dtype="uint8") if images is None else images
        file["labels"] = np.arange(6) if labels is None else labels
    return path


class Mistakes(harness.RunTestCase):
    def setUp(self):
        super().setUp()
        self.files = self.directory / "files"
        self.files.mkdir()

    def refuse(self, *arguments, texts, variables=None, wrapper=()):
        """A run on two ranks that must end before it writes anything; returns what it printed."""
        before = harness.tree_digest(self.directory)
        result = subprocess.run(
            [*wrapper, *harness.command(2, *harness.SMALL, "--epochs", "1", "--output_dir", "run",
                                        *arguments)],
            cwd=self.directory, env={**harness.environment(), **(variables or {})},
            stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60 * harness.PATIENCE)
        what = f"{arguments}, {variables}: {result.stdout}{result.stderr}"
        self.assertEqual(result.returncode, 2, what)
        self.assertEqual(result.stderr.count("lockstep: "), 1, what)
        self.assertTrue(result.stderr.startswith("lockstep: "), what)
        for text in texts:
            self.assertIn(text, result.stderr, what)
        for noise in ("Exception raised from", "frame #", "terminate called", "HDF5-DIAG"):
            self.assertNotIn(noise, result.stderr, what)
        self.assertEqual(harness.tree_digest(self.directory), before, what)
        self.assertFalse((self.directory / "run").exists(), what)
        return result.stderr

    def refuse_data(self, path, *arguments, texts):
        return self.refuse("--dataset", "hdf5", "--train_data", path, *arguments,
                           texts=[path.name, *texts])

    def configuration(self, text):
        path = self.files / "mine.ini"
        path.write_text(text)
        return path

    def test_misspelt_names(self):
        self.refuse("--bach_size", "8", texts=["bach_size", "did you mean", "batch_size"])
        self.refuse("--config", self.configuration("bach_size = 8\n"),
                    texts=["mine.ini", "bach_size", "batch_size"])
        self.refuse(variables={"LOCKSTEP_BACH_SIZE": "8"},
                    texts=["LOCKSTEP_BACH_SIZE", "did you mean 'LOCKSTEP_BATCH_SIZE'?"])
        self.refuse("--optimizer", "adam", texts=["optimizer", "adam", "adamw"])
        self.refuse("--dataset", "cifar", texts=["dataset", "cifar", "cifar10"])

    def test_values_of_the_wrong_type_are_all_listed(self):
        wrong = {"max_grad_norm": "big", "seed": "1.5", "lr": "nan", "momentum": "fast",
                 "drop_last": "perhaps", "keep_last": "-8", "global_batch_size": "9" * 30}
        texts = [*wrong, *wrong.values()]
        self.refuse(*(f"--{name}={value}" for name, value in wrong.items()), texts=texts)
        self.refuse("--config", self.configuration(
            "".join(f"{name} = {value}\n" for name, value in wrong.items())), texts=texts)
        self.refuse(variables={f"LOCKSTEP_{name.upper()}": value for name, value in wrong.items()},
                    texts=[name.upper() for name in wrong] + list(wrong.values()))

    def test_a_value_is_missing(self):
        self.refuse("--lr", texts=["lr"])
        self.refuse("stray", texts=["stray"])

    def test_configuration_files(self):
        self.refuse("--config", "no/such.ini", texts=["no/such.ini"])
        self.refuse("--config", self.files, texts=[str(self.files)])
        self.refuse("--config", self.configuration("just words\n"), texts=["mine.ini:1", "just words"])

    def test_data_files(self):
        good = write_data(self.files / "good.h5").read_bytes()
        self.refuse_data(self.files / "none.h5", texts=["there is no such file"])
        (self.files / "folder.h5").mkdir()
        self.refuse_data(self.files / "folder.h5", texts=["directory"])
        (self.files / "empty.h5").touch()
        self.refuse_data(self.files / "empty.h5", texts=["not an HDF5 file"])
        (self.files / "short.h5").write_bytes(good[:-100])
        self.refuse_data(self.files / "short.h5", texts=["cut short or damaged"])

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_data_that_may_not_be_read(self):
        write_data(self.files / "private.h5").chmod(0)
        self.refuse_data(self.files / "private.h5", texts=["Permission denied"])

    def test_data_that_does_not_fit(self):
        images = np.zeros((6, 8, 8), dtype="float32")
        images[4, 2, 3] = np.nan
        cases = {
            "text.h5": (dict(labels=["cat"] * 6), ["labels are text"]),
            "range.h5": (dict(labels=[0, 1, 2, 3, -1, 5]), ["-1"]),
            "lengths.h5": (dict(labels=np.arange(5)), ["6", "5"]),
            "nan.h5": (dict(images=images), ["NaN", "4"]),
            "none.h5": (dict(images=np.zeros((0, 8, 8), dtype="uint8"), labels=np.zeros(0, "int64")),
                        ["no samples"]),
            "words.h5": (dict(images=["a picture"] * 6), ["images"]),
            "flat.h5": (dict(images=np.zeros((6, 64), dtype="uint8")), ["images"]),
        }
        for name, (arrays, texts) in cases.items():
            with self.subTest(name):
                self.refuse_data(write_data(self.files / name, **arrays), texts=texts)
        good = write_data(self.files / "good.h5")
        self.refuse_data(good, "--num_classes", "3", texts=["0 to 2"])
        self.refuse("--dataset", "hdf5", "--train_data", good, "--drop_last",
                    texts=["6 samples", "global batch of 16"])

    def test_networks_that_cannot_be_built(self):
        self.refuse("--width", "1e6", texts=["width", "1e6"])
        self.refuse("--width", "1000000", texts=["width", "65536"])
        self.refuse("--width", "65536", texts=["memory"])
        self.refuse("--global_batch_size", "2", "--grad_accum_steps", "3",
                    texts=["global batch of 2", "grad_accum_steps"])

    def test_directories_that_cannot_be_written(self):
        (self.files / "file").write_text("mine")
        for place in ("files/file", "files/file/run"):
            self.refuse("--output_dir", place, texts=[place, "Not a directory", "--output_dir"])
        self.refuse("--output_dir", "/proc/run", texts=["/proc/run", "--output_dir"])

    def test_a_file_system_that_is_read_only(self):
        place = self.directory / "place"
        place.mkdir()
        inside = ["unshare", "--mount", "bash", "-c",
                  f'mount -t tmpfs none {place} && mkdir {place}/run && '
                  f'mount -o remount,ro {place} && exec "$@"', "-"]
        if not shutil.which("unshare") or subprocess.run([*inside, "true"], check=False,
                                                         capture_output=True).returncode:
            self.skipTest("mounting is not allowed here")
        for run in ("run", "another"):
            self.refuse("--output_dir", place / run, wrapper=inside,
                        texts=[str(place / run), "Read-only file system", "--output_dir"])

    def test_eval_and_predict(self):
        self.train(2, "run", "--epochs", 1)
        (self.files / "garbage.h5").write_bytes(b"no checkpoint" * 1000)
        before = harness.tree_digest(self.directory)
        for name, arguments, texts in (
                ("eval", [], ["checkpoint is not set"]),
                ("eval", ["--checkpoint", "none"], ["there is no such file or directory"]),
                ("eval", ["--checkpoint", self.files], ["holds no checkpoint"]),
                ("eval", ["--checkpoint", self.files / "garbage.h5"], ["garbage.h5"]),
                ("eval", ["--checkpoint", "run", "--width", "9"], ["[9, 1, 3, 3]", "[8, 1, 3, 3]"]),
                ("predict", ["--checkpoint", "run", "--predictions", "no/such/place.h5"],
                 ["there is no directory no/such"]),
                ("predict", ["--checkpoint", "run", "--predictions", "files"],
                 ["that is a directory"]),
                ("predict", ["--checkpoint", "run", "--split", "test"], ["split", "validation"])):
            result = harness.run(2, *arguments, name=name, cwd=self.directory)
            what = f"{name} {arguments}: {result.stdout}{result.stderr}"
            self.assertEqual(result.returncode, 2, what)
            self.assertEqual(result.stderr.count("lockstep: "), 1, what)
            for text in texts:
                self.assertIn(text, result.stderr, what)
        self.assertEqual(harness.tree_digest(self.directory), before)


if __name__ == "__main__":
    harness.main()
