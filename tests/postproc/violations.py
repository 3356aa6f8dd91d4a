"""Each thing that must hold in a file, violated once: (change to a good file, what check says)."""

import numpy as np

from files_test import replace


def put(name, index, value):
    def change(file):
        file[name][index] = value
    return change


def put_all(**columns):
    """Several columns of /epoch, so that only what is meant gets wrong."""
    def change(file):
        for name, values in columns.items():
            file[f"epoch/{name}"][...] = values
    return change


def delete(name):
    def change(file):
        del file[name]
    return change


def swap(name, values):
    def change(file):
        replace(file, name, values)
    return change


def attribute(owner, name, value):
    def change(file):
        file[owner].attrs[name] = value
    return change


def no_attribute(owner, name):
    def change(file):
        del file[owner].attrs[name]
    return change


METRICS = (
    (no_attribute("/", "format"), ['no root attribute "format"']),
    (attribute("/", "format", "other"), ['format "other" is none of']),
    (attribute("/", "format_version", 2), ["format version 2; this program knows 1"]),
    (no_attribute("/", "format_version"), ["format version (none)"]),
    (no_attribute("/", "lockstep_version"), ['no root attribute "lockstep_version"']),
    (delete("config"), ["/config: no such group"]),
    (no_attribute("provenance", "host"), ["/provenance: no such group, or it holds no attribute"]),
    (attribute("epoch/epoch_seconds", "units", "min"),
     ['/epoch/epoch_seconds: units "min" instead of "s"']),
    (delete("rank"), ["/rank: no such group"]),
    (delete("epoch/val_correct"), ["/epoch/val_correct: no such data set"]),
    (no_attribute("step/loss", "units"), ['/step/loss: units "" instead of "nats per sample"']),
    (swap("epoch/lr", np.array([0.1, 0.05, 0], np.float32)), ["/epoch/lr: type float32"]),
    (swap("epoch/train_samples", [10.0, 10.0, 10.0]),
     ["/epoch/train_samples: type float64 instead of int64"]),
    (swap("rank/train_samples", [10, 10, 10]),
     ["/rank/train_samples: 1 dimensions instead of [epoch, rank]"]),
    (swap("epoch/lr", [0.1, 0.05]), ["/epoch/lr: shape (2,), but /epoch/epoch has (3,)"]),
    (swap("rank/train_seconds", np.ones((3, 3))),
     ["/rank/train_seconds: shape (3, 3), but /rank/train_samples has (3, 2)"]),
    (put("epoch/epoch", slice(None), [0, 1, 3]), ["/epoch/epoch[2] = 3 instead of 2"]),
    (put("epoch/epoch", slice(None), [1, 2, 3]), ["/epoch/epoch[0] = 1 instead of 0"]),
    (put("epoch/global_step", 1, 1), ["/epoch/global_step[1] = 1 is less than the 2 before"]),
    (put("epoch/samples_seen", 2, 19), ["/epoch/samples_seen[2] = 19 is less than the 20"]),
    (put("step/global_step", 3, 2), ["/step/global_step[3] = 2 is less than the 3 before"]),
    (put("step/epoch", 4, 0), ["/step/epoch[4] = 0 is less than the 1 before"]),
    (put("epoch/samples_seen", 0, -1), ["/epoch/samples_seen: -1 is negative"]),
    (put("epoch/epoch_seconds", 0, -0.5), ["/epoch/epoch_seconds: -0.5 is negative"]),
    (put("rank/peak_rss_bytes", (1, 1), -8), ["/rank/peak_rss_bytes: -8 is negative"]),
    (put("step/elapsed_seconds", 0, -1), ["/step/elapsed_seconds: -1.0 is negative"]),
    (put("epoch/train_loss", 1, 1.0 + 1e-9), ["/epoch/train_loss[1] = 1.000000001, but "
                                              "train_loss_sum / train_samples = 10.0 / 10 = 1.0"]),
    (put("epoch/train_accuracy", 0, 0.4), ["/epoch/train_accuracy[0] = 0.4"]),
    (put("epoch/val_loss", 2, 1.0), ["/epoch/val_loss[2] = 1.0"]),
    (put("epoch/val_accuracy", 1, 0.0), ["/epoch/val_accuracy[1] = 0.0"]),
    (put("epoch/val_accuracy", 2, np.nan), ["/epoch/val_accuracy[2] = nan"]),
    (put("step/loss", 5, 0.25), ["/step/loss[5] = 0.25"]),
    (put_all(train_correct=[11, 6, 9], train_accuracy=[1.1, 0.6, 0.9]),
     ["/epoch/train_correct[0] = 11 of 10 samples"]),
    (put_all(val_correct=[5, 0, 3], val_accuracy=[1.25, np.nan, 0.75]),
     ["/epoch/val_correct[0] = 5 of 4 samples"]),
    (put("rank/train_samples", (2, 0), 5), ["/rank/train_samples[2] sums to 9 over the ranks, "
                                            "but /epoch/train_samples[2] = 10"]),
)

