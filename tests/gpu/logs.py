"""What runs say in log.jsonl and `lockstep inspect`, and how far two of them may differ."""

import json
import math

from report import Failed


def events(run, kind=None):
    """The events of a run's log.jsonl, in order."""
    path = run / "log.jsonl"
    if not path.exists():
        raise Failed(f"{path} is not there")
    found = [json.loads(text) for text in path.read_text().splitlines() if text.strip()]
    return [event for event in found if kind is None or event["event"] == kind]


def losses(run, first_step=1):
    """{name: loss} of every log point and epoch from `first_step` on; a later entry wins."""
    found = {}
    for event in events(run):
        if event["event"] == "step" and event["global_step"] >= first_step:
            found[f"loss at step {event['global_step']}"] = event["loss"]
        if event["event"] == "epoch" and event["global_step"] >= first_step:
            for name in ("train_loss", "val_loss"):
                if event.get(name) is not None:
                    found[f"{name} of epoch {event['epoch']}"] = event[name]
    return found


def difference(one, other):
    """|one - other| relative to the larger; infinite where one alone is no finite number."""
    if one == other:
        return 0.0
    if not (isinstance(one, (int, float)) and isinstance(other, (int, float))):
        return math.inf
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.inf
    return abs(one - other) / max(abs(one), abs(other))


def compare(one, other, tolerance, at_least=1):
    """Compares two {name: number}; returns the largest relative difference and raises Failed where
    it is above `tolerance`, where names differ, or where there are fewer than `at_least`."""
    if set(one) != set(other):
        raise Failed(f"only one of the two has {', '.join(sorted(set(one) ^ set(other)))}")
    if len(one) < at_least:
        raise Failed(f"{len(one)} numbers to compare where {at_least} are needed")
    worst, name = max((difference(one[name], other[name]), name) for name in one)
    if not worst <= tolerance:
        raise Failed(f"{name}: {one[name]!r} and {other[name]!r} differ by {worst:.2g} of themselves, "
                     f"where {tolerance:g} is allowed")
    return worst


def final_accuracy(run):
    """Validation accuracy of the last epoch."""
    epochs = events(run, "epoch")
    if not epochs:
        raise Failed(f"{run} has ended no epoch")
    return epochs[-1]["val_accuracy"]


def hashes(text):
    """{data set: (type and shape, hash)} as `lockstep inspect --hashes` prints them."""
    found = {}
    for row in text.splitlines():
        if not row.startswith("  /"):
            continue
        path, rest = row.strip().split(None, 1)
        kind, mark, digest = rest.partition("  xxh3 ")
        if mark:
            found[path] = (kind.split("]")[0] + "]", digest.split()[0])
    return found


# Of a checkpoint, what differs between runs that are bitwise the same: times and memory.
TIMES = {"epoch_seconds", "train_seconds", "val_seconds", "images_per_second", "data_wait_seconds",
         "comm_wait_seconds", "compute_seconds", "interval_seconds", "elapsed_seconds",
         "peak_rss_bytes"}


def compare_hashes(one, other):
    """How many data sets were compared; raises Failed where any but a time differs."""
    one, other = ({path: value for path, value in found.items()
                   if path.rsplit("/", 1)[-1] not in TIMES} for found in (one, other))
    if not any(path.startswith("/model/") for path in one):
        raise Failed("no weights are among the hashes")
    if set(one) != set(other):
        raise Failed(f"only one of the two has {', '.join(sorted(set(one) ^ set(other)))}")
    differing = sorted(path for path in one if one[path] != other[path])
    if differing:
        raise Failed(f"{len(differing)} of {len(one)} data sets differ: {', '.join(differing[:5])}")
    return len(one)


def trace_summary(path):
    """(events, kernels) of a profiler's trace; raises Failed where it is none."""
    try:
        traced = json.loads(path.read_text())["traceEvents"]
    except (OSError, ValueError, KeyError) as why:
        raise Failed(f"{path} is no trace: {why}") from why
    return len(traced), sum(event.get("cat") == "kernel" for event in traced)


def step_milliseconds(run):
    """Milliseconds a step between neighbouring log points of a run of one epoch, by the clock."""
    points = events(run, "step")
    return [1000 * (later["elapsed_seconds"] - earlier["elapsed_seconds"]) /
            (later["global_step"] - earlier["global_step"])
            for earlier, later in zip(points, points[1:])]
