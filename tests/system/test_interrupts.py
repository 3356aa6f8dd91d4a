"""Ctrl-C, whenever it comes: one plain line, exit code 75, and nothing that was there is lost."""

import json
import os
import signal
import subprocess

import harness

FAULTY = os.environ["LOCKSTEP_FAULTY_PROGRAM"]
DATA = ["--dataset", "faulty", "--epochs", "1"]


class BeforeAnythingIsWritten(harness.RunTestCase):
    def interrupted(self, ranks, name, *arguments, **environment):
        """A run of `name` that is interrupted where `environment` says, and says so in one line."""
        before = harness.tree_digest(self.directory)
        result = subprocess.run(
            harness.command(ranks, *arguments, name=name, program=FAULTY),
            cwd=self.directory, env={**harness.environment(), **environment},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * harness.PATIENCE)
        self.assertEqual(result.returncode, 75, result.stdout + result.stderr)
        said = [line for line in result.stdout.splitlines() if not line.startswith("warning: ")]
        self.assertEqual(said, [])
        self.assertEqual(harness.tree_digest(self.directory), before)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        return result.stderr

    def run_of_faulty_data(self):
        result = subprocess.run(
            harness.command(0, *harness.SMALL, *DATA, "--output_dir", self.directory / "run",
                            program=FAULTY),
            env=harness.environment(), capture_output=True, text=True, timeout=harness.DEADLINE)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_one_ranks_interrupt_while_data_is_read_ends_all_before_the_training(self):
        for ranks, rank in ((0, 0), (2, 0), (3, 2)):
            said = self.interrupted(ranks, "train", *harness.SMALL, *DATA, "--output_dir", "run",
                                    FAULTY_INTERRUPTED_RANK=str(rank))
            self.assertEqual(said, "lockstep: interrupted by SIGINT before the training began; "
                                   "nothing was written, and the same command starts it again\n")

    def test_a_run_that_was_to_be_overwritten_or_gone_on_with_stays(self):
        self.run_of_faulty_data()
        for how in (["--overwrite"], ["--resume_from", "auto", "--epochs", "2", "--new_horizon"]):
            said = self.interrupted(2, "train", *harness.SMALL, *DATA, *how, "--output_dir", "run",
                                    FAULTY_INTERRUPTED_RANK="1")
            self.assertIn("before the training began", said)

    def test_eval_and_predict_end_without_a_result(self):
        self.run_of_faulty_data()
        for ranks, name in ((0, "eval"), (2, "eval"), (0, "predict"), (3, "predict")):
            for where in ("FAULTY_INTERRUPTED_RANK", "FAULTY_INTERRUPT"):
                said = self.interrupted(ranks, name, "--checkpoint", "run", **{where: "0"})
                self.assertEqual(said, "lockstep: interrupted by SIGINT before there was a result; "
                                       "nothing was written, and the same command starts it again\n")


class WhileValidating(harness.RunTestCase):
    # Only the validation has a sample of this number.
    FAULTY = ["--dataset", "faulty", "--synthetic_val_size", "400", "--epochs", "2"]

    def train(self, ranks, output, expect, *arguments, **environment):
        result = subprocess.run(
            harness.command(ranks, *harness.SMALL, *self.FAULTY, "--output_dir",
                            self.directory / output, *arguments, program=FAULTY),
            env={**harness.environment(), **environment}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60 * harness.PATIENCE)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result.stdout

    def test_an_interrupt_stops_the_validation_and_the_resumed_run_repeats_it(self):
        self.train(2, "straight", 0)
        output = self.train(2, "parts", 75, FAULTY_INTERRUPT="60")
        self.assertIn("stopping for SIGINT after step", output)
        self.assertNotIn("epoch 1/2 done", output)
        first_epochs_end = min((self.directory / "straight/checkpoints").glob("step_*.h5"))
        self.assertEqual(self.checkpoint("parts").name, first_epochs_end.name)
        self.train(2, "parts", 0, "--resume_from", "auto")
        self.assert_same_datasets(self.directory / "straight/metrics.h5",
                                  self.directory / "parts/metrics.h5")
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("parts"))


class InMidTraining(harness.LongRunTestCase):
    def test_a_terminals_interrupt_stops_with_a_checkpoint(self):
        for ranks in (0, 2):
            process = self.start(ranks, "--epochs", 100000, "--save_every", 0, "--overwrite")
            os.killpg(process.pid, signal.SIGINT)
            output, errors = process.communicate(timeout=60 * harness.PATIENCE)
            # MPICH 4.0.2's mpiexec, when it is interrupted itself, now and then loses the ranks' code.
            self.assertIn(process.returncode, (75,) if ranks == 0 else (75, 0), output + errors)
            self.assertIn("stopping for SIGINT", output)
            self.assertTrue(self.checkpoint("run").is_file())
            self.assertTrue(json.loads((self.directory / "run/stop.json").read_text())["restart"])
            (self.directory / "run" / "metrics.h5").unlink()  # what start() waits for


if __name__ == "__main__":
    harness.main()
