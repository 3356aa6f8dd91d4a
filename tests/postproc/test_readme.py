"""postproc/README.md is true: it names all of the layout, and its examples run."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import samples
from files_test import FilesTest
from lockstep_post import layout

PACKAGE_HOME = pathlib.Path(__file__).resolve().parents[2] / "postproc"
README = (PACKAGE_HOME / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


class Readme(FilesTest):
    def setUp(self):
        super().setUp()
        run = samples.write_metrics(self.directory / "runs" / "quickstart" / "metrics.h5").parent
        samples.write_checkpoint(run / "checkpoints" / "step_000000000006.h5")
        samples.write_metrics(self.directory / "runs" / "again" / "metrics.h5")
        (self.directory / "postproc").symlink_to(PACKAGE_HOME)
        bin_directory = self.directory / "bin"
        bin_directory.mkdir()
        python = bin_directory / "python3"  # the interpreter of this test, also one of a venv
        python.write_text(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
        python.chmod(0o755)
        self.environment = {**os.environ, "PYTHONPATH": str(PACKAGE_HOME),
                            "PATH": f"{bin_directory}:{os.environ['PATH']}"}

    def assert_runs(self, *command):
        result = subprocess.run(command, cwd=self.directory, env=self.environment, timeout=60,
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_names_every_data_set_with_its_unit(self):
        for group, table in layout.TABLES.items():
            section = README.split(f"### /{group}:")[1].split("\n#")[0]
            rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (⏱?)", section, re.MULTILINE)
            self.assertEqual(rows, [(name, quantity.units, "⏱" if self.is_measured(name) else "")
                                    for name, quantity in table.items()])

    @staticmethod
    def is_measured(name):
        return name in layout.MEASURED

    def test_the_python_examples_run(self):
        notebook, plain, hashes = blocks("python")
        if samples.xxhash:
            self.assertIn("undamaged", self.assert_runs(sys.executable, "-c", hashes))
        self.assertIn("[0.25  nan 0.75] 1", self.assert_runs(sys.executable, "-c", notebook))
        self.assertIn("0.75 1\n", self.assert_runs(sys.executable, "-c", plain))

    def test_the_commands_run(self):
        commands = next(block for block in blocks("sh") if "lockstep_post" in block)
        out = self.assert_runs("sh", "-e", "-c", commands)
        self.assertIn("best validation accuracy 75.00 %", out)
        for name in ("curves.png", "quickstart.csv", "quickstart.json"):
            self.assertTrue((self.directory / name).exists(), name)

    @unittest.skipUnless(shutil.which("h5dump"), "h5dump (Debian: hdf5-tools) is not installed")
    def test_the_h5dump_examples_run(self):
        commands = next(block for block in blocks("sh") if "h5dump" in block)
        out = self.assert_runs("sh", "-e", "-c", commands)
        for part in ("(0): 0.25, nan, 0.75", '"digits"', "/model/fc.weight"):
            self.assertIn(part, out)


if __name__ == "__main__":
    unittest.main()
