"""A run's metrics as numpy arrays: the library's way in, also for notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import h5py
import numpy as np

from . import layout
from .errors import UnreadableError
from .files import as_text, metrics_path, open_hdf5, text_attributes


@dataclass(frozen=True)
class Run:
    """What one metrics file holds; E finished epochs, R ranks, P log points.

    Counts are int64, everything else float64; units["epoch/lr"] is the unit of epoch["lr"].
    Losses are means over samples in nats, accuracies fractions of 1, times seconds.
    """

    path: Path
    """The metrics file."""
    name: str
    """What to call the run: its setting run_name, or else its directory's name, or the file's
    where that is not metrics.h5."""
    version: str
    """The version of Lockstep that wrote the file."""
    epoch: dict
    """quantity -> [E]; val_* are NaN, val_samples 0 where the epoch was not validated."""
    rank: dict
    """quantity -> [E, R]"""
    step: dict
    """quantity -> [P]; loss, samples and rate of the interval that ends at global_step."""
    confusion: np.ndarray
    """[C, C]: samples of class (row) that were taken for class (column) in the last validation;
    [0, 0] where there was none, or there are too many classes."""
    config: dict
    """setting -> str: the resolved configuration."""
    provenance: dict
    """name -> str: where, when and from what the run was made."""
    units: dict
    """"<group>/<quantity>" -> str"""

    @property
    def epochs(self) -> int:
        """Number of finished epochs."""
        return len(self.epoch["epoch"])

    @property
    def world_size(self) -> int:
        """Number of ranks."""
        return self.rank["train_samples"].shape[1]

    @property
    def seconds(self) -> float:
        """Time of all finished epochs, training and validation."""
        return float(self.epoch["epoch_seconds"].sum())

    @property
    def validated(self) -> np.ndarray:
        """bool [E]: which epochs were validated."""
        return self.epoch["val_samples"] > 0

    @property
    def best(self) -> Optional[int]:
        """Index of the first epoch with the highest validation accuracy; None without one."""
        accuracy = np.where(self.validated, self.epoch["val_accuracy"], np.nan)
        return None if np.isnan(accuracy).all() else int(np.nanargmax(accuracy))


def read_run(path) -> Run:
    """Reads a run directory's metrics.h5, or the metrics file `path`.

    Training may go on meanwhile: the file is replaced as a whole, so what is read is one state.
    Raises UnreadableError where it is missing, damaged, or not a metrics file.
    """
    file_path = metrics_path(path)
    with open_hdf5(file_path) as file:
        _require_metrics(file, file_path)
        datasets = {group: _datasets(file, group, file_path) for group in layout.TABLES}
        groups = {group: {name: item[()] for name, item in members.items()}
                  for group, members in datasets.items()}
        units = {f"{group}/{name}": as_text(item.attrs.get("units", ""))
                 for group, members in datasets.items() for name, item in members.items()}
        confusion = _confusion(file, file_path)
        settings = {name: text_attributes(file[name]) if name in file else {}
                    for name in layout.SETTINGS}
        version = as_text(file.attrs.get("lockstep_version", ""))
    return Run(path=file_path, name=_name_of(file_path, settings["config"]), version=version, units=units,
               confusion=confusion,
               **groups, **settings)


def _require_metrics(file, path) -> None:
    found = as_text(file.attrs.get("format", ""))
    if found != layout.METRICS_FORMAT:
        kind = f"its format is \"{found}\"" if found else "it has no attribute \"format\""
        raise UnreadableError(f"reading {path}", f"not a metrics file: {kind}",
                              "naming a run directory or its metrics.h5")
    version = as_text(file.attrs.get("format_version", ""))
    if version != str(layout.FORMAT_VERSION):
        raise UnreadableError(
            f"reading {path}",
            f"format version {version or '(none)'}; this program knows {layout.FORMAT_VERSION}",
            "the lockstep_post that came with the Lockstep that wrote the file")


def _datasets(file, group, path) -> dict:
    """The data sets of `group`, known ones first; all of these are there, and all of one shape."""
    found = {name: item for name, item in file.get(group, {}).items()
             if isinstance(item, h5py.Dataset)}
    missing = [name for name in layout.TABLES[group] if name not in found]
    shapes = {item.shape for item in found.values()}
    if missing:
        reason = f"no data set /{group}/{missing[0]}"
    elif len(shapes) != 1 or len(shapes.pop()) != len(layout.DIMENSIONS[group]):
        reason = f"the data sets of /{group} differ in shape or have too many or few dimensions"
    else:
        return {**{name: found[name] for name in layout.TABLES[group]}, **found}
    raise UnreadableError(f"reading {path}", reason,
                          f"`python3 -m lockstep_post check {path}`, which lists all that is wrong")


def _confusion(file, path) -> np.ndarray:
    item = file.get(layout.CONFUSION)
    if isinstance(item, h5py.Dataset) and item.ndim == 2 and item.shape[0] == item.shape[1]:
        return item[()]
    raise UnreadableError(f"reading {path}", f"no square data set /{layout.CONFUSION}",
                          f"`python3 -m lockstep_post check {path}`, which lists all that is wrong")


def _name_of(path: Path, config: dict) -> str:
    if config.get("run_name"):
        return config["run_name"]
    return path.resolve().parent.name if path.name == "metrics.h5" else path.stem
