"""Errors for the person at the terminal."""

from __future__ import annotations


class PostError(Exception):
    """What was attempted, why it failed and, where something helps, what to try."""

    def __init__(self, attempted: str, reason: str, remedy: str = ""):
        text = f"{attempted}: {reason}"
        super().__init__(f"{text}\n  try: {remedy}" if remedy else text)


class UnreadableError(PostError):
    """A file that is missing, is not HDF5, or holds something else than was asked for."""
