"""What the build needs and is missing or unfit ends cmake with the remedy."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Configure(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="lockstep_configure_"))
        self.addCleanup(shutil.rmtree, self.directory)

    def assert_refused(self, *options, texts, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("Torch_DIR", "CMAKE_PREFIX_PATH")}
        done = subprocess.run(
            [os.environ["LOCKSTEP_CMAKE"], "-G", os.environ["LOCKSTEP_GENERATOR"], "-S", ROOT, "-B",
             self.directory / "build", "-DLOCKSTEP_TESTS=OFF", *options],
            env={**environment, **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        said = " ".join(done.stderr.split())  # cmake breaks lines
        self.assertNotEqual(done.returncode, 0, done.stdout)
        for text in texts:
            self.assertIn(text, said)

    def file(self, path, text, mode=0o644):
        path = self.directory / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def test_a_serial_hdf5(self):
        # An installation as h5cc describes one: its header lacks H5_HAVE_PARALLEL.
        serial = self.directory / "serial"
        self.file("serial/include/hdf5.h", '#include "H5pubconf.h"\n'
                  '#define H5_VERS_INFO "HDF5 library version: 1.10.8"\n'
                  "int H5Fopen(const char*, unsigned, long);\n")
        self.file("serial/include/H5pubconf.h", '#define H5_VERSION "1.10.8"\n')
        source = self.file("stub.c", "int H5Fopen(const char* n, unsigned f, long a)"
                           " { return (int)(n[0] + f + a); }\n")
        (serial / "lib").mkdir()
        subprocess.run(["cc", "-shared", "-fPIC", "-o", serial / "lib/libhdf5.so", source], check=True,
                       timeout=60)
        self.file("serial/bin/h5cc", "#!/bin/sh\n"
                  f'if [ "$1" = -show ]; then echo cc -I{serial}/include -L{serial}/lib -lhdf5; exit; fi\n'
                  f'exec cc -I{serial}/include "$@" -L{serial}/lib -Wl,-rpath,{serial}/lib -lhdf5\n',
                  0o755)
        self.assert_refused(f"-DHDF5_ROOT={serial}", "-DLOCKSTEP_TORCH=OFF",
                            texts=["is serial", "libhdf5-mpich-dev", "HDF5_ROOT", str(serial)])

    def test_no_mpi(self):
        self.assert_refused("-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON", "-DLOCKSTEP_TORCH=OFF",
                            texts=["No MPI found", "libmpich-dev", "module load", "slurm/setup.sh"])

    def test_an_old_libtorch(self):
        self.file("torch/include/ATen/core/Tensor.h", "")
        self.file("torch/include/torch/csrc/api/include/torch/version.h",
                  "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 6\n"
                  "#define TORCH_VERSION_PATCH 1\n")
        self.assert_refused(f"-DTorch_DIR={self.directory}/torch/share/cmake/Torch",
                            texts=["LibTorch 2.6.1", "2.7 or later", "slurm/setup.sh", "Torch_DIR"])

    def test_no_libtorch(self):
        self.assert_refused(texts=["No LibTorch found", "slurm/setup.sh"],
                            LOCKSTEP_CACHE_DIR=str(self.directory / "cache"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
