#!/usr/bin/env python3
"""Packs the UCI handwritten digits into inputs/digits.h5.

    python3 -m venv /tmp/digits && /tmp/digits/bin/pip install scikit-learn h5py
    /tmp/digits/bin/python inputs/pack_digits.py inputs/digits.h5

scikit-learn brings the data with it, so nothing is downloaded beyond the package. The same data
gives the same bytes. inputs/README.md describes the layout.
"""
import argparse
import hashlib

import h5py
import numpy as np

VERSION = 1
RAW_SHA256 = "87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826"
SPLIT_RULE = (
    "within each class, samples are numbered from 0 in the order of the source; "
    "those whose number leaves remainder 4 on division by 5 are validation, the others training"
)
ABOUT = {
    "title": "Optical recognition of handwritten digits: 1,797 images of 8x8 pixels, values 0 to 16",
    "source": "UCI Machine Learning Repository, data set 80, its test set, as copied by "
              "scikit-learn (sklearn.datasets.load_digits)",
    "source_url": "https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
    "citation": "Alpaydin, E. and Kaynak, C. (1998). Optical Recognition of Handwritten Digits "
                "[Dataset]. UCI Machine Learning Repository. https://doi.org/10.24432/C50P49",
    "license": "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/",
    "changes": "split into training and validation; pixel values and labels are unchanged",
    "split_rule": SPLIT_RULE,
    "packed_by": f"pack_digits.py, version {VERSION}",
}


def raw_sha256(images, labels):
    """all images (uint8, row by row), then all labels (uint8), in the order of the source"""
    return hashlib.sha256(images.tobytes() + labels.tobytes()).hexdigest()


def is_validation(labels):
    """SPLIT_RULE, for each sample."""
    number_in_class = np.zeros(len(labels), dtype=int)
    for digit in np.unique(labels):
        members = labels == digit
        number_in_class[members] = np.arange(members.sum())
    return number_in_class % 5 == 4


def pack(images, labels, path):
    """Writes uint8 images [N, 8, 8] and uint8 labels [N], in the source's order, to `path`."""
    validation = is_validation(labels)
    # The earliest file format stores no times, so that equal content gives equal bytes.
    with h5py.File(path, "w", libver="earliest") as file:
        for name, text in ABOUT.items():
            file.attrs[name] = text
        file.attrs["samples"] = len(labels)
        file.attrs["training_samples"] = int(np.sum(~validation))
        file.attrs["validation_samples"] = int(np.sum(validation))
        file.attrs["raw_sha256"] = raw_sha256(images, labels)
        file.attrs["raw_sha256_of"] = raw_sha256.__doc__
        for name, chosen in (("train", ~validation), ("validation", validation)):
            group = file.create_group(name)
            stored = group.create_dataset("images", data=images[chosen])
            stored.attrs["layout"] = "NHW"
            stored.attrs["scale"] = 1.0 / 16.0
            group.create_dataset("labels", data=labels[chosen])
            index = group.create_dataset("source_index", data=np.flatnonzero(chosen).astype("int32"))
            index.attrs["about"] = "number of the sample in the source, from 0"


def load_source():
    from sklearn.datasets import load_digits

    source = load_digits()
    images, labels = source.images.astype(np.uint8), source.target.astype(np.uint8)
    if not np.array_equal(images, source.images) or raw_sha256(images, labels) != RAW_SHA256:
        raise SystemExit("scikit-learn's digits are not the data this script was written for: their "
                         f"sha256 is {raw_sha256(images, labels)}, expected {RAW_SHA256}")
    return images, labels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", help="the file to write, e.g. inputs/digits.h5")
    pack(*load_source(), parser.parse_args().output)


if __name__ == "__main__":
    main()
