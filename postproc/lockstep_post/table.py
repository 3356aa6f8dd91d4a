"""A run's epochs as text."""

from __future__ import annotations

import math

from .run import Run

HEADINGS = ("epoch", "step", "lr", "train loss", "train acc", "val loss", "val acc", "images/s")


def format_table(run: Run) -> str:
    """The epochs of `run` as an aligned table, and a closing line with its best validation.

    Epochs count from 1, as in the log (in the file from 0); accuracies are in percent; "-" stands where an epoch was
    not validated ("nan" is a loss that really is not a number).
    """
    rows = [HEADINGS] + [_row(run, index) for index in range(run.epochs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
    lines.append(_closing_line(run))
    return "\n".join(lines) + "\n"


def _row(run: Run, index: int) -> tuple:
    epoch = {name: values[index] for name, values in run.epoch.items()}
    validated = run.validated[index]
    return (
        str(epoch["epoch"] + 1),
        str(epoch["global_step"]),
        f"{epoch['lr']:.4g}",
        _loss(epoch["train_loss"]),
        _percent(epoch["train_accuracy"]),
        _loss(epoch["val_loss"]) if validated else "-",
        _percent(epoch["val_accuracy"]) if validated else "-",
        _rate(epoch["images_per_second"]),
    )


def _closing_line(run: Run) -> str:
    best = run.best
    if best is None:
        validation = "no validation yet"
    else:
        accuracy, epoch = run.epoch["val_accuracy"][best], run.epoch["epoch"][best]
        validation = f"best validation accuracy {_percent(accuracy)} at epoch {epoch + 1}"
    return f"{validation}, world size {run.world_size}, total time {_duration(run.seconds)}"


def _loss(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 1000 or math.isnan(value) else f"{value:.4g}"


def _rate(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f} %" if math.isfinite(fraction) else str(fraction)


def _duration(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "unknown"
    if round(seconds) < 60:
        return f"{seconds:.1f} s"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours} h {minute:02d} min" if hours else f"{minute} min {second:02d} s"
