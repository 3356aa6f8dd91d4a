"""CSV and JSON."""

import csv
import json
import unittest

import samples
from files_test import FilesTest, edited
from lockstep_post import PostError, read_run
from lockstep_post.export import export


class Export(FilesTest):
    def setUp(self):
        super().setUp()
        self.path = samples.write_metrics(self.directory / "metrics.h5")

    def csv_rows(self, group="epoch"):
        path = self.directory / "out.csv"
        export(read_run(self.path), path, group)
        with open(path, newline="") as file:
            return list(csv.DictReader(file))

    def test_csv_has_a_row_an_epoch_and_an_empty_cell_for_nan(self):
        rows = self.csv_rows()
        self.assertEqual(list(rows[0]), list(samples.EPOCH))
        self.assertEqual([row["global_step"] for row in rows], ["2", "4", "6"])
        self.assertEqual([row["val_accuracy"] for row in rows], ["0.25", "", "0.75"])

    def test_csv_of_ranks_names_epoch_and_rank_of_each_row(self):
        rows = self.csv_rows("rank")
        self.assertEqual(list(rows[0]), ["epoch", "rank", *samples.RANK])
        self.assertEqual([(row["epoch"], row["rank"], row["peak_rss_bytes"]) for row in rows],
                         [("0", "0", "1000"), ("0", "1", "2000"), ("1", "0", "1000"),
                          ("1", "1", "2000"), ("2", "0", "1000"), ("2", "1", "2500")])

    def test_csv_of_steps_has_a_row_a_log_point(self):
        rows = self.csv_rows("step")
        self.assertEqual([row["loss"] for row in rows], ["2.5", "1.25", "1.0", "1.0", "0.5", "0.5"])

    def test_csv_keeps_every_digit(self):
        with edited(self.path) as file:
            file["epoch/lr"][0] = 1 / 3
        self.assertEqual(float(self.csv_rows()[0]["lr"]), 1 / 3)

    def test_json_holds_all_groups_units_and_settings(self):
        path = self.directory / "out.json"
        export(read_run(self.path), path)
        found = json.loads(path.read_text(), parse_constant=self.fail)
        self.assertEqual(found["format"], "lockstep.metrics")
        self.assertEqual(found["config"], {"batch_size": "3", "data": "digits"})
        self.assertEqual(found["provenance"], {"host": "node1"})
        self.assertEqual(found["units"]["step/elapsed_seconds"], "s")
        self.assertEqual(found["epoch"]["epoch"], [0, 1, 2])
        self.assertEqual(found["rank"]["train_samples"], [[6, 4], [6, 4], [6, 4]])
        self.assertEqual(found["step"]["loss_sum"], [15.0, 5.0, 6.0, 4.0, 3.0, 2.0])

    def test_json_has_null_where_it_lacks_the_number(self):
        with edited(self.path) as file:
            file["epoch/val_loss"][0] = float("inf")
        path = self.directory / "out.json"
        export(read_run(self.path), path)
        self.assertEqual(json.loads(path.read_text())["epoch"]["val_loss"], [None, None, 0.75])

    def test_refuses_other_suffixes_and_writes_nothing(self):
        path = self.directory / "out.xlsx"
        with self.assertRaisesRegex(PostError, r"\.xlsx(.|\n)*\.csv or \.json"):
            export(read_run(self.path), path)
        self.assertFalse(path.exists())

    def test_names_the_place_that_cannot_be_written(self):
        with self.assertRaisesRegex(PostError, "nowhere/out.csv: No such file"):
            export(read_run(self.path), self.directory / "nowhere" / "out.csv")


if __name__ == "__main__":
    unittest.main()
