"""How long PyTorch takes to write a checkpoint, and for how long it keeps the training waiting.

    mpiexec -n 2 python3 tests/bench/peer_checkpoint.py DIRECTORY [MIB [ROUNDS]]

The state of io_checkpoint_speed: 60 float32 tensors. torch.save by rank 0 with fsync; Distributed
Checkpoint (DCP) by all ranks over gloo, at once and asynchronously. Medians over the rounds.
"""

import os
import pathlib
import shutil
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp

TENSORS = 60


def saved_by_rank_0(state, directory):
    """Seconds of torch.save with fsync."""
    began = time.perf_counter()
    if dist.get_rank() == 0:
        with open(directory / "state.pt", "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
    dist.barrier()
    return time.perf_counter() - began


def saved_by_all(state, directory):
    """Seconds of a DCP save, whose files it syncs itself."""
    began = time.perf_counter()
    dcp.save(state, checkpoint_id=str(directory / "dcp"))
    dist.barrier()
    return time.perf_counter() - began


def saved_behind(state, directory):
    """For how long an asynchronous DCP save keeps its caller, and how long it takes in all."""
    began = time.perf_counter()
    future = dcp.async_save(state, checkpoint_id=str(directory / "async"))
    kept = time.perf_counter() - began
    future.result()
    dist.barrier()
    return kept, time.perf_counter() - began


def copied(state):
    """Seconds of a copy in memory."""
    began = time.perf_counter()
    copies = [tensor.clone() for tensor in state.values()]
    del copies
    return time.perf_counter() - began


def main(directory, mib="1024", rounds="3"):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29511")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=int(os.environ["PMI_RANK"]),
                            world_size=int(os.environ["PMI_SIZE"]))
    count = (int(mib) << 20) // 4 // TENSORS
    state = {f"w{i}": torch.full((count,), 1.5) for i in range(TENSORS)}
    figures = {}
    for _ in range(int(rounds)):
        place = pathlib.Path(directory) / "peer"
        if dist.get_rank() == 0:
            place.mkdir()
        dist.barrier()
        kept, behind = saved_behind(state, place)
        for name, seconds in [("torch.save", saved_by_rank_0(state, place)),
                              ("DCP save", saved_by_all(state, place)),
                              ("DCP async_save, caller kept", kept),
                              ("DCP async_save, in all", behind), ("copy in memory", copied(state))]:
            figures.setdefault(name, []).append(seconds)
        dist.barrier()
        if dist.get_rank() == 0:
            shutil.rmtree(place)
        dist.barrier()
    if dist.get_rank() == 0:
        for name, seconds in figures.items():
            print(f"{name}: {statistics.median(seconds):.3f} s")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
