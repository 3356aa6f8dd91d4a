"""Whole runs on GPUs, by stand-ins for them in host memory, and what runs on CPUs leave alone."""

import os
import re
import subprocess

import numpy as np

import harness

STAND_IN = os.environ["LOCKSTEP_STAND_IN_PROGRAM"]
GPUS = ["--dtype", "float64", "--device", "cuda", "--epochs", 2]
CPUS = ["--dtype", "float64", "--device", "cpu", "--epochs", 2]


class Gpus(harness.RunTestCase):
    def on_gpus(self, ranks, output, *arguments, expect=0, name="train", visible="0", **extra):
        """The stand-in program on one visible GPU a rank."""
        small = [*harness.SMALL, "--output_dir", self.directory / output] if name == "train" else []
        result = subprocess.run(
            harness.command(ranks, *small, *arguments, name=name, program=STAND_IN),
            env=harness.environment() | {"CUDA_VISIBLE_DEVICES": visible} | extra,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=harness.DEADLINE)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result

    def assert_near(self, one, other, tolerance=1e-10):
        """All weights, buffers and optimizer states of two runs' newest checkpoints."""
        first = harness.datasets(self.checkpoint(one))
        second = harness.datasets(self.checkpoint(other))
        for path, value in first.items():
            if path.startswith(("model/", "optimizer/", "ema/")):
                np.testing.assert_allclose(value, second[path], rtol=tolerance, atol=tolerance,
                                           err_msg=path)

    def check_like_cpu(self, ranks, *arguments):
        everything = ["--max_grad_norm", "1", "--ema_decay", "0.9", *arguments]
        result = self.on_gpus(ranks, "gpu", *GPUS, *everything)
        self.train(ranks, "cpu", *CPUS, *[a for a in everything if a != "nccl"])
        self.assert_near("gpu", "cpu")
        gpu = harness.datasets(self.directory / "gpu" / "metrics.h5")
        cpu = harness.datasets(self.directory / "cpu" / "metrics.h5")
        for path, value in cpu.items():
            if path.rsplit("/", 1)[-1] not in harness.TIMES:
                np.testing.assert_allclose(gpu[path], value, rtol=1e-10, atol=1e-10, err_msg=path)
        return result

    def test_one_rank_trains_as_on_a_cpu(self):
        result = self.check_like_cpu(1)
        self.assertRegex(result.stdout, r"device: GPUs, one a rank \(rank 0: GPU 0, Stand-in")
        self.assertRegex(result.stdout, r"backend: NCCL [0-9.]+ for gradients, MPICH")

    def test_two_ranks_train_as_on_cpus(self):
        self.check_like_cpu(2, "--grad_accum_steps", "2")

    def test_three_ranks_train_as_on_cpus(self):
        self.check_like_cpu(3)

    def test_a_network_without_buffers_trains_as_on_cpus(self):
        self.check_like_cpu(2, "--norm", "group")

    def test_gradients_go_through_host_memory_where_asked(self):
        result = self.check_like_cpu(2, "--backend", "mpi")
        self.assertIn("gradients go through host memory", result.stdout)

    def test_goes_on_on_cpus_and_back_again(self):
        self.on_gpus(2, "moved", *GPUS, "--epochs", 3, "--stop_after_epochs", 1)
        there = self.train(2, "moved", *CPUS, "--epochs", 3, "--stop_after_epochs", 2,
                           "--resume_from", "auto")
        self.assertIn("device was Stand-in", there.stdout + there.stderr)
        self.on_gpus(2, "moved", *GPUS, "--epochs", 3, "--resume_from", "auto")
        self.train(2, "straight", *CPUS, "--epochs", 3)
        self.assert_near("moved", "straight")

    def test_resumes_to_the_bit(self):
        more = ["--dtype", "float32", "--device", "cuda", "--ema_decay", "0.9", "--epochs", 4]
        self.on_gpus(2, "straight", *more)
        self.on_gpus(2, "parts", *more, "--max_steps", 5)
        self.on_gpus(2, "parts", *more, "--resume_from", "auto")
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("parts"))
        self.assert_same_datasets(self.directory / "straight" / "metrics.h5",
                                  self.directory / "parts" / "metrics.h5")

    def test_a_bad_step_is_skipped_and_counted_as_on_cpus(self):
        fault = ["--fault", "rank=1,phase=step,step=2,kind=nan"]
        result = self.on_gpus(2, "gpu", *GPUS, *fault)
        self.assertIn("step 2 skipped", result.stdout + result.stderr)
        self.train(2, "cpu", *CPUS, *fault)
        self.assert_near("gpu", "cpu")
        for output in ("gpu", "cpu"):
            numbers = harness.datasets(self.checkpoint(output))
            self.assertEqual(numbers["optimizer/skipped_steps"], 1)

    def test_gives_up_after_bad_steps_in_a_row(self):
        broken = self.on_gpus(2, "run", *GPUS, "--max_skipped_steps", 1, "--fault",
                              "rank=1,phase=step,step=2,kind=nan", expect=1)
        self.assertIn("1 steps in a row were not finite", broken.stderr)

    def test_evaluates_on_a_gpu(self):
        self.on_gpus(1, "run", *GPUS)
        checkpoint = ["--checkpoint", self.directory / "run"]
        by_gpu = self.on_gpus(1, "run", *checkpoint, "--device", "cuda", name="eval")
        by_cpu = harness.run(1, *checkpoint, "--device", "cpu", name="eval")
        self.assertEqual(re.search("loss.*", by_gpu.stdout)[0],
                         re.search("loss.*", by_cpu.stdout)[0])

    def test_auto_takes_gpus_in_sight(self):
        result = self.on_gpus(1, "run", "--epochs", 1)
        self.assertIn("device: GPUs", result.stdout)

    def test_two_ranks_on_one_gpu_are_refused(self):
        result = self.on_gpus(2, "run", *GPUS, expect=2, STAND_IN_SHARED="1")
        self.assertIn("ranks 0 and 1 would compute on one GPU", result.stderr)
        self.assertFalse((self.directory / "run").exists())

    def test_gpus_of_two_kinds_are_refused(self):
        result = self.on_gpus(2, "run", *GPUS, expect=2, STAND_IN_MIXED="1")
        self.assertIn("compute on GPUs of one kind", result.stderr)
        self.assertFalse((self.directory / "run").exists())

    def test_a_resumed_run_computes_deterministically_if_it_did(self):
        self.on_gpus(1, "run", *GPUS, "--deterministic", "--stop_after_epochs", 1)
        result = self.on_gpus(1, "run", "--dtype", "float64", "--resume_from", "auto")
        self.assertRegex(result.stdout, "device: GPUs.*; deterministic")

    def test_too_many_bad_steps_at_the_very_end_are_an_error_too(self):
        broken = self.on_gpus(2, "run", *GPUS, "--epochs", 1, "--max_skipped_steps", 1, "--fault",
                              "rank=1,phase=step,step=3,kind=nan", expect=1)
        self.assertIn("1 steps in a row were not finite", broken.stderr)
        self.assertEqual(list((self.directory / "run" / "checkpoints").glob("*.h5")), [])

    def test_full_memory_is_an_error_that_says_what_to_lower(self):
        self.on_gpus(1, "run", *GPUS)
        evaluation = ["--checkpoint", self.directory / "run", "--device", "cuda"]
        # In float64 weights, gradients and momentum take 350 kB each, and what one layer computes of
        # 8 larger images 512 kB.
        for name, arguments, mib in (("train", GPUS, 0.25), ("eval", evaluation, 0.25),
                                     ("train", [*GPUS, "--image_size", 32], 1.5)):
            with self.subTest(name, mib=mib):
                broken = self.on_gpus(2, f"full_{mib}", *arguments, name=name, expect=1,
                                      STAND_IN_MEMORY=str(int(mib * (1 << 20))))
                self.assertRegex(broken.stderr,
                                 "the GPU's memory is full: CUDA out of memory. Tried to allocate "
                                 r"\d+ bytes. GPU 0 has a capacity of \d+ bytes.\n"
                                 "  try: a lower batch_size")
                self.assertNotIn("Exception raised", broken.stderr)

    def test_a_gpu_s_tools_see_what_a_step_consists_of(self):
        result = self.on_gpus(1, "run", *GPUS, STAND_IN_RANGES="1")
        seen = dict(re.findall(r"range ([\w ]+): (\d+)", result.stderr))
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        steps = int(metrics["epoch/global_step"][-1])
        for name in ("forward", "backward", "wait for gradients", "update"):
            self.assertEqual(int(seen[name]), steps, name)
        self.assertEqual(int(seen["wait for data"]), steps + 2)  # each epoch finds that it is over

    def test_gpus_without_a_rank_are_named(self):
        result = self.on_gpus(1, "run", "--epochs", 1, STAND_IN_IDLE="1")
        self.assertIn("2 of the 3 GPUs in sight stay idle", result.stdout + result.stderr)
        self.assertIn("--ntasks-per-node", result.stdout + result.stderr)

    def test_settings_for_autocast_and_of_cpus_do_no_harm(self):
        result = self.on_gpus(1, "run", "--device", "cuda", "--epochs", 1, "--use_amp", "--amp_dtype",
                              "bf16", "--conv_algorithm", "winograd")
        self.assertIn("convolutions: cuDNN's, whatever the setting conv_algorithm", result.stdout)

    def test_a_gpu_that_is_not_there_is_refused(self):
        result = self.on_gpus(2, "run", *GPUS, expect=2, visible="")
        self.assertIn("no rank sees a GPU (rank 0: no GPU (CUDA_VISIBLE_DEVICES=); rank 1", result.stderr)
        self.assertFalse((self.directory / "run").exists())
        nccl = self.train(1, "run", "--backend", "nccl", expect=2)
        self.assertIn("the ranks compute on CPUs", nccl.stderr)

    def test_gpus_that_cannot_be_used_stay_idle_with_a_warning_unless_asked_for(self):
        blind = {"STAND_IN_BLIND": "1"}
        result = self.on_gpus(2, "auto", "--epochs", 1, **blind)
        self.assertIn("device: CPU, since the GPUs in sight cannot be used", result.stdout)
        self.assertIn("CUDA finds none", result.stdout + result.stderr)
        asked = self.on_gpus(2, "asked", *GPUS, expect=1, **blind)
        self.assertIn("CUDA finds none", asked.stderr)
        self.assertFalse((self.directory / "asked").exists())

    def test_a_run_on_cpus_loads_nothing_of_cuda(self):
        result = subprocess.run(
            harness.command(0, *harness.SMALL, "--epochs", 1, "--output_dir",
                            self.directory / "run"),
            env=harness.environment() | {"LD_DEBUG": "files"}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=harness.DEADLINE)
        self.assertEqual(result.returncode, 0, result.stdout)
        loaded = re.findall(r"file=(\S+)", result.stderr)
        self.assertTrue(any("libtorch_cpu" in name for name in loaded))
        unwanted = ("lockstep_cuda", "torch_cuda", "c10_cuda", "nccl", "cudnn", "cublas", "libcuda.")
        self.assertEqual([name for name in loaded if any(word in name for word in unwanted)], [])


if __name__ == "__main__":
    harness.main()
