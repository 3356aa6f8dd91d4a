"""Checks that a file is what it says: its layout, and what must hold between its numbers."""

from __future__ import annotations

import h5py

from . import layout
from .check_checkpoint import checkpoint_problems
from .check_metrics import metrics_problems
from .files import as_text, open_hdf5


def find_problems(path) -> list:
    """What is wrong with the metrics or checkpoint file `path`, one str each; [] where nothing is.

    Raises UnreadableError where it cannot be opened or read.
    """
    with open_hdf5(path) as file:
        return _header_problems(file) or _setting_problems(file) + _content_problems(file)


def _header_problems(file) -> list:
    known = (layout.METRICS_FORMAT, layout.CHECKPOINT_FORMAT)
    if "format" not in file.attrs:
        return ["no root attribute \"format\": Lockstep did not write this file"]
    found = as_text(file.attrs["format"])
    if found not in known:
        return [f"format \"{found}\" is none of " + ", ".join(known)]
    version = as_text(file.attrs.get("format_version", "(none)"))
    if version != str(layout.FORMAT_VERSION):
        return [f"format version {version}; this program knows {layout.FORMAT_VERSION}"]
    if "lockstep_version" not in file.attrs:
        return ["no root attribute \"lockstep_version\""]
    return []


def _setting_problems(file) -> list:
    return [f"/{name}: no such group, or it holds no attribute" for name in layout.SETTINGS
            if not isinstance(file.get(name), h5py.Group) or not file[name].attrs]


def _content_problems(file) -> list:
    if as_text(file.attrs["format"]) == layout.METRICS_FORMAT:
        return metrics_problems(file)
    return checkpoint_problems(file)
