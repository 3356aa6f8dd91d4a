"""Files that cannot be written while a run goes on: all ranks end, and one message says why."""

import time

import harness


class BrokenFiles(harness.LongRunTestCase):
    def assert_ends_with_one_message(self, process, *texts):
        output, errors = process.communicate(timeout=30 * harness.PATIENCE)
        self.assertEqual(process.returncode, 1, output + errors)
        self.assertEqual(errors.count("lockstep: "), 1, errors)
        for text in texts:
            self.assertIn(text, errors)

    def test_the_checkpoints_directory_is_gone(self):
        process = self.start(2, "--epochs", "100000")
        run = self.directory / "run"
        deadline = time.monotonic() + 30 * harness.PATIENCE
        while not list((run / "checkpoints").glob("step_*.h5")):
            self.assertLess(time.monotonic(), deadline, "no checkpoint is written")
        (run / "checkpoints").rename(run / "elsewhere")
        complete = sorted((run / "elsewhere").glob("step_*.h5"))
        content = [path.read_bytes() for path in complete]
        self.assertTrue(complete)
        self.assert_ends_with_one_message(process, str(run / "checkpoints"),
                                          "No such file or directory")
        self.assertEqual([path.read_bytes() for path in complete], content)

    def test_a_file_stands_in_the_checkpoints_directorys_place(self):
        process = self.start(2, "--epochs", "100000", "--save_every", "1")
        run = self.directory / "run"
        (run / "checkpoints").rename(run / "elsewhere")
        (run / "checkpoints").write_text("in the way")
        self.assert_ends_with_one_message(process, str(run / "checkpoints"))

    def test_a_directory_stands_in_the_metrics_place(self):
        process = self.start(2, "--epochs", "100000", "--save_every", "0")
        run = self.directory / "run"
        (self.directory / "full").mkdir()
        (self.directory / "full" / "file").write_text("keeps the directory from being replaced")
        deadline = time.monotonic() + 30 * harness.PATIENCE
        while True:  # a rename of the run's own may come in between
            (run / "metrics.h5").unlink(missing_ok=True)
            try:
                (self.directory / "full").rename(run / "metrics.h5")
                break
            except NotADirectoryError:
                self.assertLess(time.monotonic(), deadline)
        self.assert_ends_with_one_message(process, str(run / "metrics.h5"), "Is a directory")
        self.assertFalse((run / "metrics.h5.tmp").exists())


if __name__ == "__main__":
    harness.main()
