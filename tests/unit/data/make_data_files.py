#!/usr/bin/env python3
"""Writes the files that hdf5_dataset_test.cpp reads into the folder given as argument. Pixels count
up from 0 through the whole array in N,C,H,W order, so that a value tells its place."""
import sys
from pathlib import Path

import h5py
import numpy as np


def counted(*shape):
    return np.arange(np.prod(shape)).reshape(shape)


def write(path, images, labels, prefix="", layout=None, scale=None, image_key="images",
          label_key="labels"):
    with h5py.File(path, "a") as file:
        stored = file.create_dataset(f"{prefix}/{image_key}", data=images)
        if layout is not None:
            stored.attrs["layout"] = layout
        if scale is not None:
            stored.attrs["scale"] = scale
        file.create_dataset(f"{prefix}/{label_key}", data=labels)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.h5"):
        old.unlink()
    labels = np.array([3, 1, 2, 0], dtype="int32")
    nchw = counted(4, 2, 3, 3).astype("uint8")
    nhwc = np.ascontiguousarray(nchw.transpose(0, 2, 3, 1))

    write(folder / "nchw.h5", nchw, labels)
    write(folder / "nhwc.h5", nhwc, labels, layout="NHWC")
    write(folder / "nhwc_unnamed.h5", nhwc, labels)
    write(folder / "nhwc_bytes_text.h5", nhwc, labels, layout=np.bytes_("NHWC"))
    write(folder / "nhwc_float.h5", nhwc.astype("float32"), labels, layout="NHWC")
    write(folder / "nhw_double.h5", counted(4, 3, 3) * 0.5, labels.astype("uint16"))
    write(folder / "half.h5", (counted(4, 3, 3) * 0.5).astype("float16"), labels)
    write(folder / "scaled.h5", nchw, labels, scale=1 / 16)
    write(folder / "scaled_by_integer.h5", nchw, labels, scale=2)
    write(folder / "every_byte.h5", counted(1, 1, 16, 16).astype("uint8"), labels[:1])
    write(folder / "other_keys.h5", nchw, labels, image_key="x", label_key="y")
    write(folder / "shifted.h5", nchw + 1, labels)
    write(folder / "twenty.h5", counted(20, 1, 1).astype("float32"), np.arange(20) % 10)
    write(folder / "grouped.h5", nchw, labels, prefix="/train")
    write(folder / "grouped.h5", nchw[:2] + 100, labels[:2], prefix="/validation")

    write(folder / "too_few_labels.h5", nchw, labels[:3])
    write(folder / "label_too_large.h5", nchw, np.array([0, 1, 4, 11]))
    write(folder / "label_negative.h5", nchw, np.array([0, -1, 2, 3]))
    write(folder / "float_labels.h5", nchw, labels.astype("float64"))
    write(folder / "text_labels.h5", nchw, np.array([b"cat", b"dog", b"cat", b"dog"]))
    write(folder / "flat_images.h5", counted(4, 18).astype("uint8"), labels)
    write(folder / "unknown_layout.h5", nchw, labels, layout="CHWN")
    write(folder / "layout_of_other_rank.h5", nchw, labels, layout="NHW")
    write(folder / "text_scale.h5", nchw, labels, scale="1/16")
    write(folder / "short_integers.h5", nchw.astype("int16"), labels)
    write(folder / "no_samples.h5", nchw[:0], labels[:0])
    write(folder / "misspelt.h5", nchw, labels, image_key="imags")
    (folder / "not_hdf5.h5").write_text("images, labels\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
