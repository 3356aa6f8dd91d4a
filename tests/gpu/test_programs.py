"""What is started: the scripts, the pack, PyTorch beside them, and the end of what takes too long."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import machine
import speed
import training
from gpu_case import InDirectory, NewMachine
from report import Deadline, Failed

HERE = pathlib.Path(__file__).resolve().parent


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
        trainings = training.Trainings(NewMachine(), self.directory)
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
