"""Jobs that end before their training and go on by themselves, on a real two-node Slurm of its own.

usage: python3 tests/slurm/requeue_test.py PROGRAM     (exit code 77: skipped, with its reason)
"""

import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

from cluster import Cluster, descendants, obstacle

SKIPPED = 77
SECONDS_IN_ALL = 570  # less than ctest allows, so that the cluster is taken down in every case
PATIENCE = 120
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/lockstep").resolve()
# A run that would never end by itself.
ENDLESS = ["--dataset", "synthetic", "--synthetic_size", "64", "--synthetic_val_size", "0",
           "--image_size", "8", "--in_channels", "1", "--width", "8", "--batch_size", "8",
           "--threads", "1", "--num_workers", "1", "--log_interval", "1", "--no-use_amp",
           "--epochs", "1000000", "--save_every", "0", "--eval_every", "0"]


class FailingCluster(Cluster):
    def fail_node(self, name):
        """The node is gone with all that ran on it; then it comes back, empty."""
        daemon = next(one for one in self._daemons if one.args[0] == "slurmd" and name in one.args)
        daemon.kill()
        daemon.wait()
        self._daemons.remove(daemon)
        tasks = [process for process in descendants(os.getpid())
                 if f"SLURMD_NODENAME={name}" in words_of(process, "environ")]
        subprocess.run(["scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=test"],
                       env=self.environment, timeout=30, check=True)
        for task in tasks:
            try:
                os.kill(task, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._daemon("slurmd", "-D", "-c", "-N", name)


def words_of(process, what):
    """Its environment (environ) or arguments (cmdline); none where it has ended."""
    try:
        return pathlib.Path(f"/proc/{process}/{what}").read_bytes().decode().split("\0")
    except OSError:
        return []


def step_daemons(job):
    """The processes of slurmd's that keep a job's steps."""
    return [process for process in descendants(os.getpid())
            if any(f"slurmstepd: [{job}." in word for word in words_of(process, "cmdline"))]


class RequeueTest(unittest.TestCase):
    cluster = None  # running while the tests do

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="lockstep-requeue-test-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.addCleanup(self.cancel_all)

    def call(self, *command, program=PROGRAM, check=True, **more):
        done = subprocess.run([str(part) for part in command], cwd=ROOT, text=True,
                              env={**self.cluster.environment, "LOCKSTEP": str(program), **more},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
        if check:
            self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def cancel_all(self):
        self.call("scancel", "--user=root", "--signal=KILL", "--full", check=False)
        self.call("scancel", "--user=root", check=False)
        self.wait(lambda: not self.call("squeue", "--noheader", check=False).strip(), "an empty queue")

    def submit(self, *arguments, options=(), **how):
        said = self.call("sbatch", "--parsable", f"--output={self.directory}/job-%a.out", *options,
                         "slurm/train.sbatch", *arguments, **how)
        return said.strip().split(";")[0]

    def wait(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                outputs = "\n".join(path.read_text() for path in self.directory.glob("*.out"))
                self.fail(f"no {what} in {PATIENCE} s; the jobs said:\n{outputs[-5000:]}\n"
                          + self.call("scontrol", "show", "jobs", check=False))
            time.sleep(0.1)

    def job(self, job):
        """Slurm's fields of a job, by name."""
        said = self.call("scontrol", "--oneliner", "show", "job", job, check=False)
        return dict(re.findall(r"(\w+)=(\S*)", said.splitlines()[0])) if said else {}

    def log(self, run="run"):
        path = self.directory / run / "log.txt"
        return path.read_text() if path.exists() else ""

    def note(self, run="run"):
        return json.loads((self.directory / run / "stop.json").read_text())

    def wait_for_steps(self, run="run", starts=1):
        """Until the job has trained in its `starts`-th life."""
        self.wait(lambda: re.search(r"step +\d+", self.log(run).split("Lockstep ")[-1]) and
                  self.log(run).count("Lockstep ") == starts, f"steps of start {starts}")

    def hasten(self, job):
        """A requeued job would wait for two minutes."""
        self.wait(lambda: self.job(job).get("JobState") == "PENDING", "requeued job")
        # Slurm's own steps of the life before take the sockets of their names with them as they end.
        number = self.job(job)["JobId"]
        self.wait(lambda: not step_daemons(number), "end of the job's steps")
        # Not at once: its credentials of the same second have been revoked.
        self.call("scontrol", "update", f"JobId={job}", "StartTime=now+2")

    def wait_for_restart(self, job, run="run", starts=2):
        self.hasten(job)
        self.wait(lambda: self.log(run).count("Lockstep ") == starts, f"start {starts} of the job")
        self.wait_for_steps(run, starts)

    def stop_and_compare(self, job, run="run"):
        """Ends the job for good; what it came to is what a run without interruption comes to."""
        import h5py  # here, so that where Slurm is missing nothing else is asked for

        self.call("scancel", job)
        self.wait(lambda: self.job(job).get("JobState") in ("CANCELLED", None), "end of the job")
        self.wait(lambda: not self.call("squeue", "--noheader").strip(), "an empty queue")
        # A signal may stop it just before an epoch's end is done, max_steps never does.
        step = self.note(run)["step"] + 1
        for directory, way in ((run, ["--resume_from", "auto"]), ("straight", [])):
            self.call("srun", "--nodes=2", "--ntasks-per-node=1", PROGRAM, "train", *ENDLESS, *way,
                      "--max_steps", step, "--output_dir", self.directory / directory)
        name = f"checkpoints/step_{step:012d}.h5"
        compared = 0
        with h5py.File(self.directory / run / name) as one, \
                h5py.File(self.directory / "straight" / name) as other:
            for group in ("model", "optimizer", "sampler", "rng"):
                def compare(path, item, group=group):
                    nonlocal compared
                    if isinstance(item, h5py.Dataset):
                        compared += 1
                        self.assertEqual(item[()].tobytes(), other[group][path][()].tobytes(), path)
                one[group].visititems(compare)
        self.assertGreater(compared, 20)

    def test_the_time_limit_stops_the_job_and_it_goes_on_by_itself(self):
        job = self.submit(*ENDLESS, "--stop_margin", "24", "--output_dir", self.directory / "run",
                          options=["--signal=CONT@1"])  # no warning by Slurm, which may come a minute early
        self.wait_for_steps()
        # Nearer than when the job began, and the program is to notice.
        self.call("scontrol", "update", f"JobId={job}", "EndTime=now+25")
        self.wait(lambda: "stopping for the job's time limit" in self.log(), "stop")
        self.wait_for_restart(job)
        self.assertEqual(self.job(job)["Restarts"], "1")
        self.assertRegex(self.log().split("Lockstep ")[-1], r"resumed from \S+ at epoch")
        self.stop_and_compare(job)

    def test_a_node_that_fails_does_not_end_the_training(self):
        job = self.submit(*ENDLESS, "--save_every_steps", "1", "--output_dir",
                          self.directory / "run")
        self.wait_for_steps()
        self.wait(lambda: len(list((self.directory / "run/checkpoints").glob("step_*.h5"))) > 1,
                  "checkpoints")
        self.cluster.fail_node("n2")
        self.wait_for_restart(job)
        self.assertRegex(self.log().split("Lockstep ")[-1], r"resumed from \S+ at epoch")
        self.stop_and_compare(job)

    def test_of_a_job_array_only_the_task_that_stopped_is_requeued(self):
        array = self.submit(*ENDLESS, "--output_dir", f"{self.directory}/run%a",
                            options=["--array=1-2", "--nodes=1", "--ntasks-per-node=1",
                                     "--cpus-per-task=1"])
        for task in (1, 2):
            self.wait_for_steps(f"run{task}")
        # The one whose plain number is the array's, which would requeue all.
        same = next(task for task in (1, 2) if self.job(f"{array}_{task}")["JobId"] == array)
        other = 3 - same
        self.call("scancel", "--signal=USR1", f"{array}_{same}")
        self.wait_for_restart(f"{array}_{same}", f"run{same}")
        self.assertEqual(self.job(f"{array}_{same}")["Restarts"], "1")
        self.assertEqual(self.job(f"{array}_{other}")["Restarts"], "0")
        self.assertEqual(self.log(f"run{other}").count("Lockstep "), 1)

    def test_a_cancelled_job_stays_cancelled(self):
        job = self.submit(*ENDLESS, "--output_dir", self.directory / "run")
        self.wait_for_steps()
        self.call("scancel", job)
        self.wait(lambda: self.job(job).get("JobState") == "CANCELLED", "cancelled job")
        self.wait(lambda: not self.call("squeue", "--noheader").strip(), "an empty queue")
        self.assertEqual(self.note()["reason"], "SIGTERM")
        self.assertNotIn("requeueing", (self.directory / "job-4294967294.out").read_text())

    def fake_program(self, step, code=75):
        """A program that ends at once, as it says always after the same step. As with the real one
        all tasks leave together and with their own code, though srun tells the last ones to stop."""
        path = self.directory / "program.sh"
        arrived = f"{self.directory}/run/arrived-${{SLURM_RESTART_COUNT:-0}}"
        path.write_text("#!/usr/bin/env bash\n"
                        "trap '' TERM\n"
                        f"if [[ $* = *--print_config* ]]; then echo 'output_dir  = {self.directory}"
                        "/run  # command line'; exit; fi\n"
                        f"mkdir -p {self.directory}/run\n"
                        f"echo '{{\"step\": {step}, \"restart\": true}}' >{self.directory}"
                        f"/run/stop.json\necho ran >{arrived}-$SLURM_PROCID\n"
                        f"until [ $(cat {arrived}-* | wc -l) = $SLURM_NTASKS ]; do sleep 0.1; done\n"
                        f"exit {code}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def said(self):
        return "\n".join(path.read_text() for path in self.directory.glob("*.out"))

    def test_a_job_without_progress_is_tried_thrice_more_and_then_ends(self):
        job = self.submit("--output_dir", "run", program=self.fake_program(7))
        for tries in range(1, 4):
            self.wait(lambda: self.said().count("requeueing job") == tries, f"requeue {tries}")
            self.hasten(job)
        self.wait(lambda: "no step was done in 3 restarts (step 7)" in self.said(),
                  "end of the loop")
        self.assertEqual(self.said().count("requeueing job"), 3)
        self.wait(lambda: self.job(job).get("JobState") == "FAILED", "failed job")

    def test_restarts_are_limited(self):
        job = self.submit("--output_dir", "run", program=self.fake_program(7), MAX_RESTARTS="0")
        self.wait(lambda: self.job(job).get("JobState") == "FAILED", "failed job")
        self.assertIn("not requeued: restarted 0 times (MAX_RESTARTS)", self.said())
        self.assertEqual(self.job(job)["ExitCode"], "75:0")

    def test_wrong_usage_is_not_tried_again_whatever_an_older_stop_says(self):
        job = self.submit("--output_dir", "run", program=self.fake_program(7, code=2))
        self.wait(lambda: self.job(job).get("JobState") == "FAILED", "failed job")
        self.assertIn("exit code 2: wrong usage", self.said())
        self.assertNotIn("requeueing", self.said())
        self.assertEqual(self.job(job)["Restarts"], "0")


def give_up(number, _):
    print(f"stopped by {signal.Signals(number).name} ({SECONDS_IN_ALL} s are allowed)", flush=True)
    raise KeyboardInterrupt  # an Exception would count as a failure of one test, and the next begin


if __name__ == "__main__":
    if obstacle():
        print(f"skipped: {obstacle()}")
        sys.exit(SKIPPED)
    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGTERM, give_up)
    signal.alarm(SECONDS_IN_ALL)
    with FailingCluster() as RequeueTest.cluster:  # out here it is ended whatever ends the tests
        tests = unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2, exit=False)
    sys.exit(not tests.result.wasSuccessful())
