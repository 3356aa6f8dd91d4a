"""What must hold in a checkpoint."""

from __future__ import annotations

import math

import h5py

from . import layout
from .check_metrics import metrics_problems


def checkpoint_problems(file) -> list:
    """Problems of the checkpoint `file`: its groups, and how their shapes fit together."""
    problems = []
    if file.userblock_size < layout.USER_BLOCK_BYTES:
        problems.append(f"user block of {file.userblock_size} bytes instead of "
                        f"{layout.USER_BLOCK_BYTES}")
    missing = [name for name in ("model", "optimizer", "rng", "sampler", "metrics")
               if not isinstance(file.get(name), h5py.Group)]
    if missing:
        return problems + [f"/{name}: no such group" for name in missing]
    problems += _model_problems(file["model"])
    problems += _optimizer_problems(file["optimizer"], file["model"])
    problems += _rng_problems(file["rng"], file["metrics"])
    if not len(file["sampler"]) and not file["sampler"].attrs:
        problems.append("/sampler: holds no position")
    return problems + metrics_problems(file["metrics"])


def _model_problems(model) -> list:
    if not len(model):
        return ["/model: holds no tensor"]
    return [f"{item.name}: not a data set; tensors lie directly in /model under dotted names"
            for item in model.values() if not isinstance(item, h5py.Dataset)]


def _optimizer_problems(optimizer, model) -> list:
    problems = []
    for kind in optimizer.values():
        for name, state in kind.items() if isinstance(kind, h5py.Group) else ():
            if name not in model:
                problems.append(f"{state.name}: /model has no tensor {name}")
            elif _shape(state) not in (_shape(model[name]), ()):
                problems.append(f"{state.name}: shape {_shape(state)}, but {model[name].name} has "
                                f"{_shape(model[name])}")
    return problems


def _shape(item):
    """The shape of a data set, () for one element in whatever shape, None for a group."""
    shape = getattr(item, "shape", None)
    return () if shape is not None and math.prod(shape) == 1 else shape


def _rng_problems(rng, metrics) -> list:
    if not len(rng):
        return ["/rng: holds no state"]
    problems = [f"{item.name}: not a data set of bytes [rank, state]" for item in rng.values()
                if len(getattr(item, "shape", ())) != 2 or item.dtype.itemsize != 1]
    if problems:
        return problems
    ranks = metrics.get("rank/train_samples")
    if ranks is None or len(ranks.shape) != 2:
        return []  # reported with the metrics
    return [f"{item.name}: {len(item)} ranks, but {ranks.name} has {ranks.shape[1]}"
            for item in rng.values() if len(item) != ranks.shape[1]]
