#!/usr/bin/env python3
"""Trains MiniResNet in PyTorch and writes what Lockstep's training is compared with.

    python3 tests/parity/reference.py            writes tests/parity/reference.h5
    python3 tests/parity/reference.py --check    trains again and compares with that file

Needs PyTorch and h5py. README.md describes the file.
"""
import argparse
import contextlib
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy
import torch
import torch.distributed as dist
import torch.multiprocessing
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from mini_resnet import MiniResNet  # noqa: E402

SEED = 42
STEPS = 20
GLOBAL_BATCH = 32
SMALL_BATCH = 4
SGD = {"lr": 0.01, "momentum": 0.9, "weight_decay": 1e-4}
SAMPLES = 64

# The relative difference (L2) allowed to a data set computed again: rounding in another order, as
# another processor has it, carried through 20 steps in float64.
TOLERANCE = {"float64": 1e-10, "float32": 1e-4, "bfloat16": 2e-2}


@dataclass(frozen=True)
class Case:
    """A training run in float64. A step learns from one global batch, which is cut into
    `accumulation` micro-batches and each of these into contiguous shares, one a rank."""
    norm: str
    ranks: int = 1
    accumulation: int = 1


TRAINING = {
    "bn_1": Case("batch"),
    "bn_2": Case("batch", ranks=2),
    "bn_2_accum_2": Case("batch", ranks=2, accumulation=2),
    "gn_1": Case("group"),
}


def new_model(norm, dtype=torch.float64):
    torch.manual_seed(SEED)
    return MiniResNet(in_channels=1, norm=norm).to(dtype)


def summary(tensor):
    """[sum, sum of squares, element floor(i * n / 64) for i in 0..63] of the n elements, taken in
    the order of a contiguous tensor, whatever its memory format."""
    flat = tensor.detach().double().contiguous().flatten()
    picked = torch.arange(SAMPLES) * flat.numel() // SAMPLES
    return torch.cat([flat.sum()[None], flat.square().sum()[None], flat[picked]]).numpy()


def summaries(named_tensors):
    return {name: summary(tensor) for name, tensor in named_tensors}


def gradients(model):
    return [(name, parameter.grad) for name, parameter in model.named_parameters()]


def average_running_statistics(model, weight):
    """The sum over ranks, each weighted by its part of the window's samples."""
    for buffer in model.buffers():
        if buffer.is_floating_point():
            buffer.mul_(weight)
            dist.all_reduce(buffer)


def train(case, batches, rank):
    model = new_model(case.norm)
    result = {"initial": summaries(model.state_dict().items())}
    # Lockstep averages running statistics after the step; DDP would overwrite them with rank 0's.
    network = DistributedDataParallel(model, broadcast_buffers=False) if case.ranks > 1 else model
    optimizer = torch.optim.SGD(model.parameters(), **SGD)
    micro_batch = GLOBAL_BATCH // case.accumulation
    share = micro_batch // case.ranks
    losses = []
    for images, labels in zip(batches["images"], batches["labels"]):
        optimizer.zero_grad()
        step_loss = torch.zeros((), dtype=torch.float64)
        for k in range(case.accumulation):
            reduces = case.ranks == 1 or k == case.accumulation - 1
            first = k * micro_batch + rank * share
            mine = slice(first, first + share)
            with contextlib.nullcontext() if reduces else network.no_sync():
                loss = F.cross_entropy(network(images[mine]), labels[mine]) / case.accumulation
                loss.backward()
            step_loss += loss.detach()
        if "first_gradient" not in result:
            result["first_gradient"] = summaries(gradients(model))
        optimizer.step()
        if case.ranks > 1:
            average_running_statistics(model, 1 / case.ranks)
            dist.all_reduce(step_loss)
        losses.append(step_loss.item() / case.ranks)
    result["final"] = summaries(model.state_dict().items())
    result["loss"] = numpy.array(losses)
    return result


def worker(rank, case, batches, directory):
    torch.set_num_threads(1)
    store = dist.FileStore(os.path.join(directory, "store"), case.ranks)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=case.ranks)
    result = train(case, batches, rank)
    if rank == 0:
        torch.save(result, os.path.join(directory, "result"))
    dist.destroy_process_group()


def run(case, batches):
    if case.ranks == 1:
        return train(case, batches, rank=0)
    with tempfile.TemporaryDirectory() as directory:
        torch.multiprocessing.spawn(worker, (case, batches, directory), nprocs=case.ranks)
        return torch.load(os.path.join(directory, "result"), weights_only=False)


def smallest_relu_input(images):
    model = new_model("batch")
    smallest = []
    for module in model.modules():
        if isinstance(module, torch.nn.ReLU):
            module.register_forward_pre_hook(
                lambda _, inputs: smallest.append(inputs[0].detach().abs().min().item()))
    model(images)
    return min(smallest)


