"""The text table."""

import unittest

import numpy as np

import samples
from files_test import FilesTest, edited
from lockstep_post import read_run
from lockstep_post.table import format_table

EXPECTED = """\
epoch  step    lr  train loss  train acc  val loss  val acc  images/s
    1     2   0.1      2.0000    30.00 %    2.0000  25.00 %       0.2
    2     4  0.05      1.0000    60.00 %         -        -      0.25
    3     6     0      0.5000    90.00 %    0.7500  75.00 %       0.2
best validation accuracy 75.00 % at epoch 3, world size 2, total time 2 min 36 s
"""


class TableOfARun(FilesTest):
    def setUp(self):
        super().setUp()
        self.path = samples.write_metrics(self.directory / "metrics.h5")

    def lines_with(self, **columns):
        with edited(self.path) as file:
            for name, values in columns.items():
                file[f"epoch/{name}"][...] = values
        return format_table(read_run(self.path)).splitlines()

    def test_shows_each_epoch_and_the_best_validation(self):
        self.assertEqual(format_table(read_run(self.path)), EXPECTED)

    def test_a_dash_means_not_validated_and_nan_means_nan(self):
        lines = self.lines_with(val_loss=np.nan, train_loss=[np.nan, 1, np.inf])
        self.assertEqual(lines[1].split(), "1 2 0.1 nan 30.00 % nan 25.00 % 0.2".split())
        self.assertEqual(lines[2].split(), "2 4 0.05 1.0000 60.00 % - - 0.25".split())
        self.assertEqual(lines[3].split()[3], "inf")

    def test_columns_stay_aligned_whatever_the_magnitude(self):
        lines = self.lines_with(global_step=[7, 123456789, 123456790], lr=[1e-9, 3.0, 0.00012345],
                                train_loss=[1e12, 0.00001, 2.0], images_per_second=[12345.6, 1, 99])
        self.assertEqual(len({len(line) for line in lines[:-1]}), 1, lines)
        self.assertEqual(lines[1].split()[2:4], ["1e-09", "1e+12"])
        self.assertEqual(lines[1].split()[-1], "12346")

    def test_says_where_nothing_was_validated(self):
        lines = self.lines_with(val_samples=0)
        self.assertTrue(lines[-1].startswith("no validation yet, world size 2"), lines[-1])

    def test_says_where_no_epoch_has_finished(self):
        path = samples.write_metrics(self.directory / "fresh.h5", epochs=0)
        lines = format_table(read_run(path)).splitlines()
        self.assertEqual(lines[1:], ["no validation yet, world size 2, total time 0.0 s"])

    def test_total_time_reads_in_the_unit_of_its_size(self):
        for seconds, text in ((59.4, "59.4 s"), (59.6, "1 min 00 s"), (119.7, "2 min 00 s"),
                              (3600, "1 h 00 min"), (3 * 3600 + 25 * 60 + 59, "3 h 25 min")):
            lines = self.lines_with(epoch_seconds=[seconds, 0, 0])
            self.assertTrue(lines[-1].endswith(f"total time {text}"), lines[-1])


if __name__ == "__main__":
    unittest.main()
