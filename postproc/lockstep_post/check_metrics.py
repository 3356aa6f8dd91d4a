"""What must hold in the groups /epoch, /rank and /step."""

from __future__ import annotations

import h5py
import numpy as np

from . import layout
from .files import as_text

# Sums and counts are exact, and so is their division; other writers may round differently.
_RELATIVE_TOLERANCE = 1e-12


def metrics_problems(parent) -> list:
    """Problems of the groups epoch, rank and step of `parent`: a metrics file's root, or the group
    /metrics of a checkpoint."""
    problems = []
    tables = {}
    for group in layout.TABLES:
        found = _layout_problems(parent, group)
        problems += found
        if not found:
            tables[group] = {name: parent[group][name][()] for name in layout.TABLES[group]}
    for group, columns in tables.items():
        where = f"{parent.name.rstrip('/')}/{group}"
        problems += _unit_problems(where, parent[group], group)
        problems += _sign_problems(where, columns)
        problems += _ratio_problems(where, group, columns)
        if group != "rank":
            problems += _order_problems(where, group, columns)
    if "epoch" in tables and "rank" in tables:
        problems += _rank_sum_problems(parent, tables)
    return problems + _confusion_problems(parent, tables.get("epoch"))


def _layout_problems(parent, group) -> list:
    where = f"{parent.name.rstrip('/')}/{group}"
    if not isinstance(parent.get(group), h5py.Group):
        return [f"{where}: no such group"]
    problems = []
    for name, quantity in layout.TABLES[group].items():
        item = parent[group].get(name)
        if not isinstance(item, h5py.Dataset):
            problems.append(f"{where}/{name}: no such data set")
            continue
        if len(item.shape) != len(layout.DIMENSIONS[group]):
            problems.append(f"{where}/{name}: {len(item.shape)} dimensions instead of "
                            f"[{', '.join(layout.DIMENSIONS[group])}]")
        if item.dtype.kind != quantity.kind or item.dtype.itemsize != 8:
            expected = "int64" if quantity.kind == "i" else "float64"
            problems.append(f"{where}/{name}: type {item.dtype} instead of {expected}")
    return problems or _length_problems(where, parent[group], group)


def _length_problems(where, members, group) -> list:
    names = list(layout.TABLES[group])
    shape = members[names[0]].shape
    return [f"{where}/{name}: shape {members[name].shape}, but {where}/{names[0]} has {shape}"
            for name in names if members[name].shape != shape]


def _unit_problems(where, members, group) -> list:
    found = {name: as_text(members[name].attrs.get("units", "")) for name in layout.TABLES[group]}
    return [f"{where}/{name}: units \"{found[name]}\" instead of \"{quantity.units}\""
            for name, quantity in layout.TABLES[group].items() if found[name] != quantity.units]


def _sign_problems(where, columns) -> list:
    # lr and losses may have any sign; counts and measured quantities may not.
    return [f"{where}/{name}: {values[values < 0][0]} is negative"
            for name, values in columns.items()
            if (values.dtype.kind == "i" or name in layout.MEASURED) and (values < 0).any()]


def _ratio_problems(where, group, columns) -> list:
    problems = []
    for owner, ratio, total, count in layout.RATIOS:
        if owner != group:
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = columns[total] / columns[count]
        same = np.isclose(columns[ratio], expected, rtol=_RELATIVE_TOLERANCE, atol=0,
                          equal_nan=True)
        problems += [f"{where}/{ratio}[{row}] = {columns[ratio][row]}, but {total} / {count} = "
                     f"{columns[total][row]} / {columns[count][row]} = {expected[row]}"
                     for row in np.flatnonzero(~same)]
    for name in layout.PARTS_OF_SAMPLES if group == "epoch" else ():
        part, samples = columns[name], columns[name.split("_")[0] + "_samples"]
        problems += [f"{where}/{name}[{row}] = {part[row]} of {samples[row]} samples"
                     for row in np.flatnonzero(part > samples)]
    return problems


def _order_problems(where, group, columns) -> list:
    problems = []
    if group == "epoch":
        epochs = columns["epoch"]
        problems += [f"{where}/epoch[{row}] = {epochs[row]} instead of {row}: "
                     "epochs count from 0 without a gap"
                     for row in np.flatnonzero(epochs != np.arange(len(epochs)))[:1]]
    rising = ("global_step", "samples_seen") if group == "epoch" else ("global_step", "epoch")
    for name in rising:
        values = columns[name]
        problems += [f"{where}/{name}[{row + 1}] = {values[row + 1]} is less than the "
                     f"{values[row]} before it" for row in np.flatnonzero(np.diff(values) < 0)]
    return problems


def _confusion_problems(parent, epoch) -> list:
    where = f"{parent.name.rstrip('/')}/{layout.CONFUSION}"
    item = parent.get(layout.CONFUSION)
    if not isinstance(item, h5py.Dataset):
        return [f"{where}: no such data set"]
    if item.ndim != 2 or item.shape[0] != item.shape[1] or item.dtype != np.int64:
        return [f"{where}: {item.dtype} {item.shape} instead of a square matrix of int64"]
    counts = item[()]
    if (counts < 0).any():
        return [f"{where}: {counts.min()} is negative"]
    if epoch is None or not counts.size or not (epoch["val_samples"] > 0).any():
        return []
    last = np.flatnonzero(epoch["val_samples"] > 0)[-1]
    return [f"{where}: {what} is {found}, but {parent.name.rstrip('/')}/epoch/{name}[{last}] = "
            f"{epoch[name][last]}"
            for what, found, name in (("its sum", counts.sum(), "val_samples"),
                                      ("its diagonal's sum", counts.trace(), "val_correct"))
            if found != epoch[name][last]]


def _rank_sum_problems(parent, tables) -> list:
    where = parent.name.rstrip("/")
    ranks, total = tables["rank"]["train_samples"], tables["epoch"]["train_samples"]
    if len(ranks) != len(total):
        return [f"{where}/rank has {len(ranks)} epochs, {where}/epoch {len(total)}"]
    sums = ranks.sum(axis=1)
    return [f"{where}/rank/train_samples[{row}] sums to {sums[row]} over the ranks, but "
            f"{where}/epoch/train_samples[{row}] = {total[row]}"
            for row in np.flatnonzero(sums != total)]
