#!/usr/bin/env python3
"""inputs/digits.h5 holds what inputs/README.md says, and pack_digits.py makes it."""
import hashlib
import sys
import tempfile
import unittest
from pathlib import Path

import h5py
import numpy as np

INPUTS = Path(__file__).resolve().parents[3] / "inputs"
DIGITS = INPUTS / "digits.h5"
# Samples a class of the UCI test set, from the repository's own description of it.
CLASS_COUNTS = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


class Digits(unittest.TestCase):
    def setUp(self):
        self.file = h5py.File(DIGITS, "r")
        self.addCleanup(self.file.close)

    def both(self, key):
        """`key` of all samples, in the order of the source."""
        parts = [self.file[f"{group}/{key}"][...] for group in ("train", "validation")]
        index = [self.file[f"{group}/source_index"][...] for group in ("train", "validation")]
        return np.concatenate(parts)[np.argsort(np.concatenate(index))]

    def test_is_small(self):
        self.assertLess(DIGITS.stat().st_size, 200_000)

    def test_holds_every_sample_in_one_split_only(self):
        self.assertEqual(self.both("source_index").tolist(), list(range(1797)))
        self.assertEqual(self.file["train/images"].shape, (1442, 8, 8))
        self.assertEqual(self.file["validation/images"].shape, (355, 8, 8))
        self.assertEqual(self.file["train/labels"].shape, (1442,))
        self.assertEqual(self.file["validation/labels"].shape, (355,))
        counts = [self.file.attrs[f"{part}samples"] for part in ("", "training_", "validation_")]
        self.assertEqual(counts, [1797, 1442, 355])

    def test_has_the_sources_samples_of_each_class(self):
        labels = self.both("labels")
        self.assertEqual(np.bincount(labels).tolist(), CLASS_COUNTS)
        # A fifth of each class, rounded down.
        self.assertEqual(np.bincount(self.file["validation/labels"][...]).tolist(),
                         [35, 36, 35, 36, 36, 36, 36, 35, 34, 36])

    def test_splits_by_the_rule_it_states(self):
        validation = set(self.file["validation/source_index"][...].tolist())
        seen = [0] * 10
        for number, label in enumerate(self.both("labels").tolist()):
            self.assertEqual(number in validation, seen[label] % 5 == 4)
            seen[label] += 1

    def test_pixels_are_counts_from_0_to_16(self):
        images = self.both("images")
        self.assertEqual(images.dtype, np.uint8)
        self.assertEqual((images.min(), images.max()), (0, 16))
        for group in ("train", "validation"):
            self.assertEqual(self.file[f"{group}/images"].attrs["scale"], 1 / 16)
            self.assertEqual(self.file[f"{group}/images"].attrs["layout"], "NHW")

    def test_states_source_licence_and_hash(self):
        attributes = self.file.attrs
        self.assertIn("UCI", attributes["source"])
        self.assertIn("Alpaydin", attributes["citation"])
        self.assertIn("CC BY 4.0", attributes["license"])
        raw = self.both("images").tobytes() + self.both("labels").tobytes()
        self.assertEqual(attributes["raw_sha256"], hashlib.sha256(raw).hexdigest())

    def test_packing_again_gives_the_same_bytes(self):
        sys.path.insert(0, str(INPUTS))
        sys.dont_write_bytecode = True
        import pack_digits

        self.assertEqual(self.file.attrs["raw_sha256"], pack_digits.RAW_SHA256)
        with tempfile.TemporaryDirectory() as folder:
            again = Path(folder) / "digits.h5"
            pack_digits.pack(self.both("images"), self.both("labels"), again)
            self.assertEqual(again.read_bytes(), DIGITS.read_bytes())


if __name__ == "__main__":
    unittest.main()
