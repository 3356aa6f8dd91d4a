"""The shipped configuration learns the handwritten digits."""

import os
import pathlib

import harness

ROOT = pathlib.Path(os.environ["LOCKSTEP_DIGITS"]).parents[1]


class Digits(harness.RunTestCase):
    def check_97_percent(self, *arguments):
        result = harness.run(2, "--config", "inputs/digits.ini", "--output_dir",
                             self.directory / "run", *arguments, cwd=ROOT,
                             deadline=280 * harness.PATIENCE)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        self.assertEqual(metrics["epoch/val_samples"][-1], 355)
        self.assertGreaterEqual(metrics["epoch/val_accuracy"][-1], 0.97)
        return result.stdout

    def test_two_ranks_reach_97_percent(self):
        flags = pathlib.Path("/proc/cpuinfo").read_text().split()
        by = "Winograd's" if "avx2" in flags and "fma" in flags else "LibTorch's"
        self.assertIn(f"convolutions: {by}", self.check_97_percent("--no-use_amp"))

    def test_two_ranks_reach_97_percent_by_direct_convolutions(self):
        output = self.check_97_percent("--conv_algorithm", "direct", "--epochs", 5)
        self.assertIn("convolutions: LibTorch's\n", output)


if __name__ == "__main__":
    harness.main()
