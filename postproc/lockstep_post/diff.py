"""Compares two files data set by data set, bit for bit."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

import h5py
import numpy as np

from . import layout
from .files import as_text, open_hdf5


class Comparison(NamedTuple):
    differences: list  # of str, one for each data set, group or attribute that differs
    data_sets: int  # that both files have and were compared
    attributes: int


def find_differences(path_a, path_b, ignore=(), ignore_times=False) -> list:
    """How two HDF5 files differ, one str for each differing data set, group or attribute."""
    return compare(path_a, path_b, ignore, ignore_times).differences


def compare(path_a, path_b, ignore=(), ignore_times=False) -> Comparison:
    """Compares two HDF5 files.

    Values are compared bitwise (equal NaNs are equal, 0.0 and -0.0 are not), and so are types,
    shapes and attributes; text attributes by their text. `ignore` holds patterns of shell style for names such as
    "/model/fc.weight" or "/config@seed" (an attribute): a name that matches one is left out, with
    all that lies in it. `ignore_times` leaves out the values, not the shapes, of layout.MEASURED.
    Raises UnreadableError where one of them cannot be read.
    """
    with open_hdf5(path_a) as file_a, open_hdf5(path_b) as file_b:
        items_a, items_b = (_items(file, ignore) for file in (file_a, file_b))
        differences = []
        for name in sorted(items_a.keys() | items_b.keys()):
            if name not in items_b:
                differences.append(f"{name}: only in the first")
            elif name not in items_a:
                differences.append(f"{name}: only in the second")
            else:
                values_matter = not (ignore_times and _leaf(name) in layout.MEASURED)
                found = _difference(items_a[name], items_b[name], values_matter)
                if found:
                    differences.append(f"{name}: {found}")
        both = items_a.keys() & items_b.keys()
        return Comparison(differences, sum(isinstance(items_a[name], h5py.Dataset) for name in both),
                          sum("@" in name for name in both))


def _items(file, ignore) -> dict:
    """Name -> group, data set or (attribute) numpy array of all in `file` that is not ignored."""
    items = {}

    def add(name, value):
        if not _is_ignored(name, ignore):
            items[name] = value

    def visit(name, item):
        path = f"/{name}" if name else ""
        add(path or "/", item)
        for attribute in item.attrs:
            add(f"{path or '/'}@{attribute}", _as_array(item.attrs[attribute]))

    visit("", file)
    file.visititems(visit)
    return items


def _as_array(attribute):
    # As objects, strings differ in value and not, by their length, in type.
    if isinstance(attribute, (str, bytes)):
        return np.asarray(as_text(attribute), object)
    return np.asarray(attribute)


def _is_ignored(name, patterns) -> bool:
    return any(fnmatchcase(name, pattern + below)
               for pattern in patterns for below in ("", "/*", "@*"))


def _leaf(name) -> str:
    return name.rsplit("/", 1)[-1]


def _difference(a, b, values_matter) -> str:
    """How two items of one name differ; empty where they do not."""
    if isinstance(a, h5py.Group) or isinstance(b, h5py.Group):
        same_kind = isinstance(a, h5py.Group) and isinstance(b, h5py.Group)
        return "" if same_kind else "a group in one, a data set in the other"
    if a.dtype != b.dtype:
        return f"type {a.dtype} and {b.dtype}"
    if a.shape != b.shape:
        return f"shape {a.shape} and {b.shape}"
    if not values_matter:
        return ""
    return _value_difference(np.asarray(a[()], a.dtype), np.asarray(b[()], b.dtype))


def _value_difference(a, b) -> str:
    if a.dtype.hasobject:
        differs = np.asarray(a != b)
    else:
        differs = (_bytes_of(a) != _bytes_of(b)).any(axis=1).reshape(a.shape)
    count = int(np.count_nonzero(differs))
    if not count:
        return ""
    first = tuple(int(index) for index in np.argwhere(differs)[0])
    text = f"{a[first]!s} and {b[first]!s}"  # format() would widen a float32
    if str(a[first]) == str(b[first]):
        text += " (different bits)"
    if a.ndim:
        where = ", ".join(map(str, first))
        text = f"{count} of {differs.size} values differ, first [{where}]: {text}"
    if a.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            text += f", at most by {np.nanmax(np.abs(a - b), initial=0):.3g}"
    return text


def _bytes_of(array):
    """The bytes of each element, [element, byte]."""
    return np.frombuffer(array.tobytes(), np.uint8).reshape(array.size, array.dtype.itemsize)
