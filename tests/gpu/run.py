"""Everything that is to be seen on a machine with a GPU; run.sh starts it and says how."""

import argparse
import os
import pathlib
import platform
import shutil
import signal
import sys
import tempfile

import nccl
import speed
import training
from machine import Machine, devices, run, torch_of, unpacked
from report import Deadline, Failed, NotPossible, Report

ROOT = pathlib.Path(__file__).resolve().parents[2]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, prog="run.sh")
    parser.add_argument("--pack", type=pathlib.Path, default=ROOT / "build" / "gpu-pack.tar.gz",
                        help="what pack.sh made, a tarball or a directory")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "gpu-run",
                        help="where results go: result.json, table.txt")
    parser.add_argument("--deadline", type=float, default=450, help="seconds for everything")
    parser.add_argument("--only", default="", help="run only parts whose name has one of these words, "
                                                   "separated by commas")
    return parser.parse_args()


def nvidia_smi():
    wanted = "name,driver_version,memory.total,compute_cap,mig.mode.current,compute_mode"
    try:
        told = run(["nvidia-smi", f"--query-gpu={wanted}", "--format=csv,noheader"], 30)
    except OSError as why:
        return f"not to be had: {why}"
    return told.stdout.strip()


class Run:
    """The parts in order, each told what it needs. `gpus` are the names of those that torch sees."""

    def __init__(self, args):
        self.args = args
        self.deadline = Deadline(args.deadline)
        self.report = Report(self.deadline, after=self.write)
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="lockstep_gpu_"))
        self.machine = None
        self.trainings = None
        self.gpus = []
        self.no_gpu = "no GPU here"
        self.peer = None
        self.exclusive = False

    def write(self, report):
        """What is known so far: whatever becomes of the rest."""
        report.write(self.args.output / "result.json", failed=report.failed(),
                     seconds_left=round(self.deadline.left(), 1))
        (self.args.output / "table.txt").write_text(report.table() + "\n")

    def wanted(self, name):
        words = [word for word in self.args.only.split(",") if word]
        return not words or any(word in name for word in words)

    def part(self, name, seconds, work):
        """One part; `work` gets a deadline and a dictionary for facts."""
        if self.wanted(name):
            self.report.run(name, seconds, work)

    def on_gpu(self, name, seconds, work):
        def guarded(deadline, facts):
            if not self.gpus:
                raise NotPossible(self.no_gpu)
            return work(deadline, facts)
        self.part(name, seconds, guarded)

    def look_around(self, deadline, facts):
        """Machine, versions, and that the packed programs start."""
        facts["machine"] = f"{platform.node()}, {os.cpu_count()} cores, {platform.release()}"
        facts["python"] = platform.python_version()
        torch = torch_of(sys.executable, deadline.require())
        facts["torch"] = torch["version"]
        self.machine = Machine(unpacked(self.args.pack, self.scratch), torch, sys.executable)
        self.trainings = training.Trainings(self.machine, self.scratch / "runs")
        facts["pack"] = f"{self.machine.manifest['lockstep']}, commit {self.machine.manifest['commit']}"
        facts["glibc"], facts["libstdc++"] = self.machine.start(deadline.require())
        built_for = self.machine.manifest["torch"]
        if built_for.split("+")[0] != torch["version"].split("+")[0]:
            raise Failed(f"the pack is for torch {built_for}, and here is {torch['version']}")

    def look_for_gpus(self, deadline, facts):
        try:
            self.gpus = devices(sys.executable, deadline.require())
        except NotPossible as why:
            self.no_gpu = str(why)
            raise
        facts["GPUs"] = self.gpus
        facts["nvidia-smi"] = nvidia_smi()
        self.exclusive = "Exclusive" in facts["nvidia-smi"]

    def all_parts(self):
        self.report.run("a machine and versions", 120, self.look_around)
        if self.report.failed():
            return
        self.report.run("a GPUs", 60, self.look_for_gpus)
        if self.gpus and not self.exclusive and self.wanted("i step time beside PyTorch"):
            self.peer = speed.Peer(self.machine, scratch=self.scratch)
            self.peer.prepare()
        self.part("b two ranks on the CPU, packed MPICH", 150,
                  lambda *to: training.cpu_ranks(self.trainings, *to))
        for ranks in (1, 2):
            self.on_gpu(f"b NCCL, {ranks} rank{'s' * (ranks > 1)}", 60,
                        lambda *to, n=ranks: nccl.collectives(self.machine, n, len(self.gpus), *to))
        self.compared_with_cpu()
        for dtype in ("bf16", "fp16"):
            self.on_gpu(f"d {dtype} learns the digits", 60,
                        lambda *to, d=dtype: training.digits(self.trainings, d, *to))
        for first, second in (("cuda", "cpu"), ("cpu", "cuda")):
            self.on_gpu(f"e checkpoint of {first} resumed on {second}", 60,
                        lambda *to, f=first, s=second: training.across(self.trainings, f, s, *to))
        self.on_gpu("f deterministic, 2 + 2 = 4 epochs bitwise", 60,
                    lambda *to: training.bitwise(self.trainings, *to))
        self.on_gpu("g profiler's trace", 40, lambda *to: training.trace(self.trainings, *to))
        self.nccl_questions()
        self.on_gpu("i step time beside PyTorch", 200, self.step_times)

    def compared_with_cpu(self):
        for dtype, norm, tf32 in (("float64", "group", False), ("float64", "batch", False),
                                  ("float32", "batch", False), ("float32", "batch", True)):
            self.on_gpu(f"c cuda equals cpu, {dtype}{' TF32' * tf32}, {norm} norm", 60,
                        lambda deadline, facts, d=dtype, n=norm, t=tf32:
                        training.equals_cpu(self.trainings, d, n, deadline, facts, t))

    def step_times(self, deadline, facts):
        if self.exclusive:
            raise NotPossible("the GPU's compute mode lets one process use it at a time")
        speed.step_times(self.trainings, self.peer, deadline, facts)

    def nccl_questions(self):
        for name, ranks, test in (
                ("h NCCL: threads and time of a launch", 2, "ThreadsAndTimeALaunchTakes"),
                ("h NCCL: sums equal on all ranks", 2, "SumsAreEqualToTheBitOnAllRanks"),
                ("h NCCL: NaN in max and min", 2, "WhatBecomesOfANanInMaximumAndMinimum"),
                ("h NCCL: abort with a stuck kernel", 2, "AbortReturnsWithAStuckKernel")):
            self.on_gpu(name, 40, lambda *to, n=ranks, t=test: nccl.question(
                self.machine, n, len(self.gpus), t, *to))

    def finish(self):
        if self.peer:
            self.peer.close()
        shutil.rmtree(self.scratch, ignore_errors=True)


def main():
    args = arguments()
    # What a job's time limit or `timeout` sends: programs are ended and folders removed as after Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    args.pack, args.output = args.pack.absolute(), args.output.absolute()
    os.chdir(ROOT)  # inputs/digits.ini names its data from there
    args.output.mkdir(parents=True, exist_ok=True)
    everything = Run(args)
    try:
        everything.all_parts()
    finally:
        everything.finish()
    report = everything.report
    print(f"\n{report.table()}\n\n{args.output / 'result.json'}")
    return 1 if report.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
