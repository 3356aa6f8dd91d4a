"""Losses, hashes, traces and accuracies: what counts as equal and as good enough."""

import unittest

import logs
import nccl
import training
from gpu_case import InDirectory, NewMachine
from report import Deadline, Failed, NotPossible


class Comparisons(InDirectory):
    def differ(self, tolerance, one, other):
        return logs.compare(logs.losses(one), logs.losses(other), tolerance)

    def test_losses_within_the_tolerance_pass_and_the_difference_is_told(self):
        one, other = self.log("one", [2.0, 1.0]), self.log("other", [2.0, 1.0 - 1e-9])
        self.assertAlmostEqual(self.differ(1e-8, one, other), 1e-9, delta=1e-12)

    def test_a_loss_beyond_the_tolerance_fails_by_name(self):
        one, other = self.log("one", [2.0, 1.0, 0.5]), self.log("other", [2.0, 1.0 + 3e-8, 0.5])
        with self.assertRaisesRegex(Failed, "loss at step 2.*3e-08.*1e-08 is allowed"):
            self.differ(1e-8, one, other)

    def test_the_tolerances_of_each_type_are_kept(self):
        for name, tolerance in training.TOLERANCE.items():
            one = self.log(f"{name} one", [2.0])
            within = self.log(f"{name} within", [2.0 * (1 - tolerance / 2)])
            beyond = self.log(f"{name} beyond", [2.0 * (1 - tolerance * 2)])
            self.differ(tolerance, one, within)
            with self.assertRaises(Failed):
                self.differ(tolerance, one, beyond)
        self.assertLessEqual(training.TOLERANCE["float64"], 1e-8)
        self.assertLessEqual(training.TOLERANCE["float32"], 5e-3)

    def test_validation_losses_are_compared_too(self):
        with self.assertRaisesRegex(Failed, "val_loss of epoch 0"):
            self.differ(1e-8, self.log("one", [2.0]), self.log("other", [2.0], val_loss=0.6))

    def test_a_nan_or_a_null_on_one_side_alone_is_a_difference(self):
        for bad in (float("nan"), float("inf"), None):
            with self.assertRaises(Failed):
                logs.compare({"loss": 1.0}, {"loss": bad}, 1e9)
            with self.assertRaises(Failed):
                logs.compare({"loss": float("nan")}, {"loss": bad if bad != bad else 1.0}, 1e9)

    def test_a_nan_is_found_behind_equal_losses(self):
        with self.assertRaisesRegex(Failed, "b: 1.0 and nan"):
            logs.compare({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": float("nan")}, 0.5)

    def test_missing_steps_and_too_few_of_them_are_failures(self):
        one, other = self.log("one", [2.0, 1.0]), self.log("other", [2.0])
        with self.assertRaisesRegex(Failed, "only one of the two has loss at step 2"):
            self.differ(1e-8, one, other)
        with self.assertRaisesRegex(Failed, "4 numbers to compare where 20 are needed"):
            logs.compare(logs.losses(one), logs.losses(one), 1e-8, at_least=20)
        with self.assertRaisesRegex(Failed, "is not there"):
            logs.losses(self.directory / "nowhere")

    def test_only_the_half_after_a_resume_is_compared(self):
        self.assertEqual(logs.losses(self.log("one", [3.0, 2.0, 1.0]), 3),
                         {"loss at step 3": 1.0, "train_loss of epoch 0": 1.0,
                          "val_loss of epoch 0": 0.5})


INSPECTED = """run/checkpoints/step.h5
  epochs_done = 4
/config: dataset = synthetic
3 data sets, 28 bytes:
  /meters/train_seconds  float64 [1]  8 bytes  xxh3 {time}  s
  /model/fc.bias         float32 [4]  16 bytes  xxh3 {bias}
  /sampler/epoch         int64 []  8 bytes  xxh3 00000000000000000000000000000001  epochs
"""


class Hashes(unittest.TestCase):
    @staticmethod
    def of(bias="b", time="a"):
        return logs.hashes(INSPECTED.format(bias=32 * bias, time=32 * time))

    def test_equal_contents_pass_whatever_the_times(self):
        self.assertEqual(logs.compare_hashes(self.of(time="a"), self.of(time="c")), 2)

    def test_one_other_bit_fails_by_name(self):
        with self.assertRaisesRegex(Failed, "1 of 2 data sets differ: /model/fc.bias"):
            logs.compare_hashes(self.of("b"), self.of("c"))

    def test_a_file_without_hashes_proves_nothing(self):
        without = logs.hashes(INSPECTED.replace("  xxh3 ", "  "))
        with self.assertRaisesRegex(Failed, "no weights"):
            logs.compare_hashes(without, without)


class OtherChecks(InDirectory):
    def test_a_trace_counts_kernels_and_anything_else_is_none(self):
        path = self.directory / "rank_0.json"
        path.write_text('{"traceEvents": [{"cat": "cpu_op"}, {"cat": "kernel"}, {"cat": "kernel"}]}')
        self.assertEqual(logs.trace_summary(path), (3, 2))
        path.write_text("{")
        with self.assertRaisesRegex(Failed, "is no trace"):
            logs.trace_summary(path)

    def test_milliseconds_a_step_leave_the_first_block_out(self):
        # The steps end 1.01, 1.04 and 1.09 s after the beginning.
        times = logs.step_milliseconds(self.log("one", [1.0, 1.0, 1.0]))
        self.assertEqual([round(time, 2) for time in times], [30.0, 50.0])

    def test_an_accuracy_too_low_fails(self):
        trainings = training.Trainings(NewMachine(), self.directory)
        for accuracy, expected in ((0.98, None), (0.96, Failed)):
            trainings._done["digits-bf16"] = self.log(f"a{accuracy}", [1.0], accuracy=accuracy)
            if expected:
                with self.assertRaisesRegex(expected, "0.9600, where 0.97"):
                    training.digits(trainings, "bf16", Deadline(9), {})
            else:
                training.digits(trainings, "bf16", Deadline(9), {})

    def test_facts_and_reasons_are_read_from_googletest(self):
        text = ("[ RUN      ] NcclFacts.Sums\nnccl.cpp:9: Skipped\nno GPU here: none\n\n"
                "FACT max of 1 and a NaN = NaN, NaN\n[  SKIPPED ] NcclFacts.Sums (0 ms)\n")
        self.assertEqual(nccl.facts_in(text), {"max of 1 and a NaN": "NaN, NaN"})
        self.assertEqual(nccl.skip_reason(text), "no GPU here: none")

    def test_two_ranks_on_one_gpu_are_not_possible(self):
        nccl.require_devices(2, 2)
        with self.assertRaisesRegex(NotPossible, "2 ranks need 2 GPUs.*here is 1"):
            nccl.require_devices(2, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
