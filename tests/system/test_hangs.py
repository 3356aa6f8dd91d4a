"""A rank that hangs, wherever: the whole job ends and says who and where."""

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


if __name__ == "__main__":
    harness.main()
