"""Reads, checks, plots and exports the HDF5 files that Lockstep writes.

    >>> import lockstep_post
    >>> run = lockstep_post.read_run("runs/quickstart")
    >>> run.epoch["val_accuracy"][-1]

`python3 -m lockstep_post --help` lists the commands; postproc/README.md describes the files.
"""

from .errors import PostError, UnreadableError
from .run import Run, read_run

__all__ = ["PostError", "Run", "UnreadableError", "read_run"]
