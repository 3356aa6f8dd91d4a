"""Unequal tasks a node: two and one.

A test of its own, since three ranks that wait for each other on two busy cores take minutes.
"""

import slurm_case
from cluster import Cluster
from slurm_case import PROGRAM

SMALL = ["--dataset", "synthetic", "--synthetic_size", "40", "--synthetic_val_size", "14",
         "--image_size", "8", "--in_channels", "1", "--num_workers", "1", "--threads", "1"]


class UnevenTest(slurm_case.SlurmTestCase):
    def test_two_tasks_and_one_train_as_one_process_does(self):
        import h5py

        same = [*SMALL, "--epochs", "2", "--dtype", "float64", "--norm", "group", "--width", "16",
                "--global_batch_size", "24", "--save_every", "0"]
        code, printed = self.submit(
            *same, "--output_dir", self.run_directory,
            options=["--nodes=2", "--ntasks=3", "--ntasks-per-node=2", "--cpus-per-task=1"], seconds=200)
        self.assertEqual(code, 0, printed)
        self.assertIn("3 ranks on 2 nodes", (self.run_directory / "log.txt").read_text())
        alone = self.directory / "alone"
        code, printed = self.call(PROGRAM, "train", *same, "--output_dir", alone)
        self.assertEqual(code, 0, printed)
        with h5py.File(self.run_directory / "metrics.h5") as three, \
                h5py.File(alone / "metrics.h5") as one:
            self.assertEqual(three["rank/train_samples"].shape, (2, 3))
            self.assertEqual(three["rank/train_samples"][:].sum(axis=1).tolist(), [40, 40])
            for name in ("train_samples", "val_samples", "train_correct", "val_correct"):
                self.assertEqual(three[f"epoch/{name}"][:].tolist(), one[f"epoch/{name}"][:].tolist())
            for name in ("train_loss", "val_loss"):
                for here, there in zip(three[f"epoch/{name}"], one[f"epoch/{name}"]):
                    self.assertAlmostEqual(here, there, delta=1e-10)


if __name__ == "__main__":
    slurm_case.main(Cluster())
