"""Reads with h5py and h5dump what `io_write_files sample` writes on one and on three ranks.

usage: check_files.py MPIEXEC IO_WRITE_FILES
"""
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

try:
    import xxhash
except ImportError:
    xxhash = None

TIMEOUT = 60 * int(os.environ.get("LOCKSTEP_TEST_PATIENCE", "1"))  # more under sanitizers

FLOAT_COLUMNS = {
    "epoch": {"lr", "train_loss_sum", "train_loss", "train_accuracy", "val_loss_sum", "val_loss",
              "val_accuracy", "train_top5_accuracy", "val_top5_accuracy", "epoch_seconds", "train_seconds", "val_seconds",
              "images_per_second"},
    "rank": {"train_seconds", "data_wait_seconds", "comm_wait_seconds", "compute_seconds"},
    "step": {"loss_sum", "loss", "lr", "grad_norm", "loss_scale", "images_per_second", "interval_seconds",
             "elapsed_seconds"},
}
INT_COLUMNS = {
    "epoch": {"epoch", "global_step", "samples_seen", "world_size", "train_correct", "train_samples",
              "val_correct", "val_samples", "train_top5_correct", "val_top5_correct",
              "train_nonfinite", "val_nonfinite", "skipped_steps"},
    "rank": {"train_samples", "peak_rss_bytes"},
    "step": {"global_step", "epoch", "log_points", "samples", "nonfinite", "skipped_steps"},
}


def datasets(file):
    found = {}
    file.visititems(lambda name, item: found.update({name: item})
                    if isinstance(item, h5py.Dataset) else None)
    return found


def check_settings(file):
    assert dict(file["config"].attrs) == {"batch_size": "128", "name": "Zürich", "resume_from": ""}
    assert dict(file["provenance"].attrs) == {"commit": "0123abc"}
    assert type(file["config"].attrs["batch_size"]) is str
    assert file.attrs["format_version"] == 1
    assert file.attrs["lockstep_version"].count(".") == 2


def check_metrics(group, ranks):
    assert set(group) >= {"epoch", "rank", "step"}
    for table in ("epoch", "rank", "step"):
        assert set(group[table]) == FLOAT_COLUMNS[table] | INT_COLUMNS[table], table
        for name, column in group[table].items():
            assert column.attrs["units"], name
            assert column.dtype == ("<f8" if name in FLOAT_COLUMNS[table] else "<i8"), name
            assert column.shape == ((2, ranks) if table == "rank" else (2,)), name
    confusion = group["validation/confusion"]
    assert confusion.dtype == "<i8" and confusion.attrs["units"] == "samples"
    assert confusion[()].tolist() == [[5, 1], [2, 4]]
    assert group["epoch/samples_seen"][()].tolist() == [100, 200]
    assert np.isnan(group["epoch/val_loss"][()]).all()
    assert group["epoch/epoch_seconds"][()].tolist() == [1.0, 1.0]
    expected = [[1000 * rank + epoch for rank in range(ranks)] for epoch in range(2)]
    assert group["rank/train_samples"][()].tolist() == expected


def check_seal(raw):
    """The block in front and the list behind, as postproc/README.md says."""
    layout, block, size, end, leaf, version = struct.unpack("<IIQQQQ", raw[8:48])
    assert (layout, block, size, leaf, version) == (2, 512, len(raw), 4 << 20, 1)
    content, listed = raw[512:end], raw[end:]
    assert len(listed) == 16 * -(-len(content) // leaf)
    assert raw[64:496] == bytes(432)
    if xxhash is None:
        print("python3-xxhash is not installed: no hashes compared")
        return
    assert listed == b"".join(little_hash(content[at:at + leaf])
                              for at in range(0, len(content), leaf))
    assert raw[48:64] == little_hash(listed)
    assert raw[496:512] == little_hash(raw[:496])


def little_hash(data):
    return xxhash.xxh3_128(data).intdigest().to_bytes(16, "little")


def check_checkpoint(path, ranks):
    raw = path.read_bytes()
    assert raw[:8] == b"LOCKSTEP"
    check_seal(raw)
    assert raw[512:520] == b"\x89HDF\r\n\x1a\n"
    assert raw[520] == 2, "superblock version"
    with h5py.File(path, "r") as f:
        assert f.userblock_size == 512
        assert f.attrs["format"] == "lockstep.checkpoint"
        assert f.attrs["step"] == 20 and f.attrs["lr"] == 0.125
        check_settings(f)
        model = f["model"]
        weight = np.arange(64 * 3 * 5, dtype="<f4").reshape(64, 3, 5, 1) / 8
        assert model["stem.weight"].dtype == "<f4"
        np.testing.assert_array_equal(model["stem.weight"][()], weight)
        assert model["fc.bias"].dtype == "<f8" and model["fc.bias"][()].tolist() == [0.5, -1.5]
        assert model["half"].dtype == "<f2" and model["half"][()].tolist() == [1, -2]
        assert model["bfloat"][()].tolist() == [1, -2]
        assert model["integers"].dtype == "<i4" and model["integers"][()].tolist() == [[-1, 7]]
        assert model["bn.num_batches_tracked"].shape == ()
        assert model["bn.num_batches_tracked"][()] == 42
        assert model["empty"].shape == (0, 3)
        state = np.repeat(np.arange(1, ranks + 1, dtype="u1")[:, None], 16, axis=1)
        np.testing.assert_array_equal(f["rng/cpu"][()], state)
        check_metrics(f["metrics"], ranks)
        for name, item in datasets(f).items():
            assert item.chunks is None, name
            assert not item.id.get_create_plist().get_obj_track_times(), name


def check_metrics_file(path, ranks):
    with h5py.File(path, "r") as f:
        assert f.attrs["format"] == "lockstep.metrics"
        check_settings(f)
        check_metrics(f, ranks)


def check_same(one, three):
    with h5py.File(one, "r") as a, h5py.File(three, "r") as b:
        first, second = datasets(a), datasets(b)
        assert first.keys() == second.keys()
        for name in first:
            if name.startswith("rng/") or "rank/" in name:
                continue
            np.testing.assert_array_equal(first[name][()], second[name][()], err_msg=name)
            assert first[name].dtype == second[name].dtype


def check_h5dump(path):
    def dump(*arguments):
        return subprocess.run(["h5dump", *arguments, str(path)], check=True, timeout=TIMEOUT,
                              capture_output=True, text=True).stdout

    assert 'DATASET "train_loss"' in dump("-H")
    dump()  # all of it


def main():
    mpiexec, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as directory:
        runs = {ranks: Path(directory) / str(ranks) for ranks in (1, 3)}
        for ranks, run in runs.items():
            run.mkdir()
            subprocess.run([mpiexec, "-n", str(ranks), program, "sample", str(run)], check=True,
                           timeout=TIMEOUT)
            assert sorted(p.name for p in run.iterdir()) == ["metrics.h5", "step_000000000020.h5"]
            check_checkpoint(run / "step_000000000020.h5", ranks)
            check_metrics_file(run / "metrics.h5", ranks)
            check_h5dump(run / "step_000000000020.h5")
            check_h5dump(run / "metrics.h5")
        for name in ("metrics.h5", "step_000000000020.h5"):
            check_same(runs[1] / name, runs[3] / name)


main()
