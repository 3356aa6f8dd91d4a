"""Trainings on the GPU: beside the same on the CPU, across both, repeated, and in half precision."""

import logs
from report import Failed, NotPossible

# Twenty steps in two epochs of a network wide enough for group norm not to blow rounding up.
SMALL = ["--dataset", "synthetic", "--synthetic_size", 160, "--synthetic_val_size", 32,
         "--image_size", 16, "--width", 32, "--batch_size", 16, "--epochs", 2, "--log_interval", 1,
         "--keep_last", 0, "--num_workers", 2]
STEPS = 20
HALFWAY = STEPS // 2

# The largest relative difference of any loss. Float64 trajectories part by rounding alone; float32's part
# faster, the more so in TF32, whose products have 10 bits.
TOLERANCE = {"float64": 1e-8, "float32": 2e-3, "float32 with TF32": 5e-2}
ACCURACY = 0.97  # on the digits after ten epochs; float32 reaches 0.99


class Trainings:
    """Runs of the program, each of them once: parts share what they compare with."""

    def __init__(self, machine, directory, gpu="cuda"):
        self.machine, self.directory, self.gpu = machine, directory, gpu
        self._done = {}

    def run(self, name, *arguments, deadline, ranks=0, **environment):
        """The directory of run `name`, trained by now."""
        if name not in self._done:
            output = self.directory / name
            try:
                self.machine.train(*arguments, "--output_dir", output, "--overwrite",
                                   deadline=deadline, ranks=ranks, **environment)
                self._done[name] = output
            except Failed as why:
                self._done[name] = why
        if isinstance(self._done[name], Failed):
            raise Failed(f"run {name}: {self._done[name]}")
        return self._done[name]

    def on(self, device, backend=None):
        """The settings that choose a device; none for a CPU where the program knows nothing else."""
        if not self.machine.knows_devices:
            if device == "cpu":
                return []
            raise NotPossible("the packed lockstep has no --device: it does not train on GPUs")
        return ["--device", device, *(["--backend", backend] if backend else [])]

    def small(self, device, dtype, norm, deadline, tf32=False):
        name = f"{device}-{dtype}-{norm}" + ("-tf32" if tf32 else "")
        return self.run(name, *SMALL, *self.on(device), "--dtype", dtype, "--norm", norm,
                        "--no-use_amp", "--tf32" if tf32 else "--no-tf32", deadline=deadline)


def checkpoint(run, step):
    path = run / "checkpoints" / f"step_{step:012d}.h5"
    if not path.exists():
        raise Failed(f"{path} is not there")
    return path


def cpu_ranks(trainings, deadline, facts):
    """The packed program under the packed launcher: two ranks agree with one."""
    one = trainings.small("cpu", "float64", "group", deadline)
    two = trainings.run("cpu-2-ranks", *SMALL, *trainings.on("cpu", "mpi"), "--dtype", "float64",
                        "--norm", "group", "--no-use_amp", "--batch_size", 8, ranks=2,
                        deadline=deadline)
    worst = logs.compare(logs.losses(one), logs.losses(two), TOLERANCE["float64"], at_least=STEPS)
    facts["largest relative difference of a loss"] = worst


def equals_cpu(trainings, dtype, norm, deadline, facts, tf32=False):
    """Losses of all steps on the GPU are those on the CPU."""
    name = dtype + (" with TF32" if tf32 else "")
    cpu = logs.losses(trainings.small("cpu", dtype, norm, deadline))
    gpu = logs.losses(trainings.small(trainings.gpu, dtype, norm, deadline, tf32))
    worst = logs.compare(cpu, gpu, TOLERANCE[name], at_least=STEPS)
    facts[f"largest relative difference of a loss (at most {TOLERANCE[name]:g})"] = worst


def digits(trainings, amp_dtype, deadline, facts):
    """The handwritten digits are learned in half precision."""
    run = trainings.run(f"digits-{amp_dtype}", "--config", "inputs/digits.ini",
                        *trainings.on(trainings.gpu), "--use_amp", "--amp_dtype", amp_dtype,
                        deadline=deadline)
    accuracy = logs.final_accuracy(run)
    facts["validation accuracy"] = accuracy
    facts["precision"] = logs.events(run, "start")[0]["precision"]
    facts["skipped steps"] = logs.events(run, "step")[-1]["skipped_steps"]
    if not accuracy >= ACCURACY:
        raise Failed(f"accuracy {accuracy:.4f}, where {ACCURACY} is needed")


def across(trainings, first, second, deadline, facts):
    """Half a run on `first`, the other half on `second`: losses as on the second alone."""
    begun = trainings.small(first, "float64", "group", deadline)
    ended = trainings.run(f"{first}-then-{second}", *SMALL, "--dtype", "float64", "--norm", "group",
                          "--no-use_amp", *trainings.on(second), "--resume_from",
                          checkpoint(begun, HALFWAY), deadline=deadline)
    straight = logs.losses(trainings.small(second, "float64", "group", deadline), HALFWAY + 1)
    worst = logs.compare(straight, logs.losses(ended, HALFWAY + 1), TOLERANCE["float64"],
                         at_least=STEPS - HALFWAY)
    facts["largest relative difference of a loss"] = worst


def bitwise(trainings, deadline, facts):
    """--deterministic: two epochs and two more are four, to the bit."""
    settings = [*SMALL, *trainings.on(trainings.gpu), "--deterministic", "--epochs", 4, "--use_amp",
                "--amp_dtype", "bf16", "--norm", "batch"]
    straight = trainings.run("four-epochs", *settings, deadline=deadline)
    halves = trainings.run("two-and-two", *settings, "--stop_after_epochs", 2, deadline=deadline)
    trainings.machine.train(*settings, "--output_dir", halves, "--resume_from", "auto",
                            deadline=deadline)
    found = [contents(trainings, checkpoint(run, 2 * STEPS), deadline) for run in (straight, halves)]
    facts["data sets equal to the bit"] = logs.compare_hashes(*found)


def contents(trainings, path, deadline):
    shown = trainings.machine.program("lockstep", "inspect", path, "--hashes", deadline=deadline)
    if shown.returncode != 0:
        raise Failed(f"lockstep inspect {path} --hashes: {shown.stdout[-200:]}{shown.stderr[-200:]}")
    return logs.hashes(shown.stdout)


def trace(trainings, deadline, facts):
    """The profiler's trace holds work of the GPU."""
    run = trainings.run("profiled", *SMALL, *trainings.on(trainings.gpu), "--enable_profiling",
                        "--epochs", 1, deadline=deadline)
    events, kernels = logs.trace_summary(run / "traces" / "rank_0.json")
    facts["events"], facts["kernels of the GPU"] = events, kernels
    if trainings.gpu == "cuda" and not kernels:
        raise Failed(f"none of the trace's {events} events is a kernel of the GPU")
