"""What of run.sh can be tested without a GPU: its comparisons, its verdicts, its words."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import logs  # noqa: E402
import machine  # noqa: E402
import nccl  # noqa: E402
import run  # noqa: E402
import speed  # noqa: E402
import training  # noqa: E402
from report import Deadline, Failed, NotPossible, Report  # noqa: E402


class InDirectory(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory(prefix="lockstep_gpu_script_")
        self.addCleanup(held.cleanup)
        self.directory = pathlib.Path(held.name)

    def log(self, name, losses, val_loss=0.5, accuracy=0.98):
        """A run of so many steps in one epoch."""
        run_directory = self.directory / name
        run_directory.mkdir()
        events = [{"event": "start", "global_batch": 32, "precision": "float64"}]
        for step, loss in enumerate(losses, 1):
            events.append({"event": "step", "global_step": step, "loss": loss, "skipped_steps": 0,
                           "images_per_second": 3200.0 * step})
        events.append({"event": "epoch", "epoch": 0, "global_step": len(losses), "train_loss": 1.0,
                       "val_loss": val_loss, "val_accuracy": accuracy})
        (run_directory / "log.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))
        return run_directory


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
        # 32 images a step at 3200, 6400 and 9600 images/s: 10, 5 and 3.3 ms.
        times = logs.step_milliseconds(self.log("one", [1.0, 1.0, 1.0]))
        self.assertEqual([round(time, 2) for time in times], [5.0, 3.33])

    def test_an_accuracy_too_low_fails(self):
        trainings = training.Trainings(FakeMachine(), self.directory)
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


class FakeMachine:
    knows_devices = True


class OldMachine:
    knows_devices = False


class Devices(unittest.TestCase):
    def test_a_program_that_knows_no_devices_still_trains_on_a_cpu(self):
        old = training.Trainings(OldMachine(), None)
        self.assertEqual(old.on("cpu", "mpi"), [])
        with self.assertRaisesRegex(NotPossible, "no --device"):
            old.on("cuda")
        self.assertEqual(training.Trainings(FakeMachine(), None).on("cuda", "nccl"),
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


class Processes(unittest.TestCase):
    def test_what_takes_too_long_is_ended_with_its_children(self):
        with tempfile.NamedTemporaryFile("r") as told:
            with self.assertRaisesRegex(Failed, "bash was ended after 1 s"):
                machine.run(["bash", "-c", f"setsid sleep 300 & echo $! >{told.name}; wait"], 1)
            child = int(told.read())
        stat = pathlib.Path(f"/proc/{child}/stat")
        self.assertTrue(not stat.exists() or stat.read_text().split()[2] == "Z")

    def test_a_training_gets_the_packs_libraries_before_torchs_and_the_machines(self):
        with tempfile.TemporaryDirectory() as directory:
            pack = pathlib.Path(directory)
            (pack / "manifest.json").write_text('{"glibc": "2.34"}')
            here = machine.Machine(pack, {"directories": ["/t/lib", "/n/lib"]}, sys.executable)
            os.environ["LOCKSTEP_BATCH_SIZE"] = "1"
            self.addCleanup(os.environ.pop, "LOCKSTEP_BATCH_SIZE")
            with unittest.mock.patch.dict(os.environ, LD_LIBRARY_PATH="/driver"):
                environment = here.environment()
        self.assertEqual(environment["LD_LIBRARY_PATH"], f"{pack}/lib:/t/lib:/n/lib:/driver")
        self.assertNotIn("LOCKSTEP_BATCH_SIZE", environment)


class Scripts(unittest.TestCase):
    @staticmethod
    def bash(script, *arguments, **environment):
        return subprocess.run(["bash", HERE / script, *arguments], capture_output=True, text=True,
                              timeout=60, env={**os.environ, **environment}, check=False)

    def test_help(self):
        for script, word in (("run.sh", "--deadline SECONDS"), ("pack.sh", "build/gpu-pack.tar.gz")):
            shown = self.bash(script, "--help")
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn(word, shown.stdout)
            self.assertNotIn("set -euo", shown.stdout)

    @unittest.skipIf(shutil.which("mpiexec.hydra") is None, "there is no mpiexec.hydra")
    def test_a_pack_holds_what_programs_need_but_glibc(self):
        with tempfile.TemporaryDirectory() as directory:
            build, pack = pathlib.Path(directory) / "build", pathlib.Path(directory) / "pack"
            build.mkdir()
            shutil.copy(os.path.realpath(sys.executable), build / "lockstep")
            shutil.copy(build / "lockstep", build / "liblockstep_cuda.so")
            (build / "CMakeCache.txt").write_text(f"LOCKSTEP_TORCH_ROOT:PATH={build}\n")
            (build / "version.py").write_text("__version__ = '2.11.0+cu130'\n")
            shown = self.bash("pack.sh", build, pack)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn("parts on NCCL are not possible", shown.stderr)
            manifest = json.loads((pack / "manifest.json").read_text())
            packed = {path.name for path in (pack / "lib").iterdir()}
            needed = {row.split()[0] for program in (build / "lockstep", shutil.which("mpiexec.hydra"))
                      for row in subprocess.run(["ldd", program], capture_output=True, text=True,
                                                check=False).stdout.splitlines() if "=> /" in row}
        self.assertEqual(manifest["torch"], "2.11.0+cu130")
        self.assertRegex(manifest["glibc"], r"^2\.\d+$")
        self.assertIn("libc.so.6", manifest["from_the_target"])
        self.assertFalse({"libc.so.6", "libm.so.6", "libstdc++.so.6"} & packed)
        of_glibc = {name for name in needed if name.startswith(("libc.", "libm.", "libresolv.", "libdl.",
                                                                "libpthread.", "librt.", "libutil."))}
        self.assertLessEqual(needed - of_glibc - {"libstdc++.so.6", "libgcc_s.so.1"}, packed)

    def test_a_build_that_is_not_there_is_said(self):
        shown = self.bash("pack.sh", "/nowhere")
        self.assertEqual(shown.returncode, 1)
        self.assertIn("/nowhere/lockstep is not there", shown.stderr)

    def test_a_python_that_is_not_there_is_said(self):
        shown = self.bash("run.sh", LOCKSTEP_GPU_PYTHON="/nowhere/python3")
        self.assertEqual(shown.returncode, 1)
        self.assertIn("there is no /nowhere/python3", shown.stderr)

    def test_without_torch_the_first_part_fails_and_a_result_is_written(self):
        with tempfile.TemporaryDirectory() as directory:
            (pathlib.Path(directory) / "torch.py").write_text("raise ImportError('none installed')")
            shown = self.bash("run.sh", "--output", directory, "--deadline", "50",
                              LOCKSTEP_GPU_PYTHON=sys.executable, PYTHONPATH=directory)
            result = json.loads((pathlib.Path(directory) / "result.json").read_text())
        self.assertEqual(shown.returncode, 1, shown.stderr)
        self.assertIn("none installed", result["parts"][0]["reason"])
        self.assertEqual(result["failed"], ["a machine and versions"])


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
                         [1, 2, 1, 2, 2, 2, 2])

    def test_with_one_gpu_only_what_needs_two_is_not_possible(self):
        outcomes, _ = self.with_gpus(1)
        self.assertEqual([part for part, (outcome, _) in outcomes.items() if outcome != "pass"],
                         ["b NCCL, 2 ranks", "h NCCL: the same at two ranks",
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


class PeerCase(InDirectory):
    def peer(self, program):
        """A Peer whose PyTorch is `program`, as Python text."""
        script = self.directory / "python"
        script.write_text(f"#!{sys.executable}\nimport sys\n{program}\n")
        script.chmod(0o755)

        class Here:
            python = str(script)
        made = speed.Peer(Here, scratch=self.directory)
        self.addCleanup(made.close)
        return made

    def test_answers_come_in_order_and_errors_and_an_end_are_failures(self):
        peer = self.peer("for line in sys.stdin:\n"
                         "  print('{\"seconds\": 2}' if 'eager' in line else '{\"error\": \"no gcc\"}')\n"
                         "  sys.stdout.flush()\n"
                         "  if 'last' in line: sys.exit('done')")
        for name in ("eager", "compiled", "eager last", "eager"):
            peer.ask(f"measure {name} 64 5")
        self.assertEqual(peer.answer(Deadline(30)), 2)
        with self.assertRaisesRegex(Failed, "measure compiled 64 5: no gcc"):
            peer.answer(Deadline(30))
        self.assertEqual(peer.answer(Deadline(30)), 2)
        with self.assertRaisesRegex(Failed, "PyTorch has ended: done"):
            peer.answer(Deadline(30))

    def measured(self, program):
        """Facts and failure of the part on step times where Lockstep takes 1, 2 and 3 ms a step."""
        facts, failure, peer = {}, None, self.peer(program)
        peer.prepare()
        trainings = training.Trainings(FakeMachine(), self.directory)
        with unittest.mock.patch.object(speed, "lockstep_milliseconds", autospec=True,
                                        return_value=[1.0, 2.0, 3.0]):
            try:
                speed.step_times(trainings, peer, Deadline(60), facts)
            except Failed as why:
                failure = str(why)
        return facts, failure

    def test_step_times_are_medians_in_milliseconds(self):
        # Blocks of 80 and 40 steps in 0.4 s: 5 and 10 ms a step.
        facts, failure = self.measured("for line in sys.stdin:\n"
                                       "  print('{\"seconds\": 0.4}', flush=True)")
        self.assertIsNone(failure)
        self.assertEqual(facts["ms a step of 64, Lockstep"], 2.0)
        self.assertEqual(facts["ms a step of 64, PyTorch eager"], 5.0)
        self.assertEqual(facts["ms a step of 512, PyTorch compiled, all"], [10.0, 10.0, 10.0])

    def test_where_pytorch_cannot_compile_the_rest_is_measured_and_the_part_fails(self):
        facts, failure = self.measured(
            "for line in sys.stdin:\n"
            "  bad = 'compiled' in line\n"
            "  print('{\"error\": \"no gcc\"}' if bad else '{\"seconds\": 0.4}', flush=True)")
        self.assertIn("no gcc", failure)
        self.assertEqual(facts["ms a step of 512, PyTorch eager"], 10.0)
        self.assertNotIn("ms a step of 64, PyTorch compiled", facts)

    def test_one_that_is_silent_is_not_waited_for_longer_than_there_is_time(self):
        peer = self.peer("sys.stdin.read()")
        peer.ask("measure eager 64 5")
        with self.assertRaisesRegex(Failed, "has not answered 'measure eager 64 5'"):
            peer.answer(Deadline(0.2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
