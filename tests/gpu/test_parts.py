"""Which parts are run, with which time, and what is said of each."""

import contextlib
import unittest
import unittest.mock

import nccl
import run
import speed
import training
from gpu_case import InDirectory, NewMachine
from report import Deadline, Failed, NotPossible, Report


class OldMachine:
    knows_devices = False


class Devices(unittest.TestCase):
    def test_a_program_that_knows_no_devices_still_trains_on_a_cpu(self):
        old = training.Trainings(OldMachine(), None)
        self.assertEqual(old.on("cpu", "mpi"), [])
        with self.assertRaisesRegex(NotPossible, "no --device"):
            old.on("cuda")
        self.assertEqual(training.Trainings(NewMachine(), None).on("cuda", "nccl"),
                         ["--device", "cuda", "--backend", "nccl"])


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.now = 0.0
        self.said = []
        self.report = Report(Deadline(100, lambda: self.now), self.said.append)

    def test_each_part_gets_no_more_than_is_left(self):
        seconds = []
        self.report.run("a", 60, lambda deadline, facts: seconds.append(deadline.left()))
        self.now = 70.0
        self.report.run("b", 60, lambda deadline, facts: seconds.append(deadline.left()))
        self.assertEqual(seconds, [60.0, 30.0])

    def test_the_rest_goes_on_after_a_failure_and_it_is_told(self):
        def raising(error):
            def part(_deadline, _facts):
                raise error
            return part
        self.report.run("good", 1, lambda deadline, facts: facts.update(answer=42))
        self.report.run("bad", 1, raising(Failed("2 is not 3")))
        self.report.run("broken", 1, raising(KeyError("loss")))
        self.report.run("none", 1, raising(NotPossible("no GPU here")))
        self.assertEqual([result["outcome"] for result in self.report.results],
                         ["pass", "fail", "fail", "not possible"])
        self.assertEqual(self.report.failed(), ["bad", "broken"])
        self.assertIn("2 is not 3", self.report.table())
        self.assertIn("    answer: 42", self.said)

    def test_without_time_a_part_fails_and_is_not_begun(self):
        self.now = 101.0
        self.report.run("late", 60, lambda *_: self.fail("begun"))
        self.assertEqual(self.report.results[0]["reason"], "no time was left")
        self.assertEqual(self.report.failed(), ["late"])


class Parts(InDirectory):
    def everything(self):
        class Arguments:
            deadline, only, output = 100, "", self.directory
        made = run.Run(Arguments)
        self.addCleanup(made.finish)
        made.report = Report(made.deadline, lambda text: None)
        made.look_around = lambda deadline, facts: None
        return made

    def with_gpus(self, count, told="one, Default"):
        """What the parts are asked for where there are GPUs, all of them passing."""
        everything, called = self.everything(), {}
        with contextlib.ExitStack() as patches:
            for module, names in ((training, ("cpu_ranks", "equals_cpu", "digits", "across", "bitwise",
                                              "trace")),
                                  (nccl, ("launch",)), (speed, ("step_times", "Peer"))):
                for name in names:
                    called[name] = patches.enter_context(
                        unittest.mock.patch.object(module, name, autospec=True, return_value=None))
            called["launch"].return_value = "[       OK ] A\nFACT a = b\n"
            called["Peer"].return_value = unittest.mock.Mock()
            patches.enter_context(unittest.mock.patch.object(run, "devices", return_value=["H"] * count))
            patches.enter_context(unittest.mock.patch.object(run, "nvidia_smi", return_value=told))
            everything.all_parts()
        outcomes = {result["part"]: (result["outcome"], result["reason"])
                    for result in everything.report.results}
        return outcomes, called

    def test_with_two_gpus_every_part_is_asked_for(self):
        outcomes, called = self.with_gpus(2)
        self.assertEqual({outcome for outcome, _ in outcomes.values()}, {"pass"}, outcomes)
        compared = [(*call.args[1:3], *call.args[5:]) for call in called["equals_cpu"].call_args_list]
        self.assertEqual(compared, [("float64", "group", False), ("float64", "batch", False),
                                    ("float32", "batch", False), ("float32", "batch", True)])
        self.assertEqual([call.args[1] for call in called["digits"].call_args_list], ["bf16", "fp16"])
        self.assertEqual([call.args[1:3] for call in called["across"].call_args_list],
                         [("cuda", "cpu"), ("cpu", "cuda")])
        self.assertEqual([call.args[1] for call in called["launch"].call_args_list],
                         [1, 2, 2, 2, 2, 2])

    def test_with_one_gpu_only_what_needs_two_is_not_possible(self):
        outcomes, _ = self.with_gpus(1)
        self.assertEqual([part for part, (outcome, _) in outcomes.items() if outcome != "pass"],
                         ["b NCCL, 2 ranks", "h NCCL: threads and time of a launch",
                          "h NCCL: sums equal on all ranks", "h NCCL: NaN in max and min",
                          "h NCCL: abort with a stuck kernel"])

    def test_a_gpu_for_one_process_at_a_time_is_not_shared(self):
        outcomes, called = self.with_gpus(2, "one, Exclusive_Process")
        self.assertEqual(outcomes["i step time beside PyTorch"][0], "not possible")
        called["Peer"].assert_not_called()

    def test_every_part_on_a_gpu_says_why_it_is_not_possible(self):
        everything = self.everything()
        none = NotPossible("no GPU here: torch sees none")
        with unittest.mock.patch.object(run, "devices", side_effect=none):
            everything.all_parts()
        rest = {r["part"]: r for r in everything.report.results if not r["part"].startswith(("a m", "b two"))}
        self.assertEqual({name[0] for name in rest}, set("abcdefghi"))
        for result in rest.values():
            self.assertEqual((result["outcome"], result["reason"]),
                             ("not possible", "no GPU here: torch sees none"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
