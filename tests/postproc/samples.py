"""Small files in the documented layout, made by hand: what the tests read.

Three epochs of ten samples on two ranks (six and four samples), two steps an epoch; the second
epoch was not validated.
"""

import struct

import h5py
import numpy as np

try:
    import xxhash
except ImportError:  # then nothing looks at hashes
    xxhash = None

NAN = float("nan")

EPOCH = {
    "epoch": [0, 1, 2],
    "global_step": [2, 4, 6],
    "samples_seen": [10, 20, 30],
    "world_size": [2, 2, 2],
    "lr": [0.1, 0.05, 0.0],
    "train_loss_sum": [20.0, 10.0, 5.0],
    "train_loss": [2.0, 1.0, 0.5],
    "train_accuracy": [0.3, 0.6, 0.9],
    "train_correct": [3, 6, 9],
    "train_top5_accuracy": [0.8, 0.9, 1.0],
    "train_top5_correct": [8, 9, 10],
    "train_nonfinite": [0, 0, 0],
    "train_samples": [10, 10, 10],
    "val_loss_sum": [8.0, 0.0, 3.0],
    "val_loss": [2.0, NAN, 0.75],
    "val_accuracy": [0.25, NAN, 0.75],
    "val_correct": [1, 0, 3],
    "val_top5_accuracy": [0.5, NAN, 1.0],
    "val_top5_correct": [2, 0, 4],
    "val_nonfinite": [0, 0, 0],
    "val_samples": [4, 0, 4],
    "skipped_steps": [0, 1, 1],
    "epoch_seconds": [60.0, 40.0, 55.5],
    "train_seconds": [50.0, 40.0, 50.0],
    "val_seconds": [10.0, 0.0, 5.5],
    "images_per_second": [0.2, 0.25, 0.2],
}

RANK = {
    "train_samples": [[6, 4], [6, 4], [6, 4]],
    "train_seconds": [[50.0, 49.0], [40.0, 39.0], [50.0, 50.0]],
    "data_wait_seconds": [[1.0, 2.0], [0.0, 0.0], [0.5, 0.25]],
    "comm_wait_seconds": [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]],
    "compute_seconds": [[48.5, 46.5], [39.5, 38.5], [49.0, 49.25]],
    "peak_rss_bytes": [[1000, 2000], [1000, 2000], [1000, 2500]],
}

STEP = {
    "global_step": [1, 2, 3, 4, 5, 6],
    "epoch": [0, 0, 1, 1, 2, 2],
    "log_points": [1] * 6,
    "samples": [6, 4, 6, 4, 6, 4],
    "nonfinite": [0] * 6,
    "loss_sum": [15.0, 5.0, 6.0, 4.0, 3.0, 2.0],
    "loss": [2.5, 1.25, 1.0, 1.0, 0.5, 0.5],
    "lr": [0.1, 0.1, 0.05, 0.05, 0.0, 0.0],
    "grad_norm": [2.0] * 6,
    "loss_scale": [1.0] * 6,
    "skipped_steps": [0, 0, 0, 1, 1, 1],
    "images_per_second": [0.2] * 6,
    "interval_seconds": [30.0, 20.0] * 3,
    "elapsed_seconds": [30.0, 50.0, 80.0, 100.0, 125.0, 155.5],
}

CONFUSION = [[2, 1], [0, 1]]

UNITS = {
    "world_size": "ranks",
    "epoch": "epochs", "global_step": "optimizer steps", "samples_seen": "samples", "lr": "1",
    "train_loss_sum": "nats", "train_loss": "nats per sample", "train_correct": "samples",
    "train_samples": "samples", "train_accuracy": "1", "val_loss_sum": "nats",
    "val_loss": "nats per sample", "val_correct": "samples", "val_samples": "samples",
    "val_accuracy": "1", "epoch_seconds": "s", "train_seconds": "s", "val_seconds": "s",
    "images_per_second": "1/s", "data_wait_seconds": "s", "peak_rss_bytes": "bytes",
    "samples": "samples", "loss_sum": "nats", "loss": "nats per sample", "elapsed_seconds": "s",
    "train_top5_accuracy": "1", "train_top5_correct": "samples", "train_nonfinite": "samples",
    "val_top5_accuracy": "1", "val_top5_correct": "samples", "val_nonfinite": "samples",
    "log_points": "log points", "grad_norm": "1", "loss_scale": "1",
    "skipped_steps": "optimizer steps", "comm_wait_seconds": "s", "compute_seconds": "s",
    "nonfinite": "samples", "interval_seconds": "s",
}


def write_header(file, format_name):
    file.attrs["format"] = format_name
    file.attrs["format_version"] = 1
    file.attrs["lockstep_version"] = "0.1.0"
    file.create_group("config").attrs["batch_size"] = "3"
    file["config"].attrs["data"] = np.bytes_(b"digits")  # fixed length, as C++ may write it
    file.create_group("provenance").attrs["host"] = "node1"


def write_tables(parent, epochs=3):
    for group, columns, length in (("epoch", EPOCH, epochs), ("rank", RANK, epochs),
                                   ("step", STEP, 2 * epochs)):
        for name, values in columns.items():
            array = np.array(values)[:length]
            parent.create_dataset(f"{group}/{name}", data=array).attrs["units"] = UNITS[name]
    # What the last of three epochs left; that of the first is not known any more.
    counts = np.array(CONFUSION if epochs == 3 else np.zeros((0, 0)), np.int64)
    parent.create_dataset("validation/confusion", data=counts).attrs["units"] = "samples"


def write_metrics(path, epochs=3):
    """A metrics file at `path` with the first `epochs` epochs above."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        write_header(file, "lockstep.metrics")
        write_tables(file, epochs)
    return path


def write_checkpoint(path, epochs=3):
    """A checkpoint of a model with one layer and momentum, on two ranks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w", userblock_size=512, libver="latest") as file:
        write_header(file, "lockstep.checkpoint")
        file["model/fc.weight"] = np.arange(6, dtype=np.float32).reshape(2, 3)
        file["model/fc.bias"] = np.zeros(2, np.float32)
        file["optimizer/momentum/fc.weight"] = np.ones((2, 3), np.float32)
        file["optimizer/momentum/fc.bias"] = np.ones(2, np.float32)
        file["optimizer/applied_steps"] = 2 * epochs
        file["rng/cpu"] = np.arange(16, dtype=np.uint8).reshape(2, 8)
        file["sampler/epoch"] = epochs
        file["sampler/offset"] = 0
        file["sampler/consumed_samples"] = 10 * epochs
        file["sampler/global_step"] = 2 * epochs
        file["schedule/horizon_epochs"] = 3
        file["schedule/horizon_samples"] = 30
        file["meters/epoch_samples"] = [0, 0]
        write_tables(file.create_group("metrics"), epochs)
    write_user_block(path)
    return path


def write_user_block(path):
    """Marks the file as complete: a list of hashes behind it, and in front the block that names the
    lengths, the hash of the list and its own. HDF5 drops the list whenever it changes the file.
    """
    content = path.read_bytes()[512:]
    leaf = 4 << 20
    listed = b"".join(little_hash(content[at:at + leaf]) for at in range(0, len(content), leaf))
    end = 512 + len(content)
    block = struct.pack("<8sIIQQQQ16s", b"LOCKSTEP", 2, 512, end + len(listed), end, leaf, 1,
                        little_hash(listed)).ljust(496, b"\0")
    path.write_bytes(block + little_hash(block) + content + listed)


def little_hash(data):
    if xxhash is None:
        return bytes(16)
    return xxhash.xxh3_128(data).intdigest().to_bytes(16, "little")
