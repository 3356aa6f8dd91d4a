"""Every rank calls the same collectives in the same order, and leaves HDF5 empty before MPI ends."""

import os
import subprocess

import harness

WATCHED = os.environ["LOCKSTEP_WATCHED_PROGRAM"]

# All that a step, an epoch's end and a file may ask for, with uneven shares on 2 and 3 ranks.
EVERYTHING = [*harness.SMALL, "--epochs", "2", "--synthetic_size", "41", "--synthetic_val_size", "7",
              "--grad_accum_steps", "2", "--batch_size", "4", "--max_grad_norm", "1", "--ema_decay",
              "0.9", "--normalize", "data", "--keep_last", "1"]


class Collectives(harness.RunTestCase):
    def watch(self, ranks, name, *arguments, code=0):
        """Runs a command and returns, a rank each, what it called of MPI and left open of HDF5."""
        reports = self.directory / "watched"
        reports.mkdir(exist_ok=True)
        for old in reports.iterdir():
            old.unlink()
        result = subprocess.run(
            harness.command(ranks, *arguments, name=name, program=WATCHED),
            env={**harness.environment(), "WATCHED_DIRECTORY": str(reports)},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=harness.DEADLINE)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return [(reports / f"rank_{rank}.txt").read_text().splitlines() for rank in range(ranks)]

    def assert_in_step(self, reports, *calls):
        for rank, report in enumerate(reports):
            self.assertEqual(report[:2], ["open when HDF5 ended: 0", "open when MPI ended: 0"])
            self.assertEqual(report, reports[0], f"rank {rank} differs from rank 0")
            for call in calls:
                self.assertTrue(any(call in line for line in report), call)

    def test_training_with_all_that_belongs_to_it(self):
        for ranks in (2, 3):
            run = self.directory / f"run{ranks}"
            train = [*EVERYTHING, "--output_dir", run]
            self.assert_in_step(self.watch(ranks, "train", *train, "--stop_after_epochs", "1"),
                                "Iallreduce", "File_write_at_all", "File_close", "Comm_split_type")
            self.assert_in_step(self.watch(ranks, "train", *train, "--resume_from", "auto"),
                                "File_write_at_all")
            self.assert_in_step(self.watch(ranks, "eval", "--checkpoint", run), "Iallreduce")
            self.assert_in_step(self.watch(ranks, "predict", "--checkpoint", run, "--predictions",
                                           self.directory / "scores.h5"), "File_write_at_all")

    def test_runs_that_are_refused_or_fail(self):
        (self.directory / "garbage.h5").write_bytes(b"no checkpoint" * 1000)
        (self.directory / "file").write_text("no directory")
        for arguments, code in (
                (["--resume_from", self.directory / "garbage.h5"], 2),
                (["--output_dir", self.directory / "file" / "run"], 2),
                (["--lr", "1e30", "--max_skipped_steps", "1"], 1)):
            self.assert_in_step(self.watch(2, "train", *EVERYTHING, "--output_dir",
                                           self.directory / "run", *arguments, code=code))


if __name__ == "__main__":
    harness.main()
