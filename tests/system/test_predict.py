"""`lockstep predict` writes every sample's scores in the data set's order, whatever the number of ranks."""

import os
import subprocess

import h5py
import numpy as np

import harness


def mean_loss(logits, labels):
    """Cross entropy in nats per sample, in double precision."""
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    log_sums = np.log(np.exp(shifted).sum(axis=1))
    return (log_sums - shifted[np.arange(len(labels)), labels]).mean()


class Predict(harness.RunTestCase):
    def predict(self, ranks, name, *arguments, checkpoint="run"):
        path = self.directory / name
        result = harness.run(ranks, "--checkpoint", self.directory / checkpoint,
                             "--predictions", path, *arguments, name="predict")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(str(path), result.stdout)
        return path

    def test_the_digits_in_their_order_on_any_number_of_ranks(self):
        digits = os.environ["LOCKSTEP_DIGITS"]
        self.train(2, "run", "--dataset", "hdf5", "--train_data", digits, "--epochs", 1,
                   "--dtype", "float64")
        with h5py.File(digits) as file:
            labels = file["validation/labels"][()]
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        first = None
        for ranks in (0, 2, 3):
            path = self.predict(ranks, f"on{ranks}.h5")
            subprocess.run(["h5dump", "-H", path], check=True, capture_output=True, timeout=60)
            with h5py.File(path) as file:
                self.assertEqual(file.attrs["format"], "lockstep.predictions")
                self.assertIn("step_", file.attrs["checkpoint"])
                self.assertIn("digits.h5:/validation", file.attrs["data"])
                self.assertEqual(file["provenance"].attrs["world_size"], str(max(ranks, 1)))
                logits, predicted = file["logits"][()], file["predicted"][()]
                np.testing.assert_array_equal(file["label"][()], labels)
            np.testing.assert_array_equal(predicted, logits.argmax(axis=1))
            self.assertEqual((predicted == labels).sum(), metrics["epoch/val_correct"][-1])
            confusion = np.zeros((10, 10), np.int64)
            np.add.at(confusion, (labels, predicted), 1)
            np.testing.assert_array_equal(metrics["validation/confusion"], confusion)
            self.assertAlmostEqual(mean_loss(logits, labels), metrics["epoch/val_loss"][-1], 5)
            first = logits if first is None else first
            np.testing.assert_allclose(logits, first, rtol=1e-5, atol=1e-6)

    def test_more_ranks_than_samples(self):
        self.train(1, "run", "--epochs", 1, "--synthetic_val_size", 2)
        self.assertEqual(harness.datasets(self.predict(3, "few.h5"))["logits"].shape, (2, 10))

    def test_the_training_part_on_request(self):
        self.train(1, "run", "--epochs", 1)
        data = harness.datasets(self.predict(2, "training.h5", "--split", "training"))
        self.assertEqual(data["logits"].shape, (40, 10))

    def test_mistakes_are_said_before_anything_is_written(self):
        self.train(1, "run", "--epochs", 1, "--synthetic_val_size", 0)
        cases = (("--checkpoint", self.directory / "none", "none"),
                 ("--predictions", self.directory / "no" / "p.h5", "there is no directory"),
                 ("--predictions", self.directory, "that is a directory"),
                 ("--split", "training_part", "unknown value"),
                 ("--split", "validation", "no validation data"))
        for name, value, expected in cases:
            arguments = {"--checkpoint": self.directory / "run",
                         "--predictions": self.directory / "p.h5", name: value}
            flat = [word for pair in arguments.items() for word in pair]
            result = harness.run(2, *flat, name="predict")
            self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
            self.assertIn(expected, result.stderr)
            self.assertFalse((self.directory / "p.h5").exists())


if __name__ == "__main__":
    harness.main()
