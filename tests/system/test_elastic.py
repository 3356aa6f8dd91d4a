"""A run that goes on with another number of ranks: same order, same global batch, every sample once."""


import h5py
import numpy as np

import harness

# No layer mixes samples, and rounding stays rounding: see ARCHITECTURE.md.
EXACT = ["--dtype", "float64", "--norm", "group", "--width", "16", "--image_size", "16"]


class Elastic(harness.RunTestCase):
    def weights(self, output):
        with h5py.File(self.checkpoint(output)) as file:
            return {name: item[()] for name, item in file["model"].items()}

    def assert_same_trajectory(self, one, other):
        first, second = self.weights(one), self.weights(other)
        for name, value in first.items():
            np.testing.assert_allclose(second[name], value, rtol=0, atol=1e-10, err_msg=name)
        with h5py.File(self.directory / one / "metrics.h5") as a, \
                h5py.File(self.directory / other / "metrics.h5") as b:
            for name in ("global_step", "samples_seen", "train_samples", "train_correct",
                         "val_samples", "val_correct"):
                self.assertEqual(a["epoch"][name][:].tolist(), b["epoch"][name][:].tolist(), name)
            for name in ("train_loss", "val_loss", "lr"):
                np.testing.assert_allclose(a["epoch"][name][:], b["epoch"][name][:], atol=1e-10)
            self.assertEqual(b["rank/train_samples"][:].sum(axis=1).tolist(),
                             b["epoch/train_samples"][:].tolist())

    def test_trajectory_goes_on_whatever_the_number_of_ranks(self):
        # 40 samples in global batches of 16: steps of 16, 16 and 8 in each of three epochs.
        self.train(2, "straight", "--epochs", 3, *EXACT)
        self.train(2, "run", "--epochs", 3, *EXACT, "--max_steps", 1)
        for ranks, until in ((1, 2), (3, 4), (2, 9)):
            result = self.train(ranks, "run", "--epochs", 3, *EXACT, "--resume_from", "auto",
                                "--max_steps", until)
            self.assertIn("will not be bitwise", result.stdout)
            self.assertIn(f"and is {ranks}", result.stdout)
            self.assertIn("global batch: 16 samples" + {
                1: " = batch_size 8 x 1 rank x 2 accumulation steps; at most 8 a rank",
                2: " = batch_size 8 x 2 ranks; at most 8 a rank",
                3: ", as the run had before; at most 6 a rank"}[ranks], result.stdout)
            # Of one rank to three, two have no state; of three to two, and two to one, none is new.
            self.assertEqual(result.stdout.count("ranks 1 to 2 begin their random numbers anew, "
                                                 "since the checkpoint is of 1 rank"), ranks == 3)
            self.assertEqual(result.stdout.count("random numbers anew"), ranks == 3)
        self.assert_same_trajectory("straight", "run")
        with h5py.File(self.directory / "run" / "metrics.h5") as file:
            self.assertEqual(file["epoch/world_size"][:].tolist(), [3, 2, 2])
            samples = file["rank/train_samples"]
            self.assertEqual(samples.shape, (3, 3))
            self.assertEqual(samples[1:, 2].tolist(), [0, 0])
            self.assertTrue(np.isnan(file["rank/train_seconds"][1:, 2]).all())

    def test_no_rank_holds_more_samples_at_once_than_before(self):
        self.train(3, "run", "--epochs", 2, *EXACT, "--max_steps", 1)
        result = self.train(1, "run", "--epochs", 2, *EXACT, "--resume_from", "auto")
        self.assertIn("global batch: 24 samples = batch_size 8 x 1 rank x 3 accumulation steps", result.stdout)
        self.train(3, "straight", "--epochs", 2, *EXACT)
        self.assert_same_trajectory("straight", "run")

    def test_batch_size_is_kept_instead_where_asked_for(self):
        self.train(2, "run", "--epochs", 2, *EXACT, "--max_steps", 1)
        result = self.train(1, "run", "--epochs", 2, *EXACT, "--resume_from", "auto", "--on_resize",
                            "keep_batch_size", "--max_steps", 2)
        self.assertIn("global batch: 8 samples", result.stdout)
        # From now on that is the run's global batch.
        result = self.train(2, "run", "--epochs", 2, *EXACT, "--resume_from", "auto")
        self.assertIn("global batch: 8 samples", result.stdout)
        with h5py.File(self.directory / "run" / "metrics.h5") as file:
            self.assertEqual(file["epoch/train_samples"][:].tolist(), [40, 40])
            self.assertEqual(file["epoch/global_step"][:].tolist(), [4, 9])


if __name__ == "__main__":
    harness.main()
