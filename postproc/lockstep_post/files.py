"""Opening Lockstep's files, with errors that say which file and what to try."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Iterator

import h5py

from .errors import UnreadableError

# What h5py raises where the HDF5 library fails, or where the file holds types that numpy lacks.
_LIBRARY_ERRORS = (OSError, RuntimeError, KeyError, ValueError, TypeError, MemoryError)


def metrics_path(path) -> Path:
    """The metrics file of `path`, which is a run directory or the file itself."""
    path = Path(path)
    return path / "metrics.h5" if path.is_dir() else path


@contextlib.contextmanager
def open_hdf5(path) -> Iterator[h5py.File]:
    """The HDF5 file at `path`, open for reading; raises UnreadableError for what is none.

    Errors of the HDF5 library while the file is open become UnreadableErrors too: a damaged file
    may open and fail only when a data set is read.
    """
    path = Path(path)
    attempted = f"reading {path}"
    if not path.exists():
        raise UnreadableError(attempted, "no such file", _remedy_for_missing(path))
    if path.is_dir():
        raise UnreadableError(attempted, "this is a directory", "naming a file in it")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except _LIBRARY_ERRORS as error:
        raise UnreadableError(attempted, _first_line(error), _remedy_for(error)) from error


def text_attributes(group) -> dict:
    """The attributes of `group` as a dict of str, whatever string type the file uses."""
    return {name: as_text(value) for name, value in group.attrs.items()}


def as_text(value) -> str:
    """An attribute's value as str: fixed- and variable-length strings, numbers, arrays of one."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if getattr(value, "shape", None) == (1,):
        return as_text(value[0])
    return str(value)


def _first_line(error) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _remedy_for_missing(path: Path) -> str:
    if path.name == "metrics.h5" and path.parent.is_dir():
        return ("waiting for the run's first epoch to end, or naming another directory: "
                "a run directory holds metrics.h5")
    return "naming a run directory (it holds metrics.h5) or one of its HDF5 files"


def _remedy_for(error) -> str:
    text = str(error)
    if isinstance(error, PermissionError):
        return "asking the owner for permission to read it"
    if "unable to lock file" in text:
        return ("again with HDF5_USE_FILE_LOCKING=FALSE in the environment: "
                "this file system refuses HDF5's locks, or a writer holds one")
    return "another file: this one is not HDF5, or is truncated or damaged"
