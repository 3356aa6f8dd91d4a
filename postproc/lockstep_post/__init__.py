"""Reads, checks, plots and exports the HDF5 files that Lockstep writes.

    >>> import lockstep_post
    >>> run = lockstep_post.read_run("runs/quickstart")
    >>> run.epoch["val_accuracy"][-1]

`python3 -m lockstep_post --help` lists the commands; postproc/README.md describes the files.
"""

from .errors import PostError, UnreadableError

__all__ = ["PostError", "Run", "UnreadableError", "read_run"]


def __getattr__(name):
    # Late, so that the commands can say what is missing where there is no h5py.
    if name in ("Run", "read_run"):
        from . import run

        return getattr(run, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
