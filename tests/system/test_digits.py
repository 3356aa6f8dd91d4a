"""The shipped configuration learns the handwritten digits."""

import os
import pathlib

import harness

ROOT = pathlib.Path(os.environ["LOCKSTEP_DIGITS"]).parents[1]


class Digits(harness.RunTestCase):
    def test_two_ranks_reach_97_percent(self):
        result = harness.run(2, "--config", "inputs/digits.ini", "--output_dir",
                             self.directory / "run", cwd=ROOT, deadline=500 * harness.PATIENCE)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        self.assertEqual(metrics["epoch/val_samples"][-1], 355)
        self.assertGreaterEqual(metrics["epoch/val_accuracy"][-1], 0.97)


if __name__ == "__main__":
    harness.main()
