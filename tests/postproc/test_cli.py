"""The commands as a person or a script runs them: exit codes and messages."""

import os
import pathlib
import subprocess
import sys
import unittest

import h5py

import samples
from files_test import FilesTest, edited

PACKAGE_HOME = pathlib.Path(__file__).resolve().parents[2] / "postproc"


class Commands(FilesTest):
    def setUp(self):
        super().setUp()
        self.run_path = samples.write_metrics(self.directory / "run" / "metrics.h5").parent

    def lockstep_post(self, *arguments):
        return subprocess.run(
            [sys.executable, "-m", "lockstep_post", *map(str, arguments)], cwd=self.directory,
            env={**os.environ, "PYTHONPATH": str(PACKAGE_HOME)}, capture_output=True, text=True,
            timeout=60, check=False)

    def assert_result(self, result, code, out=(), err=()):
        self.assertEqual(result.returncode, code, result)
        for part in out:
            self.assertIn(part, result.stdout)
        for part in err:
            self.assertIn(part, result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        if not err:
            self.assertEqual(result.stderr, "")

    def test_table_prints_each_run_under_its_name(self):
        other = samples.write_metrics(self.directory / "other" / "metrics.h5", epochs=1)
        self.assert_result(self.lockstep_post("table", self.run_path, other), 0,
                           out=[f"run ({self.run_path}/metrics.h5)\nepoch", f"\n\nother ({other})\n",
                                "best validation accuracy 75.00 % at epoch 3, world size 2"])
        self.assertTrue(self.lockstep_post("table", "run").stdout.startswith("epoch  step"))

    def test_plot_and_export_write_and_name_their_output(self):
        for command, name in (("plot", "curves.png"), ("export", "out.csv"), ("export", "o.json")):
            self.assert_result(self.lockstep_post(command, "run", "-o", name), 0, out=[name])
            self.assertGreater((self.directory / name).stat().st_size, 100)

    def test_export_takes_the_group_of_a_csv(self):
        self.lockstep_post("export", "run", "-o", "steps.csv", "--group", "step")
        self.assertEqual(len((self.directory / "steps.csv").read_text().splitlines()), 7)

    def test_check_of_a_run_directory_includes_its_checkpoints(self):
        for step in (2, 4):
            samples.write_checkpoint(self.run_path / "checkpoints" / f"step_{step:012d}.h5")
        self.assert_result(self.lockstep_post("check", "run"), 0,
                           out=["run/metrics.h5: ok", "step_000000000002.h5: ok",
                                "step_000000000004.h5: ok"])

    def test_check_reports_problems_with_exit_code_1(self):
        with edited(self.run_path / "metrics.h5") as file:
            file["epoch/train_loss"][0] = 9
        self.assert_result(self.lockstep_post("check", "run"), 1,
                           out=["run/metrics.h5: 1 problem(s)", "  /epoch/train_loss[0] = 9.0"])

    def test_check_goes_on_behind_an_unreadable_file_and_exits_with_2(self):
        with edited(self.run_path / "metrics.h5") as file:
            file["epoch/train_loss"][0] = 9
        (self.directory / "text.h5").write_text("no")
        self.assert_result(self.lockstep_post("check", "text.h5", "run"), 2,
                           out=["run/metrics.h5: 1 problem(s)"], err=["error: reading text.h5"])

    def test_diff_says_what_is_equal_with_0_and_what_differs_with_1(self):
        copy = samples.write_metrics(self.directory / "copy" / "metrics.h5")
        result = self.lockstep_post("diff", "run", copy)
        with h5py.File(copy) as file:
            items = [file]
            file.visititems(lambda _, item: items.append(item))
            data_sets = sum(isinstance(item, h5py.Dataset) for item in items)
            attributes = sum(len(item.attrs) for item in items)
        self.assert_result(result, 0)
        self.assertEqual(result.stdout, f"no differences: run/metrics.h5 and {copy} agree in "
                                        f"{data_sets} data sets and {attributes} attributes\n")
        with edited(copy) as file:
            file["epoch/epoch_seconds"][0] = 9
            file["config"].attrs["seed"] = "1"
        self.assert_result(self.lockstep_post("diff", "run", copy), 1,
                           out=["/config@seed: only in the second", "/epoch/epoch_seconds: 1 of 3"])
        self.assert_result(self.lockstep_post("diff", "run", copy, "--ignore-times"), 1)
        self.assert_result(self.lockstep_post("diff", "run", copy, "--ignore-times", "--ignore",
                                              "/provenance", "--ignore", "/config"), 0,
                           out=["no differences: ", ", the values of times, /provenance, /config left out"])

    def test_what_cannot_be_read_or_written_exits_with_2_and_says_what_to_try(self):
        for arguments, parts in (
                (("table", "none"), ("error: reading none: no such file", "try: ")),
                (("plot", "none", "-o", "a.png"), ("reading none", "try: ")),
                (("plot", "run", "-o", "a.xyz"), ('unknown suffix ".xyz"', "try: ")),
                (("export", "run", "-o", "no/a.csv"), ("writing no/a.csv", "try: ")),
                (("check", "none"), ("reading none", "try: ")),
                (("diff", "run", "none"), ("reading none", "try: "))):
            with self.subTest(arguments[0]):
                self.assert_result(self.lockstep_post(*arguments), 2, err=parts)

    def test_wrong_usage_exits_with_2(self):
        for arguments in ((), ("tabel", "run"), ("plot", "run"), ("diff", "run"),
                          ("export", "run", "-o", "a.csv", "--group", "ranks")):
            with self.subTest(arguments):
                self.assert_result(self.lockstep_post(*arguments), 2, err=["usage: lockstep_post"])

    def test_a_table_needs_no_matplotlib(self):
        code = ("import sys; sys.modules['matplotlib'] = None\n"
                "from lockstep_post.cli import main; sys.exit(main(['table', 'run']))")
        result = subprocess.run([sys.executable, "-c", code], cwd=self.directory, timeout=60,
                                env={**os.environ, "PYTHONPATH": str(PACKAGE_HOME)},
                                capture_output=True, text=True, check=False)
        self.assert_result(result, 0, out=["epoch  step"])

    def test_a_missing_package_is_named_in_one_line_with_the_ways_to_get_it(self):
        for module, arguments in (("h5py", ["table", "run"]), ("numpy", ["check", "run"]),
                                  ("matplotlib", ["plot", "run", "-o", "a.png"]),
                                  ("matplotlib", ["confusion", "run", "-o", "a.png"])):
            code = (f"import runpy, sys; sys.modules['{module}'] = None\n"
                    f"sys.argv = ['lockstep_post', *{arguments!r}]\n"
                    "runpy.run_module('lockstep_post', run_name='__main__')")
            result = subprocess.run([sys.executable, "-c", code], cwd=self.directory, timeout=60,
                                    env={**os.environ, "PYTHONPATH": str(PACKAGE_HOME)},
                                    capture_output=True, text=True, check=False)
            with self.subTest(module):
                self.assert_result(result, 2, err=[f"has no {module}: ",
                                                   f"apt install python3-{module}",
                                                   f"pip install {module}"])
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_a_reader_that_has_seen_enough_gets_no_traceback(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        result = subprocess.run([sys.executable, "-m", "lockstep_post", "table", "run"],
                                cwd=self.directory, stdout=write_end, stderr=subprocess.PIPE,
                                env={**os.environ, "PYTHONPATH": str(PACKAGE_HOME)}, text=True,
                                timeout=60, check=False)
        os.close(write_end)
        self.assertEqual(result.stderr, "")


if __name__ == "__main__":
    unittest.main()
