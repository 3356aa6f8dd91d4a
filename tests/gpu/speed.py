"""Milliseconds a training step takes, Lockstep's in turn with those of PyTorch."""

import json
import os
import pathlib
import queue
import statistics
import subprocess
import threading

import logs
from machine import end
from report import Failed

HERE = pathlib.Path(__file__).resolve().parent
BATCHES = (64, 512)
STEPS = {64: 400, 512: 200}
BLOCKS = 5  # a launch of Lockstep; the first is a warm-up
ROUNDS = 3
PROGRAMS = ("eager", "compiled")


class Peer:
    """PyTorch in a process that stays: what is slow to begin with is done once, beside other parts."""

    def __init__(self, machine, device="cuda", scratch="."):
        # The machine's environment: the pack's libraries are none of Python's business.
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(pathlib.Path(scratch) / "inductor")}
        self._errors = open(pathlib.Path(scratch) / "peer.log", "w+", encoding="utf-8")
        self._process = subprocess.Popen(
            [machine.python, HERE / "peer_step.py", device], stdin=subprocess.PIPE, text=True,
            stdout=subprocess.PIPE, stderr=self._errors, env=environment, start_new_session=True)
        self._answers = queue.Queue()
        self._asked = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            if line.startswith("{"):
                self._answers.put(json.loads(line))
        self._answers.put(None)

    def ask(self, request):
        self._asked.append(request)
        try:
            self._process.stdin.write(request + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:  # the answer will be that it has ended
            pass

    def answer(self, deadline):
        """Seconds of the next request that was asked; raises Failed where there is no answer."""
        request = self._asked.pop(0)
        try:
            answer = self._answers.get(timeout=deadline.require())
        except queue.Empty as why:
            raise Failed(f"PyTorch has not answered '{request}' in time") from why
        if answer is None:
            self._errors.seek(0)
            raise Failed(f"PyTorch has ended: {self._errors.read()[-400:]}")
        if "error" in answer:
            raise Failed(f"PyTorch, {request}: {answer['error']}")
        return answer["seconds"]

    def prepare(self):
        """Lets it compile all that will be measured; does not wait."""
        for batch in BATCHES:
            for name in PROGRAMS:
                self.ask(f"prepare {name} {batch}")

    def close(self):
        end(self._process)
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            try:
                stream.close()
            except BrokenPipeError:  # what it was never to read
                pass


def lockstep_milliseconds(trainings, batch, number, deadline):
    steps = STEPS[batch]
    run = trainings.run(
        f"speed-{batch}-{number}", "--dataset", "synthetic", "--synthetic_size", batch * steps,
        "--epochs", 1, "--eval_every", 0, "--batch_size", batch, *trainings.on(trainings.gpu),
        "--use_amp", "--amp_dtype", "bf16", "--log_interval", steps // BLOCKS, "--num_workers", 8,
        deadline=deadline)
    return logs.step_milliseconds(run)


def step_times(trainings, peer, deadline, facts):
    """Medians of all blocks of all rounds. Nothing is judged but that all could be measured."""
    trainings.on(trainings.gpu)
    problems = []
    usable = []
    for batch in BATCHES:
        for name in PROGRAMS:
            try:
                facts[f"PyTorch {name}, first five steps of {batch}, s"] = round(peer.answer(deadline), 2)
                usable.append((name, batch))
            except Failed as why:
                problems.append(str(why))
    found = {}
    for number in range(ROUNDS):
        for batch in BATCHES:
            if deadline.left() < 10:
                problems.append(f"round {number + 1} of {ROUNDS} was left out, for want of time")
                break
            found.setdefault(("Lockstep", batch), []).extend(
                lockstep_milliseconds(trainings, batch, number, deadline))
            for name in (name for name in PROGRAMS if (name, batch) in usable):
                steps = STEPS[batch] // BLOCKS
                peer.ask(f"measure {name} {batch} {steps}")
                found.setdefault((name, batch), []).append(1000 * peer.answer(deadline) / steps)
    for (name, batch), times in sorted(found.items(), key=lambda item: item[0][1]):
        title = name if name == "Lockstep" else f"PyTorch {name}"
        facts[f"ms a step of {batch}, {title}"] = round(statistics.median(times), 3)
        facts[f"ms a step of {batch}, {title}, all"] = [round(time, 3) for time in times]
    if problems:
        raise Failed("; ".join(problems))
