"""The job scripts and the program on a real two-node Slurm that this test starts and ends."""

import subprocess

import slurm_case
from cluster import Cluster
from slurm_case import PROGRAM

DIGITS = ["--config", "inputs/digits.ini", "--width", "8", "--threads", "1"]
SAY_WHAT_EACH_TASK_GETS = 'echo "task $SLURM_PROCID, $SRUN_CPUS_PER_TASK cores: $*"\n'
ONE_EPOCH = [*DIGITS, "--epochs", "1"]


class SlurmTest(slurm_case.SlurmTestCase):
    def assert_trained_on_two_nodes(self, code, printed):
        import h5py  # here, so that where Slurm is missing nothing else is asked for

        self.assertEqual(code, 0, printed)
        self.assertRegex((self.run_directory / "log.txt").read_text(), r"\b2 ranks on 2 nodes\b")
        with h5py.File(self.run_directory / "metrics.h5") as metrics:
            self.assertEqual(metrics.attrs["format"], "lockstep.metrics")
            self.assertEqual(metrics["epoch/epoch"][:].tolist(), [0])
            self.assertEqual(metrics["rank/train_samples"].shape, (1, 2))
            self.assertEqual(metrics["rank/train_samples"][:].sum(),
                             metrics["epoch/train_samples"][0])

    def test_the_batch_script_trains_on_two_nodes(self):
        self.assert_trained_on_two_nodes(
            *self.submit(*ONE_EPOCH, "--output_dir", self.run_directory))

    def test_the_interactive_script_trains_on_two_nodes(self):
        self.assert_trained_on_two_nodes(
            *self.call("bash", "slurm/interactive.sh", "--", "train", *ONE_EPOCH,
                       "--output_dir", self.run_directory))

    def test_mpiexec_in_a_batch_script_trains_on_two_nodes(self):
        job = self.script(f"mpiexec -n 2 {PROGRAM} train {' '.join(ONE_EPOCH)} "
                          f"--output_dir {self.run_directory}\n")
        self.assert_trained_on_two_nodes(
            *self.submit(script=job, options=["--nodes=2", "--ntasks-per-node=1"]))

    def test_a_finished_job_submitted_again_changes_nothing(self):
        arguments = [*ONE_EPOCH, "--output_dir", self.run_directory]
        self.submit(*arguments)
        metrics = (self.run_directory / "metrics.h5").read_bytes()
        code, printed = self.submit(*arguments)
        self.assertEqual(code, 0, printed)
        self.assertEqual((self.run_directory / "metrics.h5").read_bytes(), metrics)

    def test_a_job_told_to_stop_goes_on_where_it_was_when_submitted_again(self):
        arguments = [*DIGITS, "--epochs", "20", "--log_interval", "1", "--output_dir",
                     self.run_directory]
        told = self.script(f"until grep -qs 'step  *2 ' {self.run_directory}/log.txt; do\n"
                           "  sleep 0.1\ndone\n"
                           "scancel --signal=USR1 $(squeue --noheader --format=%A)\n")
        teller = subprocess.Popen([told], env=self.cluster.environment)
        self.addCleanup(teller.wait)
        self.addCleanup(teller.kill)
        code, printed = self.submit(*arguments, options=["--no-requeue"])
        self.assertEqual(code, 75, printed)
        self.assertIn("exit code 75: stopped early", printed)
        code, printed = self.submit(*arguments, "--stop_after_epochs", "1")
        self.assertEqual(code, 0, printed)
        self.assertRegex(printed, r"resumed from \S+ at epoch 1, step [1-9]")

    def test_independent_copies_are_refused_before_anything_is_written(self):
        code, printed = self.call("srun", "--mpi=none", "--nodes=2", "--ntasks-per-node=1", PROGRAM,
                                  "train", *ONE_EPOCH, "--output_dir", self.run_directory)
        self.assertEqual(code, 2, printed)
        self.assertIn("srun --mpi=list", printed)
        self.assertFalse(self.run_directory.exists(), printed)

    def test_a_wrong_setting_ends_the_job_with_the_usage_exit_code(self):
        code, printed = self.submit(*ONE_EPOCH, "--output_dir", self.run_directory,
                                    "--batch_sise", "8")
        self.assertEqual(code, 2, printed)
        self.assertIn("batch_size", printed)
        self.assertIn("exit code 2: wrong usage", printed)

    def test_a_missing_program_is_named_with_the_way_to_build_it(self):
        for code, printed in (self.submit(program="build/absent/lockstep"),
                              self.call("bash", "slurm/interactive.sh",
                                        program="build/absent/lockstep")):
            self.assertEqual(code, 2, printed)
            self.assertIn("no program build/absent/lockstep", printed)
            self.assertNotIn("srun:", printed)

    def test_the_batch_script_gives_each_task_its_cores_and_its_arguments(self):
        echo = self.script(SAY_WHAT_EACH_TASK_GETS)
        code, printed = self.submit("--a", "b c", options=["--cpus-per-task=3"], program=echo)
        self.assertEqual(code, 0, printed)
        for task in (0, 1):
            self.assertIn(f"task {task}, 3 cores: train --resume_from auto --a b c", printed)

    def test_the_interactive_script_gives_each_task_its_cores(self):
        echo = self.script(SAY_WHAT_EACH_TASK_GETS)
        code, printed = self.call("bash", "slurm/interactive.sh", "--cpus-per-task=3", "--", "train",
                                  program=echo)
        self.assertEqual(code, 0, printed)
        for task in (0, 1):
            self.assertIn(f"task {task}, 3 cores: train", printed)

    def test_one_failing_task_ends_the_job(self):
        program = self.script("((SLURM_PROCID == 0)) || exec sleep 600\nexit 1\n")
        code, printed = self.submit(program=program, seconds=60)
        self.assertNotEqual(code, 0, printed)
        self.assertIn("task 0: Exited with exit code 1", printed)


if __name__ == "__main__":
    slurm_case.main(Cluster())
