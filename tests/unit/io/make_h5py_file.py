"""Writes the file that hdf5_file_test reads: what users bring, made by h5py."""
import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1], "w") as f:
    f.attrs["title"] = "pictures"
    f.attrs["classes"] = np.int32(10)
    f.attrs["mean"] = 0.5
    f.attrs["names"] = ["a", "b"]
    f.attrs["fixed"] = np.bytes_("abc")
    f.attrs["empty"] = ""
    images = f.create_dataset("train/images", data=np.arange(24, dtype=np.uint8).reshape(4, 3, 2),
                              chunks=(2, 3, 2), compression="gzip")
    images.attrs["units"] = "1"
    f["train/labels"] = np.array([3, 1, 4, 1], dtype=">i8")
    f["small"] = np.array([-1, 300], dtype=np.int16)
    f["half"] = np.array([1.5, -2.0], dtype=np.float16)
    f["scalar"] = 2.25
    f["none"] = np.zeros((0, 3), dtype=np.float32)
    f["text"] = "not a number"
    f["train/again"] = h5py.SoftLink("/train")
    f["train/up"] = f["/"]  # a hard link, and a circle
    f["dangling"] = h5py.SoftLink("/nowhere")
