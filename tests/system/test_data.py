"""Data that is short, uneven or unreadable: true numbers, or an end that names what is wrong."""

import os
import subprocess

import harness

FAULTY = os.environ["LOCKSTEP_FAULTY_PROGRAM"]


class Data(harness.RunTestCase):
    def test_fewer_samples_than_ranks_are_trained_on_and_counted(self):
        for ranks in (1, 3):
            self.train(ranks, f"run{ranks}", "--epochs", 1, "--synthetic_size", 2,
                       "--synthetic_val_size", 1)
            metrics = harness.datasets(self.directory / f"run{ranks}" / "metrics.h5")
            self.assertEqual(list(metrics["epoch/train_samples"]), [2])
            self.assertEqual(list(metrics["epoch/val_samples"]), [1])

    def test_drop_last_that_would_drop_everything_is_refused_with_the_numbers(self):
        for ranks in (1, 3):
            result = self.train(ranks, "run", "--synthetic_size", 7, "--drop_last", expect=2)
            self.assertIn("7 samples", result.stderr)
            self.assertIn(f"global batch of {8 * ranks} samples", result.stderr)
            self.assertEqual(list(self.directory.iterdir()), [])

    def test_drop_last_leaves_out_what_does_not_fill_a_global_batch(self):
        self.train(3, "run", "--epochs", 1, "--synthetic_size", 50, "--drop_last")
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        self.assertEqual(list(metrics["epoch/train_samples"]), [48])

    def test_uneven_numbers_of_batches_end_well_and_count_every_sample(self):
        # The second window of each epoch has one sample: two of three ranks have none.
        self.train(3, "run", "--epochs", 1, "--synthetic_size", 25)
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        self.assertEqual(list(metrics["epoch/train_samples"]), [25])
        self.assertEqual(metrics["rank/train_samples"].tolist(), [[9, 8, 8]])

    def test_a_sample_that_cannot_be_read_on_one_rank_ends_all(self):
        for ranks, workers in ((1, 1), (2, 0), (2, 2), (3, 1)):
            result = subprocess.run(
                harness.command(ranks, *harness.SMALL, "--dataset", "faulty", "--num_workers", workers,
                                "--epochs", "1000", "--output_dir",
                                self.directory / f"run{ranks}{workers}", program=FAULTY),
                env={**harness.environment(), "FAULTY_SAMPLE": "17"}, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=30 * harness.PATIENCE)
            self.assertNotEqual(result.returncode, 0)
            for text in ("load sample 17 of /data/faulty.h5:/train", "bad sector"):
                self.assertIn(text, result.stderr)


if __name__ == "__main__":
    harness.main()
