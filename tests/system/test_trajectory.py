"""The same samples in the same order, weighed the same, on any number of ranks."""

import math
import os

import numpy as np

import harness

# No layer of this network mixes samples (nor normalises so few values that rounding is blown up), so ranks and accumulation must not matter but for the
# order of summation, which float64 keeps below 1e-10 over 20 steps on real images.
EXACT = ["--dataset", "hdf5", "--train_data", os.environ["LOCKSTEP_DIGITS"], "--dtype", "float64",
         "--norm", "group", "--global_batch_size", "72", "--epochs", "1", "--log_interval", "1",
         "--lr", "0.01", "--width", "16"]


class Trajectory(harness.RunTestCase):
    def test_ranks_and_accumulation_change_nothing(self):
        # 1,442 samples in 20 windows of 72 and one of 2: shares are uneven, and empty in the last.
        self.train(1, "reference", *EXACT)
        reference = harness.datasets(self.checkpoint("reference"))
        losses = harness.datasets(self.directory / "reference" / "metrics.h5")["step/loss"]
        self.assertEqual(len(losses), 21)
        for ranks, accumulation in ((1, 4), (2, 1), (2, 4), (3, 1), (3, 4)):
            name = f"run_{ranks}_{accumulation}"
            self.train(ranks, name, *EXACT, "--grad_accum_steps", accumulation)
            steps = harness.datasets(self.directory / name / "metrics.h5")
            np.testing.assert_allclose(steps["step/loss"], losses, rtol=0, atol=1e-10,
                                       err_msg=name)
            # One learning rate an optimizer step, whatever ranks and micro-batches there are.
            rates = [0.005 * (1 + math.cos(math.pi * 72 * step / 1442)) for step in range(21)]
            np.testing.assert_allclose(steps["step/lr"], rates, rtol=0, atol=1e-15, err_msg=name)
            weights = harness.datasets(self.checkpoint(name))
            for path, value in reference.items():
                if path.startswith(("model/", "optimizer/")):
                    np.testing.assert_allclose(weights[path], value, rtol=0, atol=1e-10,
                                               err_msg=f"{name}: {path}")

    def test_augmented_samples_are_the_same_on_any_number_of_ranks(self):
        augmented = [*EXACT, "--normalize", "data", "--crop_padding", "1", "--horizontal_flip"]
        losses = []
        for ranks in (1, 2, 3):
            self.train(ranks, f"augmented_{ranks}", *augmented)
            metrics = harness.datasets(self.directory / f"augmented_{ranks}" / "metrics.h5")
            losses.append(metrics["step/loss"])
        for other in losses[1:]:
            np.testing.assert_allclose(other, losses[0], rtol=0, atol=1e-10)


if __name__ == "__main__":
    harness.main()
