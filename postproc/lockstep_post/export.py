"""A run's metrics as CSV, for spreadsheets, or JSON, for everything else."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np

from . import layout
from .errors import PostError
from .run import Run

SUFFIXES = (".csv", ".json")


def export(run: Run, path, group: str = "epoch") -> None:
    """Writes `run` to `path`, whose suffix says how.

    .csv: the quantities of one `group` ("epoch", "rank" or "step"), one row an epoch, an epoch and
    rank, or a log point, with full precision and an empty cell for NaN.
    .json: all groups, units and settings; null stands for NaN and infinities, which JSON lacks.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise PostError(f"exporting to {path}", f"unknown suffix \"{path.suffix}\"",
                        "a name that ends in .csv or .json")
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            if path.suffix == ".csv":
                _write_csv(run, group, file)
            else:
                json.dump(_as_json(run), file, indent=1, allow_nan=False)
                file.write("\n")
    except OSError as error:
        raise PostError(f"writing {path}", error.strerror or str(error),
                        "another place for the output") from error


def _write_csv(run: Run, group: str, file) -> None:
    columns = {**_rank_keys(run), **run.rank} if group == "rank" else getattr(run, group)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*(column.ravel().tolist() for column in columns.values())):
        writer.writerow("" if _is_nan(cell) else cell for cell in row)


def _rank_keys(run: Run) -> dict:
    """Epoch and rank of each element of the [E, R] columns, in their order."""
    shape = (run.epochs, run.world_size)
    return {"epoch": np.broadcast_to(run.epoch["epoch"][:, np.newaxis], shape),
            "rank": np.broadcast_to(np.arange(run.world_size), shape)}


def _as_json(run: Run) -> dict:
    return {
        "format": layout.METRICS_FORMAT,
        "format_version": layout.FORMAT_VERSION,
        "lockstep_version": run.version,
        "config": run.config,
        "provenance": run.provenance,
        "units": run.units,
        "confusion": run.confusion.tolist(),
        **{group: {name: _finite(values.tolist()) for name, values in getattr(run, group).items()}
           for group in layout.TABLES},
    }


def _finite(values):
    """`values` (nested lists) with None for what JSON cannot say."""
    if isinstance(values, list):
        return [_finite(value) for value in values]
    return None if isinstance(values, float) and not math.isfinite(values) else values


def _is_nan(cell) -> bool:
    return isinstance(cell, float) and math.isnan(cell)
