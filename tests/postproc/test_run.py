"""Reading a run."""

import fcntl
import unittest

import h5py
import numpy as np

import samples
from files_test import FilesTest, edited, replace
from lockstep_post import UnreadableError, read_run


class ReadsARun(FilesTest):
    def setUp(self):
        super().setUp()
        self.path = samples.write_metrics(self.directory / "first" / "metrics.h5")

    def test_every_column_has_the_values_and_type_of_the_file(self):
        run = read_run(self.path)
        for group, expected in (("epoch", samples.EPOCH), ("rank", samples.RANK),
                                ("step", samples.STEP)):
            columns = getattr(run, group)
            self.assertEqual(list(columns), list(expected))
            for name, values in expected.items():
                np.testing.assert_array_equal(columns[name], np.array(values), f"{group}/{name}")
                self.assertEqual(columns[name].dtype, np.array(values).dtype)

    def test_settings_are_text_whatever_string_type_the_file_uses(self):
        run = read_run(self.path)
        self.assertEqual(run.config, {"batch_size": "3", "data": "digits"})
        self.assertEqual(run.provenance, {"host": "node1"})
        self.assertEqual(run.version, "0.1.0")

    def test_units_come_from_the_file(self):
        with edited(self.path) as file:
            file["epoch/epoch_seconds"].attrs["units"] = "min"
        self.assertEqual(read_run(self.path).units["epoch/epoch_seconds"], "min")

    def test_a_directory_means_its_metrics_file_and_names_the_run(self):
        run = read_run(self.path.parent)
        self.assertEqual((run.path, run.name), (self.path, "first"))
        other = samples.write_metrics(self.directory / "kept.h5")
        self.assertEqual(read_run(other).name, "kept")

    def test_summaries_are_those_of_the_columns(self):
        run = read_run(self.path)
        self.assertEqual((run.epochs, run.world_size, run.seconds), (3, 2, 155.5))
        self.assertEqual(run.validated.tolist(), [True, False, True])
        self.assertEqual(run.best, 2)

    def test_of_equally_good_epochs_the_first_is_best(self):
        with edited(self.path) as file:
            file["epoch/val_accuracy"][...] = [0.75, np.nan, 0.75]
        self.assertEqual(read_run(self.path).best, 0)

    def test_a_run_without_a_finished_epoch_reads(self):
        run = read_run(samples.write_metrics(self.directory / "fresh.h5", epochs=0))
        self.assertEqual((run.epochs, run.world_size, run.seconds, run.best), (0, 2, 0.0, None))

    def test_columns_of_later_versions_are_kept_behind_the_known_ones(self):
        with edited(self.path) as file:
            file["epoch/a_new_one"] = [1.0, 2.0, 3.0]
        self.assertEqual(list(read_run(self.path).epoch), [*samples.EPOCH, "a_new_one"])


class SaysWhatItCannotRead(FilesTest):
    def assert_message(self, path, *parts):
        with self.assertRaises(UnreadableError) as caught:
            read_run(path)
        for part in (str(path), "try: ", *parts):
            self.assertIn(part, str(caught.exception))

    def test_a_missing_file(self):
        self.assert_message(self.directory / "none.h5", "no such file", "run directory")

    def test_a_run_directory_before_its_first_epoch(self):
        self.assert_message(self.directory, "metrics.h5", "first epoch")

    def test_a_file_that_is_not_hdf5(self):
        path = self.directory / "text.h5"
        path.write_text("epoch,loss\n0,1.5\n")
        self.assert_message(path, "not HDF5")

    def test_a_truncated_file(self):
        path = samples.write_metrics(self.directory / "torn.h5")
        path.write_bytes(path.read_bytes()[:-100])
        self.assert_message(path, "truncated")

    def test_a_file_that_a_writer_holds(self):
        path = samples.write_metrics(self.directory / "held.h5")
        with open(path, "rb+") as writer:
            fcntl.flock(writer, fcntl.LOCK_EX)  # as the HDF5 library does in a writer
            self.assert_message(path, "HDF5_USE_FILE_LOCKING")

    def test_a_checkpoint(self):
        path = samples.write_checkpoint(self.directory / "step.h5")
        self.assert_message(path, "not a metrics file", "lockstep.checkpoint")

    def test_a_foreign_hdf5_file(self):
        path = self.directory / "foreign.h5"
        h5py.File(path, "w").close()
        self.assert_message(path, "not a metrics file", "no attribute \"format\"")

    def test_a_later_format(self):
        path = samples.write_metrics(self.directory / "later.h5")
        with edited(path) as file:
            file.attrs["format_version"] = 2
        self.assert_message(path, "format version 2", "knows 1")

    def test_a_missing_column(self):
        path = samples.write_metrics(self.directory / "m.h5")
        with edited(path) as file:
            del file["step/loss"]
        self.assert_message(path, "no data set /step/loss", "check")

    def test_a_missing_group(self):
        path = samples.write_metrics(self.directory / "m.h5")
        with edited(path) as file:
            del file["rank"]
        self.assert_message(path, "no data set /rank/train_samples")

    def test_columns_of_unequal_length(self):
        path = samples.write_metrics(self.directory / "m.h5")
        with edited(path) as file:
            replace(file, "epoch/lr", [0.1, 0.05])
        self.assert_message(path, "/epoch differ in shape")


if __name__ == "__main__":
    unittest.main()
