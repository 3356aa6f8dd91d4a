"""Each thing that must hold is violated once, and must be reported."""

import shutil
import struct
import unittest

import h5py
import numpy as np

import samples
import violations
from files_test import FilesTest, edited
from lockstep_post import UnreadableError
from lockstep_post.check import find_problems


class Check(FilesTest):
    def assert_problems(self, path, expected):
        found = find_problems(path)
        self.assertEqual(len(found), len(expected), found)
        for problem, text in zip(found, expected):
            self.assertIn(text, problem)

    def assert_each_reported(self, write, cases):
        good = write(self.directory / "good.h5")
        for number, (change, expected) in enumerate(cases):
            with self.subTest(expected[0]):
                path = shutil.copyfile(good, self.directory / f"{number}.h5")
                with edited(path) as file:
                    change(file)
                    is_checkpoint = file.userblock_size > 0
                if is_checkpoint:  # whose size the change may have moved
                    samples.write_user_block(path)
                self.assert_problems(path, expected)

    def test_each_violation_in_a_metrics_file_is_reported_and_nothing_else(self):
        self.assert_each_reported(samples.write_metrics, violations.METRICS)

    def test_each_violation_in_a_checkpoint_is_reported_and_nothing_else(self):
        self.assert_each_reported(samples.write_checkpoint, violations.CHECKPOINT)

    def test_all_problems_are_reported_at_once(self):
        path = samples.write_metrics(self.directory / "m.h5")
        with edited(path) as file:
            file["epoch/train_loss"][...] = 7
            file["epoch/lr"].attrs["units"] = "%"
            del file["step/lr"]
        self.assert_problems(path, ["/step/lr: no such", "/epoch/lr: units", "/epoch/train_loss[0]",
                                    "/epoch/train_loss[1]", "/epoch/train_loss[2]"])

    def test_nothing_is_wrong_with_good_files_of_any_number_of_epochs(self):
        for epochs in (0, 1, 3):
            path = samples.write_metrics(self.directory / f"m{epochs}.h5", epochs)
            self.assert_problems(path, [])
            path = samples.write_checkpoint(self.directory / f"c{epochs}.h5", epochs)
            self.assert_problems(path, [])

    def test_a_loss_that_is_not_a_number_is_a_true_value(self):
        path = samples.write_metrics(self.directory / "m.h5")
        with edited(path) as file:
            for name in ("train_loss_sum", "train_loss", "val_loss_sum", "val_loss"):
                file[f"epoch/{name}"][2] = np.nan
            for name in ("train_loss_sum", "train_loss"):
                file[f"epoch/{name}"][1] = np.inf
        self.assert_problems(path, [])

    def test_optimizer_state_may_be_one_number_or_belong_to_no_tensor(self):
        path = samples.write_checkpoint(self.directory / "c.h5")
        with edited(path) as file:
            file["optimizer/steps/fc.weight"] = np.array([3])
            file["optimizer/scale"] = 3.0
        samples.write_user_block(path)
        self.assert_problems(path, [])

    def test_more_than_the_layout_names_is_no_problem(self):
        path = samples.write_metrics(self.directory / "m.h5")
        with edited(path) as file:
            file["epoch/grad_norm"] = np.ones(3)
            file.create_group("note")
        self.assert_problems(path, [])

    def test_a_checkpoint_whose_user_block_does_not_fit_is_reported(self):
        path = samples.write_checkpoint(self.directory / "c.h5")
        sealed = path.read_bytes()
        size = len(sealed)
        for offset, value, expected in (
                (0, b"\0", "does not begin with LOCKSTEP"), (8, b"\3", "layout version 3"),
                (8, b"\1", "layout version 1"),
                (16, struct.pack("<Q", size + 8), f"names {size + 8} bytes, the file has {size}")):
            with self.subTest(expected):
                block = bytearray(sealed[:496])
                block[offset:offset + len(value)] = value
                path.write_bytes(block + samples.little_hash(bytes(block)) + sealed[512:])
                self.assert_problems(path, [f"user block: {expected}"])

    @unittest.skipUnless(samples.xxhash, "xxhash (Debian: python3-xxhash) is not installed")
    def test_a_checkpoint_with_any_other_bit_is_reported(self):
        path = samples.write_checkpoint(self.directory / "c.h5")
        sealed = path.read_bytes()
        with h5py.File(path) as file:
            weight = file["model/fc.weight"].id.get_offset()
        for byte, expected in ((100, "user block: differs from its checksum"),
                               (500, "user block: differs from its checksum"),
                               (weight, "block 1 of 1: differs from its hash"),
                               (len(sealed) - 1, "list of hashes: differs")):
            with self.subTest(byte):
                damaged = bytearray(sealed)
                damaged[byte] ^= 1
                path.write_bytes(damaged)
                self.assert_problems(path, [expected])

    def test_a_checkpoint_without_its_user_block_is_reported(self):
        path = samples.write_checkpoint(self.directory / "c.h5")
        with h5py.File(path) as old, h5py.File(self.directory / "flat.h5", "w") as flat:
            flat.attrs.update(old.attrs)
            for name in old:
                old.copy(name, flat)
        self.assert_problems(self.directory / "flat.h5",
                             ["user block: 0 bytes instead of 512"])

    def test_what_cannot_be_opened_or_read_raises(self):
        path = samples.write_metrics(self.directory / "m.h5")
        path.write_bytes(path.read_bytes()[:2000])
        for unreadable in (path, self.directory / "none.h5", self.directory):
            with self.assertRaises(UnreadableError):
                find_problems(unreadable)


if __name__ == "__main__":
    unittest.main()
