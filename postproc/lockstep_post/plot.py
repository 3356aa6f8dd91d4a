"""Learning curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .errors import PostError
from .run import Run

SUFFIXES = (".png", ".pdf", ".svg")
_TRAIN = {"linestyle": "--", "linewidth": 1.5, "marker": "o", "markersize": 3,
          "markerfacecolor": "white"}
_VALIDATION = {"linestyle": "-", "linewidth": 1.8, "marker": "o", "markersize": 4}


def plot(runs, path) -> None:
    """Draws the learning curves of `runs` into one picture, `path`, whose suffix gives its kind.

    Loss, accuracy and learning rate stand over the epochs trained. Training values are means over
    an epoch and stand at its middle, validation values were taken at its end and stand there; the
    loss of each logged interval lies faintly behind.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise PostError(f"drawing {path}", f"unknown suffix \"{path.suffix}\"",
                        "a name that ends in " + ", ".join(SUFFIXES))
    for run in runs:
        if not run.epochs:
            raise PostError(f"drawing {run.path}", "no epoch has finished yet",
                            "again when the first one has")
    figure = draw(runs)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise PostError(f"writing {path}", error.strerror or str(error),
                        "another place for the output") from error


def draw(runs):
    """The matplotlib Figure of the learning curves of `runs`; for notebooks."""
    from matplotlib.figure import Figure  # here, since only pictures need matplotlib

    figure = Figure(figsize=(12, 4.2), constrained_layout={"w_pad": 0.1, "h_pad": 0.08})
    loss, accuracy, rate = figure.subplots(1, 3, gridspec_kw={"width_ratios": (3, 3, 2)})
    for index, run in enumerate(runs):
        color = f"C{index % 10}"
        _draw_loss(loss, run, color)
        _draw_accuracy(accuracy, run, color)
        rate.plot(*_learning_rate(run), color=color, linewidth=1.5)
    _finish(figure, runs, loss, accuracy, rate)
    return figure


def epochs_trained(run: Run, steps) -> np.ndarray:
    """Optimizer steps, counted from the start of the run, in epochs.

    Within a finished epoch by the steps it took, after the last one by that one's steps.
    """
    ends = np.concatenate(([0], run.epoch["global_step"])).astype(float)
    counts = np.arange(len(ends), dtype=float)
    after = (steps - ends[-1]) / max(ends[-1] - ends[-2], 1.0)
    return np.where(steps > ends[-1], counts[-1] + after, np.interp(steps, ends, counts))


def _draw_loss(axes, run: Run, color) -> None:
    epoch = run.epoch
    axes.plot(epochs_trained(run, run.step["global_step"]), run.step["loss"],
              color=color, alpha=0.25, linewidth=0.8, zorder=1)
    axes.plot(epoch["epoch"] + 0.5, epoch["train_loss"], color=color, **_TRAIN)
    axes.plot(epoch["epoch"][run.validated] + 1, epoch["val_loss"][run.validated], color=color,
              **_VALIDATION)


def _draw_accuracy(axes, run: Run, color) -> None:
    epoch = run.epoch
    axes.plot(epoch["epoch"] + 0.5, 100 * epoch["train_accuracy"], color=color, **_TRAIN)
    axes.plot(epoch["epoch"][run.validated] + 1, 100 * epoch["val_accuracy"][run.validated],
              color=color, **_VALIDATION)


def _learning_rate(run: Run) -> tuple:
    """Epochs trained and learning rate: at each logged step, or each epoch's where none was."""
    if len(run.step["lr"]):
        return epochs_trained(run, run.step["global_step"]), run.step["lr"]
    return run.epoch["epoch"] + 1, run.epoch["lr"]


def _finish(figure, runs, loss, accuracy, rate) -> None:
    loss.set(title="Loss", ylabel="loss (nats per sample)")
    accuracy.set(title="Accuracy", ylabel="accuracy (%)")
    rate.set(title="Learning rate", ylabel="learning rate")
    if _spans_decades(runs):
        loss.set_yscale("log")
        loss.yaxis.set_major_formatter("{x:g}")
    accuracy.set_ylim(top=min(accuracy.get_ylim()[1], 101))
    rate.ticklabel_format(axis="y", scilimits=(-3, 4))
    for axes in (loss, accuracy, rate):
        axes.set_xlabel("epochs trained")
        axes.set_xlim(left=0)
        axes.grid(True, color="0.9")
        axes.set_axisbelow(True)
        axes.spines["top"].set_visible(False)
        axes.spines["right"].set_visible(False)
        axes.xaxis.get_major_locator().set_params(integer=True)
    _add_legends(runs, loss, accuracy)


def _add_legends(runs, loss, accuracy) -> None:
    from matplotlib.lines import Line2D

    loss.legend(handles=[
        Line2D([], [], color="0.3", label="training, mean of the epoch", **_TRAIN),
        Line2D([], [], color="0.3", label="validation", **_VALIDATION),
        Line2D([], [], color="0.3", alpha=0.4, linewidth=0.8, label="training, each log interval"),
    ], frameon=False, fontsize="small")
    accuracy.legend(handles=[
        Line2D([], [], color=f"C{index % 10}", linewidth=2, label=label)
        for index, label in enumerate(_labels(runs))
    ], frameon=False, fontsize="small")


def _labels(runs) -> list:
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        names = [str(run.path.parent) for run in runs]
    return [name if run.best is None else
            f"{name}: best validation {100 * run.epoch['val_accuracy'][run.best]:.2f} %"
            for name, run in zip(names, runs)]


def _spans_decades(runs) -> bool:
    losses = np.concatenate([np.concatenate((run.epoch["train_loss"], run.epoch["val_loss"]))
                             for run in runs])
    losses = losses[np.isfinite(losses)]
    return losses.size > 0 and losses.min() > 0 and losses.max() / losses.min() > 30
