"""Tests the include check itself on small trees: what must be found, and what must not."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_includes


class CheckIncludes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, *headers):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"#include {header}\n" for header in headers))

    def assert_found(self, *texts):
        found = check_includes.violations(self.root)
        self.assertEqual(len(found), len(texts), found)
        for text, violation in zip(texts, found):
            self.assertIn(text, violation)

    def test_a_good_tree_passes(self):
        self.write("include/lockstep/io/file.hpp", "<vector>", '"lockstep/comm/communicator.hpp"')
        self.write("src/io/file.cpp", '"lockstep/io/file.hpp"', '"io/hdf5.hpp"',
                   '"comm/mpi_door.hpp"', "<hdf5.h>", '"lockstep/base/error.hpp"', "<xxhash.h>")
        self.write("src/comm/mpi.cpp", "<mpi.h>", '"lockstep/launch/topology.hpp"')
        self.write("src/model/net.cpp", "<torch/nn/module.h>", "<ATen/core/Tensor.h>")
        self.write("src/ddp/reducer.cpp", "<ATen/ops/zeros.h>", '"lockstep/model/model.hpp"')
        self.write("src/main.cpp", '"lockstep/app/program.hpp"', '"lockstep/launch/topology.hpp"')
        self.assert_found()

    def test_a_module_below_may_not_include_one_above(self):
        self.write("include/lockstep/comm/bad.hpp", '"lockstep/io/file.hpp"')
        self.write("src/model/bad.cpp", "<string>", '"lockstep/train/trainer.hpp"')
        self.assert_found("include/lockstep/comm/bad.hpp:1: comm may not include io",
                          "src/model/bad.cpp:2: model may not include train")

    def test_modules_side_by_side_may_not_include_each_other(self):
        self.write("src/data/bad.cpp", '"lockstep/control/stop_request.hpp"')
        self.assert_found("data may not include control")

    def test_a_private_header_stays_in_its_module(self):
        self.write("src/data/bad.cpp", '"io/hdf5.hpp"', '"comm/mpi_door.hpp"')
        self.write("include/lockstep/io/bad.hpp", '"io/hdf5.hpp"')
        self.assert_found("a public header may not include the private io/hdf5.hpp",
                          "io/hdf5.hpp is private to io", "comm/mpi_door.hpp is private to comm")

    def test_libraries_stay_out_of_public_headers(self):
        self.write("include/lockstep/comm/bad.hpp", "<mpi.h>")
        self.write("include/lockstep/cuda/bad.hpp", "<cuda_runtime.h>", "<nccl.h>",
                   "<c10/cuda/CUDAStream.h>")
        self.write("include/lockstep/io/bad.hpp", "  <hdf5.h>  // why not")
        self.assert_found("MPI (mpi.h)", "CUDA (cuda_runtime.h)", "NCCL (nccl.h)",
                          "CUDA (c10/cuda/CUDAStream.h)", "cuda is free of torch", "HDF5 (hdf5.h)")

    def test_libraries_stay_in_their_modules(self):
        self.write("src/train/bad.cpp", "<mpi.h>", "<hdf5.h>", "<H5public.h>", "<cuda.h>",
                   "<spdlog/logger.h>", "<boost/program_options.hpp>")
        self.assert_found("train may not include MPI", "HDF5", "HDF5", "CUDA", "spdlog", "Boost")

    def test_one_file_needs_the_cuda_toolkit(self):
        self.write("src/cuda/gpu_api.cpp", "<cuda_runtime.h>", "<nccl.h>")
        self.assert_found()
        self.write("src/cuda/bad.cpp", "<cuda_runtime.h>", "<nccl.h>", "<cuda/std/span>")
        self.write("src/cuda/other.hpp", "<cuda_fp16.h>")
        self.assert_found("only src/cuda/gpu_api.cpp may include CUDA", "may include NCCL",
                          "may include CUDA", "may include CUDA (cuda_fp16.h)")

    def test_torch_stays_above_control(self):
        self.write("src/cuda/bad.cpp", "<ATen/core/Tensor.h>")
        self.write("src/data/bad.cpp", "<ATen/core/Tensor.h>", "<c10/core/ScalarType.h>",
                   "<torch/version.h>")
        self.assert_found("cuda is free of torch", "data is free of torch", "data is free of torch",
                          "data is free of torch")

    def test_only_networks_include_torch_nn(self):
        self.write("src/train/bad.cpp", "<torch/torch.h>", "<torch/nn/module.h>", "<torch/nn.h>")
        self.assert_found("only files that define networks", "only files that define networks",
                          "only files that define networks")

    def test_a_public_header_that_uses_torch_includes_some_of_it(self):
        self.write("include/lockstep/model/good.hpp", "<ATen/core/Tensor.h>", "<vector>")
        self.write("include/lockstep/model/bad.hpp", '"lockstep/model/good.hpp"')
        self.write("include/lockstep/model/none.hpp", '"lockstep/model/good.hpp"')
        for name, text in (("good", "at::Tensor a();"), ("bad", "at::Tensor b();"),
                           ("none", "/// at::Tensor\nusing format::x;")):
            with open(self.root / f"include/lockstep/model/{name}.hpp", "a") as file:
                file.write(f"  {text}\n")
        self.assert_found("include/lockstep/model/bad.hpp:2: uses LibTorch without")

    def test_a_source_includes_its_own_header_first(self):
        self.write("include/lockstep/io/file.hpp", "<vector>")
        self.write("src/io/own.hpp")
        self.write("src/io/own.cpp", '"io/own.hpp"', "<string>")
        self.write("src/io/free.cpp", "<string>")
        self.assert_found()
        self.write("src/io/file.cpp", "<string>", '"lockstep/io/file.hpp"')
        self.write("src/io/own.cpp", "<string>")
        self.assert_found("src/io/file.cpp: does not include its own lockstep/io/file.hpp first",
                          "src/io/own.cpp: does not include its own io/own.hpp first")

    def test_unknown_modules_are_found(self):
        self.write("src/extras/bad.cpp", "<string>")
        self.write("src/train/bad.cpp", '"lockstep/extras/bad.hpp"')
        self.assert_found("extras is no known module", "belongs to no known module")

    def test_main_belongs_to_app_and_takes_no_networks(self):
        self.write("src/main.cpp", "<torch/torch.h>")
        self.assert_found("src/main.cpp:1: only files that define networks")

    def test_an_empty_tree_does_not_pass(self):
        self.assert_found("holds no source files")

    def test_the_table_names_only_modules_above(self):
        above = []
        for module, allowed in check_includes.MODULES.items():
            self.assertLessEqual(set(allowed), set(above), module)
            above.append(module)

    def test_the_exit_code_tells_the_result(self):
        def exit_code():
            return subprocess.run([sys.executable, check_includes.__file__, self.root],
                                  capture_output=True, timeout=30).returncode

        self.write("src/base/good.cpp", "<string>")
        self.assertEqual(exit_code(), 0)
        self.write("src/base/bad.cpp", "<mpi.h>")
        self.assertEqual(exit_code(), 1)


if __name__ == "__main__":
    unittest.main()
