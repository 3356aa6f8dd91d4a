"""Launches as clusters really make them, on a two-node Slurm that binds tasks and offers GPUs.

Its nodes' names are of the kind that parsers of node lists stumble over; each node has two cores
and two device files that Slurm takes for GPUs.
"""

import glob
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

import slurm_case
from cluster import Cluster
from slurm_case import PROGRAM, ROOT

SMALL = ["--dataset", "synthetic", "--synthetic_size", "40", "--synthetic_val_size", "14",
         "--image_size", "8", "--in_channels", "1", "--width", "8", "--batch_size", "8",
         "--num_workers", "1", "--no-use_amp"]
ONE_EPOCH = [*SMALL, "--epochs", "1"]
ONE_THREAD = [*ONE_EPOCH, "--threads", "1"]
# Both nodes' tasks may use both of the host's cores: ranks that wait for each other on one are slow.
A_TASK_A_NODE = ["--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=2"]
NODE_CORES = 2


class LaunchTest(slurm_case.SlurmTestCase):
    def srun(self, options, *arguments, before=(), code=0):
        """A run as a job step, the program behind `before`; returns its log."""
        done, printed = self.call("srun", *options, *before, PROGRAM, "train", *arguments,
                                  "--output_dir", self.run_directory)
        self.assertEqual(done, code, printed)
        return self.log()

    def log(self):
        text = (self.run_directory / "log.txt").read_text()
        return re.sub(r"(?m)^\S+ \S+  ", "", text)  # without times

    # L1
    def test_a_step_smaller_than_its_job_is_nothing_to_warn_of(self):
        job = self.script(f"srun --ntasks=2 {' '.join(A_TASK_A_NODE)} {PROGRAM} train {' '.join(ONE_THREAD)} "
                          f"--output_dir {self.run_directory}\n")
        code, printed = self.submit(script=job, options=["--nodes=2", "--ntasks-per-node=2"])
        self.assertEqual(code, 0, printed)
        self.assertIn("2 ranks on 2 nodes, Slurm job ", self.log())
        self.assertNotIn("warning", self.log())

    def test_numbers_of_tasks_that_are_not_mpis_are_one_warning_with_both(self):
        log = self.srun(A_TASK_A_NODE, *ONE_THREAD,
                        before=["env", "SLURM_STEP_NUM_TASKS=7", "SLURM_NTASKS=9"])
        self.assertIn("2 ranks on 2 nodes", log)
        warnings = [line for line in log.splitlines() if "warning" in line]
        self.assertEqual(len(warnings), 1, log)
        self.assertIn("7 tasks", warnings[0])
        self.assertIn("2 ranks", warnings[0])

    # L2; that they are refused without the flag: scripts_test.py
    def test_independent_copies_train_where_they_are_allowed(self):
        copy = self.script(f'exec {PROGRAM} train {" ".join(ONE_THREAD)} --allow_single '
                           f'--output_dir {self.directory}/copy$SLURM_PROCID\n')
        code, printed = self.call("srun", "--mpi=none", *A_TASK_A_NODE, copy)
        self.assertEqual(code, 0, printed)
        for task in (0, 1):
            log = (self.directory / f"copy{task}" / "log.txt").read_text()
            self.assertEqual(log.count("2 independent copies"), 1, log)
            self.assertIn("1 rank on 1 node", log)

    # L3
    def test_the_gpu_of_a_rank_follows_what_slurm_shows_it(self):
        two_tasks = ["--nodes=1", "--ntasks=2"]
        for binding, *seen in (
                (["--gpus-per-task=1"], "rank 0: GPU 0 of 1 (CUDA_VISIBLE_DEVICES=0)",
                 "rank 1: GPU 0 of 1 (CUDA_VISIBLE_DEVICES=1)"),
                (["--gpus-per-node=2"], "rank 0: GPU 0 of 2 (CUDA_VISIBLE_DEVICES=0,1)",
                 "rank 1: GPU 1 of 2 (CUDA_VISIBLE_DEVICES=0,1)"),
                (["--gpus-per-node=2", "--gpu-bind=map_gpu:1,0"],
                 "rank 0: GPU 0 of 1 (CUDA_VISIBLE_DEVICES=1)",
                 "rank 1: GPU 0 of 1 (CUDA_VISIBLE_DEVICES=0)")):
            with self.subTest(binding=binding):
                log = self.srun([*two_tasks, *binding], *ONE_THREAD, "--overwrite")
                line = next(line for line in log.splitlines() if line.startswith("device: "))
                self.assertTrue(line.startswith("device: CPU"), line)
                for text in (*seen, "stay idle"):
                    self.assertIn(text, line)

    @unittest.skipIf(glob.glob("/dev/nvidia[0-9]*"), "this host has GPUs of its own")
    def test_gpus_that_slurm_does_not_show_are_not_seen(self):
        log = self.srun(["--nodes=1", "--ntasks=2", "--gpus-per-node=2", "--gpu-bind=none"],
                        *ONE_THREAD)
        self.assertIn("device: CPU, since no rank sees a GPU", log)

    # L5
    def test_node_lists_are_not_read(self):
        lists = [f"{name}=r[01-,x" for name in
                 ("SLURM_NODELIST", "SLURM_JOB_NODELIST", "SLURM_STEP_NODELIST", "SLURM_TASKS_PER_NODE",
                  "SLURM_STEP_TASKS_PER_NODE")]
        log = self.srun(A_TASK_A_NODE, *ONE_THREAD, before=["env", *lists])
        self.assertIn("2 ranks on 2 nodes", log)
        self.assertNotIn("warning", log)

    # L6, L7
    def test_threads_are_the_cores_of_each_task(self):
        for nodes, tasks, cores in ((2, 1, 2), (1, 2, 1)):
            with self.subTest(cores=cores):
                code, printed = self.submit(
                    *ONE_EPOCH, "--overwrite", "--resume_from", "none", "--output_dir",
                    self.run_directory,
                    options=[f"--nodes={nodes}", f"--ntasks-per-node={tasks}",
                             f"--cpus-per-task={cores}"])
                self.assertEqual(code, 0, printed)
                self.assertRegex(self.log(), rf"threads: {cores} a rank; rank 0: its own {cores} CPU")
                self.assertNotIn("warning", self.log())

    def test_ranks_of_mpiexec_share_a_nodes_cores(self):
        job = self.script(f"mpiexec -n 2 {PROGRAM} train {' '.join(ONE_EPOCH)} "
                          f"--output_dir {self.run_directory}\n")
        code, printed = self.submit(script=job, options=["--nodes=1", "--cpus-per-task=2"])
        self.assertEqual(code, 0, printed)
        self.assertIn("threads: 1 a rank; rank 0: 2 CPUs (0-1) shared by 2 ranks", self.log())

    def test_more_threads_than_cores_are_one_warning(self):
        log = self.srun(["--nodes=1", "--ntasks=2", "--cpus-per-task=1"], *ONE_EPOCH, "--threads", "2")
        self.assertEqual(log.count("warning"), 1, log)
        self.assertRegex(log, r"1 rank of 2 threads on 1 CPU \(\d\)")
        self.assertIn("threads: 2 a rank; rank 0: as set", log)

    # L8
    def test_a_killed_task_ends_the_job_within_ten_seconds(self):
        job = subprocess.Popen(
            ["bash", "slurm/interactive.sh", "--cpus-per-task=2", "--", "train", *SMALL, "--epochs",
             "1000000", "--log_interval", "1", "--threads", "1", "--output_dir", self.run_directory],
            cwd=ROOT, env={**self.cluster.environment, "LOCKSTEP": str(PROGRAM)},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        deadline = time.monotonic() + 60
        while not (self.run_directory / "metrics.h5").exists():
            self.assertLess(time.monotonic(), deadline, "no metrics were written")
            self.assertIsNone(job.poll(), "the run ended by itself")
            time.sleep(0.02)
        ranks = processes_with(str(self.run_directory).encode(), PROGRAM)
        self.assertEqual(len(ranks), 2)
        os.kill(ranks[-1], signal.SIGKILL)
        printed, _ = job.communicate(timeout=10)
        self.assertNotEqual(job.returncode, 0, printed)
        self.assertEqual(processes_with(str(self.run_directory).encode(), PROGRAM), [])


def processes_with(argument, program):
    """Ids of the processes that run `program` with this argument."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if arguments[0] == str(program).encode() and argument in arguments:
            found.append(int(entry.name))
    return sorted(found)


if __name__ == "__main__":
    if len(os.sched_getaffinity(0)) < NODE_CORES or not {0, 1} <= os.sched_getaffinity(0):
        print("skipped: tasks are to be bound to CPUs 0 and 1, which this process may not use")
        raise SystemExit(slurm_case.SKIPPED)
    slurm_case.main(Cluster(nodes=("gpu-a1-07", "gpu-a1-11"), cores=NODE_CORES, binds=True, gpus=2))
