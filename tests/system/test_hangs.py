"""A rank that hangs, wherever: the whole job ends and says who and where."""

import concurrent.futures

import harness
from fault_case import HANG_TIMEOUT, HOST, FaultTestCase


class Hangs(FaultTestCase):
    def test_a_main_thread_that_stands_still(self):
        self.check_kind("stall")

    def test_a_stopped_process(self):
        self.check_kind("stop")

    def test_rank_zero_is_no_exception(self):
        result = self.run_with("rank=0,phase=step,step=2,kind=stop", "run", "--hang_timeout",
                               HANG_TIMEOUT)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn(f"[rank 1] watchdog on {HOST}: rank 0 ({HOST}) stands still", result.stderr)
        self.assertIn("in phase step, step 2", result.stderr)

    def test_eval_and_predict_are_watched_too(self):
        self.train(2, "trained", "--epochs", 1)
        # Step 1 of the evaluation is its first batch, step 0 the way there.
        cases = (("eval", "setup", 0), ("eval", "evaluate", 1), ("predict", "evaluate", 1),
                 ("predict", "finish", 0))

        def run(case):
            name, phase, step = case
            return harness.run(2, "--checkpoint", self.directory / "trained", "--hang_timeout",
                               HANG_TIMEOUT, "--fault", f"rank=1,phase={phase},step={step},kind=stall",
                               name=name, cwd=self.directory)

        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            results = list(pool.map(run, cases))
        for (name, phase, step), result in zip(cases, results):
            with self.subTest(name=name, phase=phase):
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(f"rank 1 ({HOST}) stands still in phase {phase}, step {step}",
                              result.stderr)
        self.assert_nobody_left()


if __name__ == "__main__":
    harness.main()