def decided_batch(batches):
    """The samples, of all runs of SMALL_BATCH, whose ReLU inputs keep furthest from zero. Where one
    is within rounding of zero, whether its gradient passes differs from machine to machine, and
    float32 gradients differ by far more than rounding."""
    images = batches["images"].flatten(0, 1).split(SMALL_BATCH)
    labels = batches["labels"].flatten().split(SMALL_BATCH)
    margins = [smallest_relu_input(samples) for samples in images]
    best = int(numpy.argmax(margins))
    return {"images": images[best], "labels": labels[best], "smallest_relu_input": margins[best]}


def one_step_float32(batch, memory_format):
    model = new_model("batch", torch.float32).to(memory_format=memory_format)
    images = batch["images"].float().contiguous(memory_format=memory_format)
    loss = F.cross_entropy(model(images), batch["labels"])
    loss.backward()
    norm = sum(gradient.double().square().sum() for _, gradient in gradients(model)).sqrt()
    return {"loss": loss.item(), "gradient_l2": norm.item(),
            "first_gradient": summaries(gradients(model))}


def loss_bfloat16(batches):
    model = new_model("batch", torch.float32).to(memory_format=torch.channels_last)
    images = batches["images"][0].float().contiguous(memory_format=torch.channels_last)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return {"loss": F.cross_entropy(model(images), batches["labels"][0]).item()}


def digits(path):
    """STEPS global batches: every 37th sample, so that a batch mixes classes and writers."""
    with h5py.File(path) as file:
        images = file["train/images"][...] * file["train/images"].attrs["scale"]
        labels = file["train/labels"][...]
    ids = numpy.arange(STEPS * GLOBAL_BATCH, dtype=numpy.int64) * 37 % len(labels)
    return {"ids": ids.reshape(STEPS, GLOBAL_BATCH),
            "images": images[ids].reshape(STEPS, GLOBAL_BATCH, 1, 8, 8),
            "labels": labels[ids].astype(numpy.int64).reshape(STEPS, GLOBAL_BATCH)}


def compute(arrays):
    """Everything in the file, as nested dictionaries; a group's dtype is that of its training."""
    batches = {key: torch.from_numpy(value) for key, value in arrays.items()}
    contents = {"batches": arrays}
    for name, case in TRAINING.items():
        print(f"{name} ...", flush=True)
        contents[name] = {"attributes": {**vars(case), "dtype": "float64"}, **run(case, batches)}
    small_batch = decided_batch(batches)
    contents["small_batch"] = {key: numpy.asarray(value) for key, value in small_batch.items()}
    for name, memory_format in (("fp32_contiguous", torch.contiguous_format),
                                ("fp32_channels_last", torch.channels_last)):
        contents[name] = {"attributes": {**vars(TRAINING["bn_1"]), "dtype": "float32"},
                          **one_step_float32(small_batch, memory_format)}
    contents["bf16_channels_last"] = {"attributes": {**vars(TRAINING["bn_1"]), "dtype": "bfloat16"},
                                      **loss_bfloat16(batches)}
    return contents


def write(group, contents):
    for name, value in contents.items():
        if name == "attributes":
            group.attrs.update(value)
        elif isinstance(value, dict):
            write(group.create_group(name), value)
        else:
            group[name] = value


def write_file(path, contents):
    with h5py.File(path, "w") as file:
        file.attrs.update({
            "format": "lockstep.parity", "format_version": 1,
            "torch_version": str(torch.__version__),
            "command": "python3 tests/parity/reference.py", "seed": SEED, "width": 64,
            "learning_rate": SGD["lr"], "momentum": SGD["momentum"],
            "weight_decay": SGD["weight_decay"],
            "tensors": "sum, sum of squares, elements floor(i * n / 64) for i in 0..63"})
        write(file, contents)


def differences(stored, contents, dtype="float64", path=""):
    """Yields (dtype, relative difference, path) of each data set."""
    dtype = contents.get("attributes", {}).get("dtype", dtype)
    for name, value in contents.items():
        if name == "attributes":
            continue
        if isinstance(value, dict):
            yield from differences(stored[name], value, dtype, f"{path}/{name}")
            continue
        expected = stored[name][...]
        scale = numpy.linalg.norm(expected.ravel()) or 1.0
        yield dtype, numpy.linalg.norm((value - expected).ravel()) / scale, f"{path}/{name}"


def check(path):
    with h5py.File(path) as file:
        contents = compute({key: value[...] for key, value in file["batches"].items()})
        found = list(differences(file, contents))
    wrong = False
    for dtype, tolerance in TOLERANCE.items():
        largest = max(item[1:] for item in found if item[0] == dtype)
        within = largest[0] <= tolerance  # false where it is NaN
        wrong = wrong or not within
        print(f"{dtype}: largest relative difference {largest[0]:.3g}, at {largest[1]}: "
              f"{'ok' if within else f'more than {tolerance:g}'}")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the file, write nothing")
    parser.add_argument("--output", type=Path, default=HERE / "reference.h5")
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "inputs" / "digits.h5")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if arguments.check:
        return check(arguments.output)
    write_file(arguments.output, compute(digits(arguments.data)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