METRICS += (
    (delete("validation"), ["/validation/confusion: no such data set"]),
    (swap("validation/confusion", np.ones((2, 3), np.int64)),
     ["/validation/confusion: int64 (2, 3) instead of a square"]),
    (put("validation/confusion", (0, 0), -1), ["/validation/confusion: -1 is negative"]),
    (put("validation/confusion", slice(None), [[3, 0], [0, 1]]),
     ["/validation/confusion: its diagonal's sum is 4, but /epoch/val_correct[2] = 3"]),
    (put("validation/confusion", slice(None), [[2, 2], [0, 1]]),
     ["/validation/confusion: its sum is 5, but /epoch/val_samples[2] = 4"]),
)

CHECKPOINT = (
    (delete("model"), ["/model: no such group"]),
    (delete("optimizer"), ["/optimizer: no such group"]),
    (delete("rng"), ["/rng: no such group"]),
    (delete("sampler"), ["/sampler: no such group"]),
    (delete("metrics"), ["/metrics: no such group"]),
    (delete("config"), ["/config: no such group"]),
    (delete("metrics/step"), ["/metrics/step: no such group"]),
    (put("metrics/epoch/train_loss", 0, 1.5), ["/metrics/epoch/train_loss[0] = 1.5"]),
    (lambda file: [file.__delitem__("model"), file.create_group("model")],
     ["/model: holds no tensor", "/optimizer/momentum/fc.bias: /model has no tensor fc.bias",
      "/optimizer/momentum/fc.weight: /model has no tensor fc.weight"]),
    (lambda file: file.create_group("model/conv"), ["/model/conv: not a data set"]),
    (swap("optimizer/momentum/fc.weight", np.ones((3, 2))),
     ["/optimizer/momentum/fc.weight: shape (3, 2), but /model/fc.weight has (2, 3)"]),
    (lambda file: file.move("model/fc.bias", "model/fc.offset"),
     ["/optimizer/momentum/fc.bias: /model has no tensor fc.bias"]),
    (delete("rng/cpu"), ["/rng: holds no state"]),
    (swap("rng/cpu", np.zeros(16, np.uint8)), ["/rng/cpu: not a data set of bytes"]),
    (swap("rng/cpu", np.zeros((2, 2))), ["/rng/cpu: not a data set of bytes"]),
    (swap("rng/cpu", np.zeros((3, 8), np.uint8)),
     ["/rng/cpu: 3 ranks, but /metrics/rank/train_samples has 2"]),
    (delete("schedule"), ["/schedule: no such group"]),
    (delete("meters"), ["/meters: no such group"]),
    (delete("sampler/offset"), ["/sampler/offset: no such number"]),
    (swap("sampler/global_step", [6, 6]), ["/sampler/global_step: no such number"]),
    (swap("sampler/offset", -1), ["/sampler/offset: -1 is negative"]),
    (swap("sampler/epoch", 2), ["/sampler/epoch is 2, but /metrics/epoch has 3 epochs"]),
)
