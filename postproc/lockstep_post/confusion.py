"""Which classes were taken for which in a run's last validation."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .errors import PostError
from .plot import SUFFIXES
from .run import Run

_MOST_ROWS = 20
_MOST_WRITTEN_CELLS = 15


def format_confusion(run: Run) -> str:
    """The classes that were recognised worst, at most 20, each with the class it was most often
    taken for."""
    counts = _counts(run)
    samples, right = counts.sum(axis=1), counts.diagonal()
    present = np.flatnonzero(samples)
    order = present[np.argsort(right[present] / samples[present], kind="stable")]
    rows = [("class", "samples", "recognised", "most often taken for")]
    for label in order[:_MOST_ROWS]:
        wrong = counts[label].copy()
        wrong[label] = 0
        other = int(wrong.argmax())
        rows.append((str(label), str(samples[label]), f"{100 * right[label] / samples[label]:.2f} %",
                     f"{other} ({wrong[other]})" if wrong[other] else "-"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows]
    lines.append(f"epoch {_epoch(run)}: {right.sum()} of {counts.sum()} samples recognised, "
                 f"{len(present)} of {len(counts)} classes present")
    return "\n".join(lines) + "\n"


def plot_confusion(run: Run, path) -> None:
    """Draws the matrix into `path`: a row a class, as shares of the class's samples."""
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise PostError(f"drawing {path}", f"unknown suffix \"{path.suffix}\"",
                        "a name that ends in " + ", ".join(SUFFIXES))
    try:
        draw_confusion(run).savefig(path, dpi=150)
    except OSError as error:
        raise PostError(f"writing {path}", error.strerror or str(error),
                        "another place for the output") from error


def draw_confusion(run: Run):
    """The matplotlib Figure of the matrix; for notebooks."""
    from matplotlib.figure import Figure  # here, since only pictures need matplotlib

    counts = _counts(run)
    shares = 100 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    figure = Figure(figsize=(6.4, 5.6), constrained_layout=True)
    axes = figure.subplots()
    image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=100)
    axes.set_xlabel("class that was predicted")
    axes.set_ylabel("class of the sample")
    axes.set_title(f"{run.name}, validation after epoch {_epoch(run)}")
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_major_locator().set_params(integer=True)
    if len(counts) <= _MOST_WRITTEN_CELLS:
        axes.set_xticks(range(len(counts)))
        axes.set_yticks(range(len(counts)))
        for (row, column), count in np.ndenumerate(counts):
            axes.text(column, row, str(count) if count else "", ha="center", va="center",
                      fontsize="small", color="white" if shares[row, column] > 50 else "black")
    figure.colorbar(image, label="share of the class's samples / %")
    return figure


def _counts(run: Run) -> np.ndarray:
    if run.confusion.size and run.validated.any():
        return run.confusion
    raise PostError(f"reading {run.path}", "it holds no confusion matrix: nothing was validated "
                    "yet, or there are too many classes", "again after a validation")


def _epoch(run: Run) -> int:
    """The last epoch that was validated, counted from 1."""
    return int(run.epoch["epoch"][run.validated][-1]) + 1
