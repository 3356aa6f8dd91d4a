"""slurm/quickstart.sh in a checkout that is set up and built already: what it does with what it is given."""

import os
import pathlib
import shutil
import subprocess

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = ["--width", "4", "--threads", "1"]


class Quickstart(harness.RunTestCase):
    def setUp(self):
        super().setUp()
        for name in ("slurm", "stubs", "build/release"):
            (self.directory / name).mkdir(parents=True)
        for name in ("quickstart.sh", "common.sh"):
            shutil.copy(ROOT / "slurm" / name, self.directory / "slurm")
        (self.directory / "slurm" / "setup.sh").write_text("")
        for name in ("inputs", "postproc"):
            (self.directory / name).symlink_to(ROOT / name)
        (self.directory / "build/release/lockstep").symlink_to(harness.PROGRAM)
        cmake = self.directory / "stubs" / "cmake"
        cmake.write_text("#!/bin/sh\n")
        cmake.chmod(0o755)

    def quickstart(self, *arguments, expect=0):
        environment = harness.environment()
        environment["PATH"] = f"{self.directory / 'stubs'}:{environment['PATH']}"
        result = subprocess.run(
            ["bash", "slurm/quickstart.sh", *arguments], cwd=self.directory, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=harness.DEADLINE)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result

    def test_an_output_dir_that_is_given_is_where_everything_goes(self):
        result = self.quickstart("--epochs", "1", *SMALL, "--output_dir", "runs/mine")
        self.assertEqual(os.listdir(self.directory / "runs"), ["mine"])
        for name in ("metrics.h5", "curves.png", "config.ini"):
            self.assertTrue((self.directory / "runs/mine" / name).is_file(), name)
            self.assertIn(f"  runs/mine/{name}\n", result.stdout)

    def test_other_settings_for_a_finished_run_point_at_fresh(self):
        self.quickstart("--epochs", "1", *SMALL)
        self.assertIn("is finished", self.quickstart("--epochs", "1", *SMALL).stdout)
        result = self.quickstart("--epochs", "2", *SMALL, expect=2)
        self.assertIn("  bash slurm/quickstart.sh --fresh --epochs 2 " + " ".join(SMALL), result.stderr)
        self.quickstart("--fresh", "--epochs", "2", *SMALL)

    def test_a_wrong_setting_is_said_once_and_nothing_is_written(self):
        result = self.quickstart("--epochz", "2", expect=2)
        self.assertEqual(result.stderr.count("epochz"), 1, result.stderr)
        self.assertNotIn("--fresh", result.stderr)
        self.assertFalse((self.directory / "runs").exists())


if __name__ == "__main__":
    harness.main()
