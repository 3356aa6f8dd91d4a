"""Kills one of two ranks with SIGKILL at each call by which it changes files while the checkpoint store
writes, marks, renames and prunes; after each the newest checkpoint that can be used is one that was
announced as written, or the one after it. Also checks the order of these calls: synced before renamed, and
durable before older ones are removed.

usage: kill_at_calls.py MPIEXEC IO_WRITE_FILES KILL_SHIM [INSTANTS]

INSTANTS: how many calls, spread evenly over both ranks' (40); `all` for each of them.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TIMEOUT = 60
STEPS = 4
KEPT = 2


def run(mpiexec, program, shim, directory, rank="", at=0, log=""):
    """Writes checkpoints of steps 1 to STEPS; returns the last one announced and the exit code."""
    checkpoints = Path(directory) / "checkpoints"
    preload = [f"LD_PRELOAD={shim}", f"KILL_DIRECTORY={checkpoints}", f"KILL_RANK={rank}",
               f"KILL_AT={at}", f"KILL_LOG={log}"]
    done = subprocess.run([mpiexec, "-n", "2", "env", *preload, program, "some", str(checkpoints)],
                          capture_output=True, text=True, timeout=TIMEOUT, check=False)
    announced = [int(line) for line in done.stdout.splitlines() if line.isdigit()]
    return max(announced, default=0), done.returncode


def newest(program, directory):
    """The newest checkpoint that can be used, and whether it holds what was written into it."""
    found = subprocess.run([program, "newest", str(Path(directory) / "checkpoints")], check=True,
                           timeout=TIMEOUT, capture_output=True, text=True).stdout
    return int(found)


def count_calls(mpiexec, program, shim):
    """The calls of an undisturbed run: of each rank a list of (call, file's name)."""
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        assert run(mpiexec, program, shim, directory, log=log) == (STEPS, 0)
        assert newest(program, directory) == STEPS
        calls = {0: [], 1: []}
        for line in log.read_text().splitlines():
            rank, call, path = line.split(" ", 2)
            calls[int(rank)].append((call, Path(path).name))
    return calls


def check_order(calls):
    """Of rank 0's calls: what is written is synced before it is renamed, the name before the older
    checkpoint is removed, and the user block comes last."""
    for step in range(1, STEPS + 1):
        name = f"step_{step:012d}.h5"
        temporary = name + ".tmp"
        renamed = calls.index(("rename", name))
        before = [call for call, file in calls[:renamed] if file == temporary]
        assert before[0] == "open" and "fallocate" in before, before
        assert before[-1] == "fsync", before
        # The data, synced, then list and user block, synced.
        assert before[-4:] == ["fsync", "pwrite", "pwrite", "fsync"], before
        assert calls[renamed + 1] == ("fsync", "checkpoints"), calls[renamed:]
        removed = [file for call, file in calls[renamed + 2:renamed + 3] if call == "unlink"]
        expected = [f"step_{step - KEPT:012d}.h5"] if step > KEPT else []
        assert removed == expected, (step, removed)


def instants(calls, wanted):
    every = [(rank, at) for rank in calls for at in range(1, len(calls[rank]) + 1)]
    if wanted == "all":
        return every
    count = min(int(wanted), len(every))
    return [every[i * (len(every) - 1) // max(count - 1, 1)] for i in range(count)]


def main():
    mpiexec, program, shim = sys.argv[1:4]
    calls = count_calls(mpiexec, program, shim)
    check_order(calls[0])
    chosen = instants(calls, sys.argv[4] if len(sys.argv) > 4 else "40")
    print(f"{len(calls[0])} calls of rank 0, {len(calls[1])} of rank 1; killing at {len(chosen)}")
    for rank, at in chosen:
        with tempfile.TemporaryDirectory() as directory:
            announced, code = run(mpiexec, program, shim, directory, rank, at)
            where = f"rank {rank}, call {at} {calls[rank][at - 1]}: announced {announced}"
            assert code != 0, where
            found = newest(program, directory)
            assert found in (announced, announced + 1) or (announced, found) == (0, -1), \
                f"{where}, found {found}"
            left = os.listdir(Path(directory) / "checkpoints")
            assert not [name for name in left if name.endswith(".tmp")], f"{where}, left {left}"


main()
