#!/usr/bin/env python3
"""Writes the files that hdf5_dataset_test.cpp reads into the folder given as argument. Pixels count
up from 0 through the whole array in N,C,H,W order, so that a value tells its place."""
import shutil
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


def put(path, **arrays):
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values


def one_hot(labels, classes):
    return np.eye(classes, dtype="int64")[labels]


def write_cifar(folder):
    """Two records a file, numbered through; see cifar10_test.cpp."""
    folder.mkdir(parents=True)
    names = [f"data_batch_{batch}.bin" for batch in range(1, 6)] + ["test_batch.bin"]
    for number, name in enumerate(names):
        content = b""
        for record in (2 * number, 2 * number + 1):
            content += bytes([3 * record % 10]) + bytes((record + i) % 256 for i in range(3072))
        (folder / name).write_bytes(content)


def write_cifar_folders(folder):
    for name in ("cifar/cifar-10-batches-bin", "cifar_missing", "cifar_short", "cifar_label"):
        write_cifar(folder / name)
    (folder / "cifar_missing" / "data_batch_4.bin").unlink()
    short = folder / "cifar_short" / "data_batch_2.bin"
    short.write_bytes(short.read_bytes()[:-1])
    label = folder / "cifar_label" / "test_batch.bin"
    content = bytearray(label.read_bytes())
    content[3073] = 10
    label.write_bytes(content)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.h5"):
        old.unlink()
    for old in folder.glob("cifar*"):
        shutil.rmtree(old)
    write_cifar_folders(folder)
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
    write(folder / "wide_integers.h5", nchw.astype("int32"), labels)
    write(folder / "text_images.h5", np.full((4, 2, 3, 3), b"x"), labels)
    two_hot = one_hot(labels, 4)
    two_hot[2, 3] = 1
    write(folder / "two_hot.h5", nchw, two_hot)
    write(folder / "no_samples.h5", nchw[:0], labels[:0])
    write(folder / "misspelt.h5", nchw, labels, image_key="imags")
    write(folder / "label_unknown.h5", nchw, np.array([0, 255, 2, 3], dtype="uint8"))
    floats = nchw.astype("float32")
    for name, value, places in (("nan", np.nan, (1, 3)), ("infinite", np.inf, (3,))):
        damaged = floats.copy()
        for sample in places:
            damaged[sample, 1, 2, 0] = value
        write(folder / f"{name}.h5", damaged, labels)

    write(folder / "uint16.h5", nchw.astype("uint16"), labels)
    write(folder / "int16.h5", nchw.astype(">i2"), labels)
    write(folder / "int16_scaled.h5", nchw.astype("int16"), labels, scale=0.25)
    write(folder / "int64_scaled.h5", nchw.astype("int64"), labels, scale=0.5)
    write(folder / "cubes.h5", counted(4, 2, 2, 2).astype("float64"), labels)
    for name, images in (("deflate", nchw), ("deflate_float", floats)):
        with h5py.File(folder / f"{name}.h5", "w") as file:
            file.create_dataset("images", data=images, chunks=(3, 2, 2, 3), compression="gzip",
                                shuffle=True)
            file.create_dataset("labels", data=labels, chunks=(3,), compression="gzip")

    for name, stored in (("uint8", labels.astype("uint8")), ("int16", labels.astype("int16")),
                         ("big_endian", labels.astype(">i8")),
                         ("n111", labels.reshape(4, 1, 1, 1)), ("n1", labels.reshape(4, 1)),
                         ("one_hot", one_hot(labels, 6).astype("int8")),
                         ("one_hot_float", one_hot(labels, 4).astype("float16")),
                         ("one_hot_bool", one_hot(labels, 4).astype(bool))):
        write(folder / f"labels_{name}.h5", nchw, stored)

    put(folder / "usual_xy.h5", x=nchw, y=labels, weights=counted(4) * 0.5)
    put(folder / "usual_suffix.h5", X_train=nchw, y_train=labels, X_test=nchw[:2] + 100,
        y_test=labels[:2])
    put(folder / "usual_prefix.h5", train_images=nchw, train_labels=labels,
        val_images=nchw[:2] + 100, val_labels=labels[:2])
    put(folder / "usual_groups.h5", **{"train/data": nchw, "train/target": labels,
                                       "val/data": nchw[:2], "val/target": labels[:2]})
    put(folder / "usual_and_own.h5", images=nchw, labels=labels, x=nchw + 1, y=labels)
    put(folder / "only_ones.h5", galaxies=nchw, ans=labels, redshift=counted(4) * 0.5,
        table=counted(7, 5))
    put(folder / "two_images.h5", left=nchw, right=nchw + 1, labels=labels)
    put(folder / "two_labels.h5", images=nchw, fine=labels, coarse=labels // 2)
    put(folder / "no_images.h5", table=counted(4, 18) * 0.5, labels=labels)
    put(folder / "no_labels.h5", images=nchw, weights=counted(4) * 0.5)
    put(folder / "own_keys.h5", **{"a/pictures": nchw, "a/kinds": labels,
                                   "b/pictures": nchw[:2] + 100, "b/kinds": labels[:2]})

    whole = (folder / "nchw.h5").read_bytes()
    (folder / "cut_short.h5").write_bytes(whole[:-40])
    damaged = bytearray((folder / "deflate.h5").read_bytes())
    with h5py.File(folder / "deflate.h5") as file:
        chunk = file["images"].id.get_chunk_info(0)
    damaged[chunk.byte_offset:chunk.byte_offset + chunk.size] = bytes(chunk.size)
    (folder / "damaged_chunk.h5").write_bytes(damaged)
    (folder / "not_hdf5.h5").write_text("images, labels\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
