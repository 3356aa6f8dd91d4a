"""What tests on files share: a directory of their own."""

import contextlib
import pathlib
import tempfile
import unittest

import h5py


class FilesTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)


@contextlib.contextmanager
def edited(path):
    """The file open for a change by hand."""
    with h5py.File(path, "r+") as file:
        yield file


def replace(file, name, values):
    """Puts other values, perhaps of another shape or type, in a data set's place."""
    attributes = dict(file[name].attrs)
    del file[name]
    file[name] = values
    file[name].attrs.update(attributes)
