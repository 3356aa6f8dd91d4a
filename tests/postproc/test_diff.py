"""Comparing two files bit for bit."""

import unittest

import h5py
import numpy as np

import samples
from files_test import FilesTest, edited, replace
from lockstep_post.diff import find_differences


class Diff(FilesTest):
    def setUp(self):
        super().setUp()
        self.a = samples.write_metrics(self.directory / "a.h5")
        self.b = samples.write_metrics(self.directory / "b.h5")

    def assert_differences(self, expected, **options):
        self.assertEqual(find_differences(self.a, self.b, **options), expected)

    def test_files_with_equal_contents_are_equal_nans_included(self):
        self.assert_differences([])

    def test_equal_checkpoints_are_equal_whatever_their_user_block_holds(self):
        a = samples.write_checkpoint(self.directory / "c.h5")
        b = samples.write_checkpoint(self.directory / "d.h5")
        with open(b, "r+b") as file:
            file.write(b"another hash")
        self.assertEqual(find_differences(a, b), [])

    def test_values_count_place_and_size_of_a_difference_are_named(self):
        with edited(self.b) as file:
            file["epoch/train_loss"][1:] = [1.25, 0.625]
        self.assert_differences(["/epoch/train_loss: 2 of 3 values differ, first [1]: "
                                 "1.0 and 1.25, at most by 0.25"])

    def test_a_difference_of_one_bit_is_one(self):
        a = samples.write_checkpoint(self.directory / "c.h5")
        b = samples.write_checkpoint(self.directory / "d.h5")
        with edited(b) as file:
            weight = file["model/fc.weight"]
            weight[1, 2] = np.nextafter(np.float32(5), np.float32(6))
        found = find_differences(a, b)
        self.assertEqual(len(found), 1)
        self.assertIn("/model/fc.weight: 1 of 6 values differ, first [1, 2]: 5.0 and 5.0000005",
                      found[0])

    def test_zeros_of_different_sign_differ(self):
        with edited(self.b) as file:
            file["epoch/lr"][2] = -0.0
        self.assert_differences(["/epoch/lr: 1 of 3 values differ, first [2]: 0.0 and -0.0, "
                                 "at most by 0"])

    def test_nans_of_different_bits_differ(self):
        with edited(self.b) as file:
            other = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]
            file["epoch/val_loss"][1] = other
        found = find_differences(self.a, self.b)
        self.assertEqual(len(found), 1)
        self.assertIn("/epoch/val_loss: 1 of 3 values differ, first [1]: nan and nan "
                      "(different bits)", found[0])

    def test_shape_and_type_are_compared(self):
        with edited(self.b) as file:
            replace(file, "epoch/lr", [0.1, 0.05])
            replace(file, "step/epoch", np.array(samples.STEP["epoch"], np.int32))
        self.assert_differences(["/epoch/lr: shape (3,) and (2,)",
                                 "/step/epoch: type int64 and int32"])

    def test_what_only_one_file_has_is_named(self):
        with edited(self.a) as file:
            file["model/new"] = 1.0
        with edited(self.b) as file:
            del file["step/lr"]
            file["extra"] = 2.0
        with edited(self.a) as file:
            file.create_group("extra")
        self.assert_differences([
            "/extra: a group in one, a data set in the other", "/model: only in the first",
            "/model/new: only in the first", "/step/lr: only in the first",
            "/step/lr@units: only in the first"])

    def test_attributes_are_compared(self):
        with edited(self.b) as file:
            file.attrs["lockstep_version"] = "0.2.0"
            file.attrs["format_version"] = 2
            file["config"].attrs["batch_size"] = "12"
            file["epoch/lr"].attrs["units"] = "per step"
            file["provenance"].attrs["more"] = "x"
        self.assert_differences([
            "/@format_version: 1 and 2", "/@lockstep_version: 0.1.0 and 0.2.0",
            "/config@batch_size: 3 and 12", "/epoch/lr@units: 1 and per step",
            "/provenance@more: only in the second"])

    def test_single_numbers_are_compared(self):
        a = samples.write_checkpoint(self.directory / "c.h5")
        b = samples.write_checkpoint(self.directory / "d.h5")
        with edited(b) as file:
            file["sampler/offset"][()] = 64
        self.assertEqual(find_differences(a, b), ["/sampler/offset: 0 and 64"])


class DiffIgnores(FilesTest):
    TIMES = ("epoch/epoch_seconds", "epoch/train_seconds", "epoch/val_seconds",
             "epoch/images_per_second", "rank/train_seconds", "rank/data_wait_seconds",
             "rank/peak_rss_bytes", "step/images_per_second", "step/elapsed_seconds")

    def setUp(self):
        super().setUp()
        self.a = samples.write_metrics(self.directory / "a.h5")
        self.b = samples.write_metrics(self.directory / "b.h5")

    def test_times_when_asked_and_only_then(self):
        with edited(self.b) as file:
            for name in self.TIMES:
                file[name][...] = 7
        self.assertEqual([line.split(":")[0] for line in find_differences(self.a, self.b)],
                         sorted(f"/{name}" for name in self.TIMES))
        self.assertEqual(find_differences(self.a, self.b, ignore_times=True), [])

    def test_of_times_only_the_values(self):
        with edited(self.b) as file:
            replace(file, "epoch/val_seconds", [1.0])
            file["epoch/epoch_seconds"].attrs["units"] = "min"
        self.assertEqual(find_differences(self.a, self.b, ignore_times=True),
                         ["/epoch/epoch_seconds@units: s and min",
                          "/epoch/val_seconds: shape (3,) and (1,)"])

    def test_times_within_a_checkpoint_too(self):
        a = samples.write_checkpoint(self.directory / "c.h5")
        b = samples.write_checkpoint(self.directory / "d.h5")
        with edited(b) as file:
            file["metrics/step/elapsed_seconds"][...] = 7
        self.assertEqual(find_differences(a, b, ignore_times=True), [])

    def test_patterns_with_all_that_lies_in_them(self):
        with edited(self.b) as file:
            file["provenance"].attrs["host"] = "node2"
            file["provenance/more"] = [1]
            file["epoch/lr"][0] = 9
            file["step/lr"][0] = 9
            file["epoch"].attrs["note"] = "x"
        self.assertEqual(find_differences(self.a, self.b, ignore=["/provenance", "*/lr"]),
                         ["/epoch@note: only in the second"])

    def test_a_single_attribute(self):
        with edited(self.b) as file:
            file["config"].attrs["batch_size"] = "4"
            file["config"].attrs["data"] = "cifar"
        found = find_differences(self.a, self.b, ignore=["/config@batch_size"])
        self.assertEqual(found, ["/config@data: digits and cifar"])


if __name__ == "__main__":
    unittest.main()
