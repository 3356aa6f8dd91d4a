"""Whatever goes wrong on one rank, wherever: the whole job ends and says who, where and why."""

import harness
from fault_case import HOST, FaultTestCase


class Deaths(FaultTestCase):
    def test_an_exception(self):
        self.check_kind("throw")

    def test_no_memory(self):
        self.check_kind("bad_alloc")

    def test_a_wild_pointer(self):
        self.check_kind("segv")

    def test_an_abort(self):
        self.check_kind("abort")

    def test_a_killed_rank(self):
        self.check_kind("kill")

    def test_rank_zero_is_no_exception(self):
        for kind in ("throw", "segv"):
            result = self.run_with(f"rank=0,phase=step,step=2,kind={kind}", kind)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(f"[rank 0] on {HOST}", result.stderr)
            self.assertIn("phase step, step 2", result.stderr)

    def test_writes_that_fail_end_all_and_name_the_file(self):
        for write in ("async", "sync"):
            result = self.run_with("rank=0,phase=checkpoint,kind=write_error", write,
                                   "--checkpoint_write", write)
            self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
            # Metrics are written first, and may still be on their way then.
            self.assertRegex(result.stderr, rf"'{self.directory}/{write}/"
                             r"(checkpoints/step_\d+|metrics)\.h5\.tmp'.*File too large")

    def test_samples_that_are_nan_on_one_rank_make_all_skip_the_step(self):
        result = self.run_with("rank=1,phase=step,step=2,kind=nan", "run")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("step 2 skipped", result.stdout)
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        self.assertEqual(metrics["epoch/skipped_steps"].tolist(), [1, 1])

    def test_a_fault_that_makes_no_sense_is_refused(self):
        result = self.run_with("phase=step,kind=thrw", "run")
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertIn("did you mean 'throw'", result.stderr)
        self.assertFalse((self.directory / "run").exists())

    def test_a_fault_is_not_repeated_by_the_written_configuration(self):
        self.run_with("rank=1,phase=step,step=2,kind=nan", "run")
        self.assertNotIn("fault", (self.directory / "run" / "config.ini").read_text())


if __name__ == "__main__":
    harness.main()
