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
    return [f"/model/{name}: not a data set; tensors lie directly in /model under dotted names"
            for name, item in model.items() if not isinstance(item, h5py.Dataset)]


def _optimizer_problems(optimizer, model) -> list:
    problems = []
    for kind, states in optimizer.items():
        for name, state in states.items() if isinstance(states, h5py.Group) else ():
            where, shape = f"/optimizer/{kind}/{name}", _shape(state)
            if name not in model:
                problems.append(f"{where}: /model has no tensor {name}")
            elif shape not in (_shape(model[name]), ()):
                problems.append(f"{where}: shape {shape}, but /model/{name} has "
                                f"{_shape(model[name])}")
    return problems


def _shape(item):
    """The shape of a data set, () for one element in whatever shape, None for a group."""
    shape = getattr(item, "shape", None)
    return () if shape is not None and math.prod(shape) == 1 else shape


def _rng_problems(rng, metrics) -> list:
    if not len(rng):
        return ["/rng: holds no state"]
    problems = [f"/rng/{name}: not a data set of bytes [rank, state]"
                for name, item in rng.items()
                if len(getattr(item, "shape", ())) != 2 or item.dtype.itemsize != 1]
    ranks = getattr(metrics.get("rank/train_samples"), "shape", ())
    if problems or len(ranks) != 2:
        return problems  # a bad /metrics/rank is reported with the metrics
    return [f"/rng/{name}: {len(item)} ranks, but /metrics/rank/train_samples has {ranks[1]}"
            for name, item in rng.items() if len(item) != ranks[1]]
