"""Lets one of two ranks come to harm at each call by which it changes files while the checkpoint store
writes, marks, renames and prunes: `kill` is SIGKILL, `full` a disk that is full from then on, `broken` a
disk that fails. After each the newest checkpoint that can be used is one that was announced as written, or
the one after it, and where nobody is killed all ranks leave by themselves with an error.
Also checks the order of these calls: synced before renamed, and durable before older ones are removed.

usage: fault_at_calls.py MPIEXEC IO_WRITE_FILES FAULT_SHIM KIND
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TIMEOUT = 60
STEPS = 4
KEPT = 2


def run(mpiexec, program, shim, directory, *, kind="", rank="", at=0, log=""):
    """Writes checkpoints of steps 1 to STEPS; returns the last one announced and how it ended."""
    checkpoints = Path(directory) / "checkpoints"
    preload = [f"LD_PRELOAD={shim}", f"FAULT_DIRECTORY={checkpoints}", f"FAULT_KIND={kind}",
               f"FAULT_RANK={rank}", f"FAULT_AT={at}", f"FAULT_LOG={log}"]
    done = subprocess.run([mpiexec, "-n", "2", "env", *preload, program, "some", str(checkpoints)],
                          capture_output=True, text=True, timeout=TIMEOUT, check=False)
    announced = [int(line) for line in done.stdout.splitlines() if line.isdigit()]
    return max(announced, default=0), done


def newest(program, directory):
    """The newest checkpoint that can be used, and whether it holds what was written into it."""
    found = subprocess.run([program, "newest", str(Path(directory) / "checkpoints")], check=True,
                           timeout=TIMEOUT, capture_output=True, text=True).stdout
    return int(found)


def count_calls(mpiexec, program, shim):
    """The calls of an undisturbed run: of each rank a list of (call, file's name)."""
    with tempfile.TemporaryDirectory() as directory:
        log = Path(directory) / "log"
        announced, done = run(mpiexec, program, shim, directory, log=log)
        assert (announced, done.returncode) == (STEPS, 0), done
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


def check_instant(kind, announced, done, found, left):
    """Raises AssertionError where the run that met the fault left something wrong behind."""
    assert found in (announced, announced + 1) or (announced, found) == (0, -1), f"found {found}"
    if kind == "kill":
        assert done.returncode != 0
    else:
        # Nobody died, and one rank says why. What fails after the last announcement harms nobody.
        assert done.returncode == 1 or announced == STEPS, done
        assert done.returncode == 0 or done.stderr.count("lockstep: ") == 1, done.stderr
        assert kind == "full" or "free space" not in done.stderr, done.stderr
        assert "signal" not in done.stderr.replace("Hangup (signal 1)", ""), done.stderr
    if kind != "broken":
        assert not [name for name in left if name.endswith(".tmp")], f"left {left}"


def main():
    mpiexec, program, shim, kind = sys.argv[1:5]
    calls = count_calls(mpiexec, program, shim)
    check_order(calls[0])
    print(f"{kind} at each of {len(calls[0])} calls of rank 0 and {len(calls[1])} of rank 1")
    for rank, at in [(rank, at + 1) for rank in calls for at in range(len(calls[rank]))]:
        with tempfile.TemporaryDirectory() as directory:
            announced, done = run(mpiexec, program, shim, directory, kind=kind, rank=rank, at=at)
            found = newest(program, directory)
            left = os.listdir(Path(directory) / "checkpoints")
            try:
                check_instant(kind, announced, done, found, left)
            except AssertionError as error:
                call = calls[rank][at - 1]
                raise AssertionError(f"rank {rank}, call {at} {call}: announced {announced}") from error


main()
