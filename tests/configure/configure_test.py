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

    def configure(self, *options, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("Torch_DIR", "CMAKE_PREFIX_PATH")}
        return subprocess.run(
            [os.environ["LOCKSTEP_CMAKE"], "-G", os.environ["LOCKSTEP_GENERATOR"], "-S", ROOT, "-B",
             self.directory / "build", "-DLOCKSTEP_TESTS=OFF", *options],
            env={**environment, **variables}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=120, check=False)

    def assert_refused(self, *options, texts, **variables):
        done = self.configure(*options, **variables)
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

    def test_a_gpu_build_without_a_toolkit(self):
        self.assert_refused("-DLOCKSTEP_CUDA=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON",
                            "-DLOCKSTEP_TORCH=OFF",
                            texts=["LOCKSTEP_CUDA=ON", "no CUDA toolkit was found", "CUDAToolkit_ROOT",
                                   "module load cuda nccl", "LOCKSTEP_CUDA=OFF"])

    def test_without_a_toolkit_nothing_of_gpus_is_built_and_cmake_says_so(self):
        for options, text in (
                (["-DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON"],
                 "GPUs: without (LOCKSTEP_CUDA=AUTO, and no CUDA toolkit was found"),
                (["-DLOCKSTEP_CUDA=OFF"], "GPUs: without (LOCKSTEP_CUDA=OFF)")):
            with self.subTest(options):
                done = self.configure(*options, "-DLOCKSTEP_TORCH=OFF")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(text, done.stdout)
                self.assertNotIn("liblockstep_cuda.so", self.build_file())

    def toolkit(self):
        """What CMake takes for a CUDA toolkit, with neither NCCL nor anything that works."""
        root = self.directory / "toolkit"
        self.file("toolkit/bin/nvcc", "#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.1'\n",
                  0o755)
        self.file("toolkit/include/cuda_runtime.h", "")
        self.file("toolkit/lib64/libcudart.so", "")
        return f"-DCUDAToolkit_ROOT={root}"

    def test_a_toolkit_without_nccl(self):
        empty = self.directory / "empty"
        self.assert_refused("-DLOCKSTEP_CUDA=ON", self.toolkit(), f"-DNCCL_INCLUDE_DIR={empty}",
                            f"-DNCCL_LIBRARY={empty}/libnccl.so", "-DLOCKSTEP_TORCH=OFF",
                            texts=["no NCCL was found beside the CUDA toolkit 13.0.1", "NCCL_ROOT",
                                   "module load cuda nccl"])

    def test_an_old_nccl(self):
        self.file("nccl/nccl.h", "#define NCCL_MAJOR 2\n#define NCCL_MINOR 17\n#define NCCL_PATCH 1\n")
        nccl = self.directory / "nccl"
        self.assert_refused("-DLOCKSTEP_CUDA=ON", self.toolkit(), f"-DNCCL_INCLUDE_DIR={nccl}",
                            f"-DNCCL_LIBRARY={nccl}/libnccl.so", "-DLOCKSTEP_TORCH=OFF",
                            texts=["NCCL 2.17.1", "older than 2.18"])

    def torch(self, path, runtime):
        """What CMake takes for a LibTorch for CUDA, up to where it is linked with."""
        self.file(f"{path}/include/ATen/core/Tensor.h", "")
        self.file(f"{path}/include/torch/headeronly/version.h",
                  "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 11\n"
                  "#define TORCH_VERSION_PATCH 0\n")
        self.file(f"{path}/lib/libc10_cuda.so", f"what it needs: {runtime}\n")
        return self.directory / path

    def test_a_toolkit_of_another_cuda_than_libtorch(self):
        self.file("nccl/nccl.h", "#define NCCL_MAJOR 2\n#define NCCL_MINOR 28\n#define NCCL_PATCH 9\n")
        nccl = self.directory / "nccl"
        torch = self.torch("torch", "libcudart.so.12")
        self.assert_refused("-DLOCKSTEP_CUDA=ON", self.toolkit(), f"-DNCCL_INCLUDE_DIR={nccl}",
                            f"-DNCCL_LIBRARY={nccl}/libnccl.so", f"-DCMAKE_PREFIX_PATH={torch}",
                            texts=["the toolkit is CUDA 13.0.1, but LibTorch is one for CUDA 12"])

    def test_a_libtorch_is_found_as_it_says_itself_and_another_one_replaces_it(self):
        for path in ("first", "second"):
            torch = self.torch(path, "libcudart.so.13")
            (torch / "share/cmake").mkdir(parents=True)
            done = self.configure("-DLOCKSTEP_CUDA=OFF", CMAKE_PREFIX_PATH=f"{torch}/share/cmake")
            self.assertIn(f"LibTorch 2.11.0: {torch}\n", done.stdout)

    def test_a_choice_that_is_none(self):
        self.assert_refused("-DLOCKSTEP_CUDA=maybe", "-DLOCKSTEP_TORCH=OFF",
                            texts=["LOCKSTEP_CUDA is maybe", "AUTO, ON or OFF"])

    def build_file(self):
        build = self.directory / "build"
        return "".join(path.read_text() for path in [*build.glob("build.ninja"),
                                                      *build.glob("src/cuda/CMakeFiles/*/build.make")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
