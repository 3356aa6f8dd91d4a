"""What must hold in a checkpoint."""

from __future__ import annotations

import math

import h5py

from . import layout
from .check_metrics import metrics_problems
from .seal import seal_problems


def checkpoint_problems(file) -> list:
    """Problems of the checkpoint `file`: its groups, and how their shapes fit together."""
    problems = _user_block_problems(file)
    missing = [name for name in layout.CHECKPOINT_GROUPS
               if not isinstance(file.get(name), h5py.Group)]
    if missing:
        return problems + [f"/{name}: no such group" for name in missing]
    problems += _model_problems(file["model"])
    problems += _optimizer_problems(file["optimizer"], file["model"])
    problems += _rng_problems(file["rng"], file["metrics"])
    problems += _sampler_problems(file["sampler"], file["metrics"])
    return problems + metrics_problems(file["metrics"])


def _user_block_problems(file) -> list:
    if file.userblock_size != layout.USER_BLOCK_BYTES:
        return [f"user block: {file.userblock_size} bytes instead of {layout.USER_BLOCK_BYTES}"]
    return seal_problems(file.filename)


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


def _sampler_problems(sampler, metrics) -> list:
    numbers = {name: item[()] for name, item in sampler.items()
               if getattr(item, "shape", None) == () and item.dtype.kind == "i"}
    problems = [f"/sampler/{name}: " + (f"{numbers[name]} is negative" if name in numbers
                                        else "no such number")
                for name in layout.SAMPLER if numbers.get(name, -1) < 0]
    epochs = getattr(metrics.get("epoch/epoch"), "shape", ())
    if not problems and len(epochs) == 1 and numbers["epoch"] != epochs[0]:
        problems.append(f"/sampler/epoch is {numbers['epoch']}, but /metrics/epoch has "
                        f"{epochs[0]} epochs")
    return problems
