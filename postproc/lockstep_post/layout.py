"""The layout of Lockstep's files: the one place that names groups, quantities and units.

Readers check what they read against these tables, and a test holds postproc/README.md to them.
"""

from __future__ import annotations

from typing import NamedTuple

METRICS_FORMAT = "lockstep.metrics"
CHECKPOINT_FORMAT = "lockstep.checkpoint"
FORMAT_VERSION = 1
USER_BLOCK_BYTES = 512
USER_BLOCK_MAGIC = b"LOCKSTEP"
USER_BLOCK_VERSION = 2


class Quantity(NamedTuple):
    """One data set of a metrics group: numpy kind ("i" int64, "f" float64) and unit."""

    kind: str
    units: str


# /epoch/<quantity>[epoch]
EPOCH = {
    "epoch": Quantity("i", "epochs"),
    "global_step": Quantity("i", "optimizer steps"),
    "samples_seen": Quantity("i", "samples"),
    "world_size": Quantity("i", "ranks"),
    "lr": Quantity("f", "1"),
    "train_loss_sum": Quantity("f", "nats"),
    "train_loss": Quantity("f", "nats per sample"),
    "train_accuracy": Quantity("f", "1"),
    "train_correct": Quantity("i", "samples"),
    "train_top5_accuracy": Quantity("f", "1"),
    "train_top5_correct": Quantity("i", "samples"),
    "train_nonfinite": Quantity("i", "samples"),
    "train_samples": Quantity("i", "samples"),
    "val_loss_sum": Quantity("f", "nats"),
    "val_loss": Quantity("f", "nats per sample"),
    "val_accuracy": Quantity("f", "1"),
    "val_correct": Quantity("i", "samples"),
    "val_top5_accuracy": Quantity("f", "1"),
    "val_top5_correct": Quantity("i", "samples"),
    "val_nonfinite": Quantity("i", "samples"),
    "val_samples": Quantity("i", "samples"),
    "skipped_steps": Quantity("i", "optimizer steps"),
    "epoch_seconds": Quantity("f", "s"),
    "train_seconds": Quantity("f", "s"),
    "val_seconds": Quantity("f", "s"),
    "images_per_second": Quantity("f", "1/s"),
}

# /rank/<quantity>[epoch, rank]
RANK = {
    "train_samples": Quantity("i", "samples"),
    "train_seconds": Quantity("f", "s"),
    "data_wait_seconds": Quantity("f", "s"),
    "comm_wait_seconds": Quantity("f", "s"),
    "compute_seconds": Quantity("f", "s"),
    "peak_rss_bytes": Quantity("i", "bytes"),
}

# /step/<quantity>[log point]
STEP = {
    "global_step": Quantity("i", "optimizer steps"),
    "epoch": Quantity("i", "epochs"),
    "log_points": Quantity("i", "log points"),
    "samples": Quantity("i", "samples"),
    "nonfinite": Quantity("i", "samples"),
    "loss_sum": Quantity("f", "nats"),
    "loss": Quantity("f", "nats per sample"),
    "lr": Quantity("f", "1"),
    "grad_norm": Quantity("f", "1"),
    "loss_scale": Quantity("f", "1"),
    "skipped_steps": Quantity("i", "optimizer steps"),
    "images_per_second": Quantity("f", "1/s"),
    "interval_seconds": Quantity("f", "s"),
    "elapsed_seconds": Quantity("f", "s"),
}

# Samples [label, predicted] of the last validation; [0, 0] where there was none.
CONFUSION = "validation/confusion"

TABLES = {"epoch": EPOCH, "rank": RANK, "step": STEP}
DIMENSIONS = {"epoch": ("epoch",), "rank": ("epoch", "rank"), "step": ("log point",)}
SETTINGS = ("config", "provenance")

# What a checkpoint holds besides the settings.
CHECKPOINT_GROUPS = ("model", "optimizer", "rng", "sampler", "schedule", "meters", "metrics")
SAMPLER = ("epoch", "offset", "consumed_samples", "global_step")

# (group, ratio, sum, count): ratio == sum / count, NaN where the count is 0.
RATIOS = (
    ("epoch", "train_loss", "train_loss_sum", "train_samples"),
    ("epoch", "train_accuracy", "train_correct", "train_samples"),
    ("epoch", "train_top5_accuracy", "train_top5_correct", "train_samples"),
    ("epoch", "val_loss", "val_loss_sum", "val_samples"),
    ("epoch", "val_accuracy", "val_correct", "val_samples"),
    ("epoch", "val_top5_accuracy", "val_top5_correct", "val_samples"),
    ("step", "loss", "loss_sum", "samples"),
)

# /epoch quantities that count some of <train or val>_samples.
PARTS_OF_SAMPLES = ("train_correct", "train_top5_correct", "train_nonfinite",
                    "val_correct", "val_top5_correct", "val_nonfinite")

# What the clock and the machine decide: two otherwise equal runs differ in these.
MEASURED = (
    "epoch_seconds",
    "train_seconds",
    "val_seconds",
    "images_per_second",
    "data_wait_seconds",
    "comm_wait_seconds",
    "compute_seconds",
    "interval_seconds",
    "elapsed_seconds",
    "peak_rss_bytes",
)
