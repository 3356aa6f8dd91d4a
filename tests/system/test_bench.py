"""`lockstep bench`: what it prints and writes, and how it refuses."""

import json
import os
import signal
import subprocess

import harness

STAND_IN = os.environ["LOCKSTEP_STAND_IN_PROGRAM"]
SHORT = ["--blocks", 2, "--block_seconds", 0.05, "--largest_message", 1, "--file_size", 1]


class Bench(harness.RunTestCase):
    def bench(self, ranks, *arguments, expect=0):
        result = harness.run(ranks, *arguments, name="bench", cwd=self.directory)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result

    def test_measures_and_writes_what_it_printed(self):
        for what, count in (("step", 5), ("allreduce", 5), ("loader", 3), ("checkpoint", 4),
                            ("scaling", 21)):
            with self.subTest(what):
                result = self.bench(2, what, *SHORT, *harness.SMALL,
                                    "--json", f"{what}.json")
                written = json.loads((self.directory / f"{what}.json").read_text())
                self.assertEqual(written["measurement"], what)
                self.assertEqual(written["ranks"], "2 ranks on 1 node")
                self.assertEqual(len(written["figures"]), count)
                for figure in written["figures"]:
                    self.assertEqual(len(figure["blocks"]), 2)
                    self.assertEqual(figure["median"], sum(figure["blocks"]) / 2)
                    self.assertIn(figure["name"], result.stdout)
        self.assertEqual(sorted(path.name for path in self.directory.iterdir()),
                         ["allreduce.json", "checkpoint.json", "loader.json", "scaling.json",
                          "step.json"])

    def test_scaling_projects_with_the_link_it_is_given(self):
        result = self.bench(0, "scaling", *SHORT, *harness.SMALL, "--link_latency", 2,
                            "--link_bandwidth", 10, "--json", "scaling.json")
        self.assertNotIn("waiting ranks", result.stdout)
        figures = json.loads((self.directory / "scaling.json").read_text())["figures"]
        self.assertEqual(len(figures), 11)
        alone, *projected = [figure["median"] for figure in figures]
        self.assertEqual(sorted(projected[::2]), projected[::2])  # longer rings
        # Of a message by 2 x 1023 links, which nothing hides, the last one's latency remains.
        self.assertGreater(projected[-2] - alone, 2 * 1023 * 2e-3 - 1e-6)

    def test_scaling_says_what_it_cannot_do(self):
        alone = self.bench(0, "scaling", *SHORT, *harness.SMALL, expect=2)
        self.assertIn("one rank has no links to measure", alone.stderr)
        few = self.bench(3, "scaling", *SHORT, *harness.SMALL, "--synthetic_size", 2, expect=2)
        self.assertIn("a rank had no samples", few.stderr)

    def test_mistakes_name_what_there_is(self):
        self.assertIn("step|allreduce|loader|checkpoint|scaling", self.bench(2, expect=2).stderr)
        self.assertIn("did you mean 'loader'?", self.bench(2, "loder", expect=2).stderr)
        self.assertIn("there is no such directory",
                      self.bench(2, "checkpoint", "--directory", "nowhere", expect=2).stderr)
        self.assertIn("blocks", self.bench(0, "loader", "--blocks", 0, expect=2).stderr)

    def test_measures_on_gpus(self):
        for what, name in (("step", "wait for gradients"), ("allreduce", "all-reduce of 1 MiB")):
            result = subprocess.run(
                harness.command(2, what, *SHORT, *harness.SMALL, "--device", "cuda", name="bench",
                                program=STAND_IN),
                env=harness.environment() | {"CUDA_VISIBLE_DEVICES": "0"}, text=True,
                stdin=subprocess.DEVNULL, capture_output=True, timeout=harness.DEADLINE)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            self.assertIn("device: GPUs", result.stdout)
            self.assertIn(name, result.stdout)

    def test_a_signal_ends_it(self):
        process = subprocess.Popen(
            harness.command(0, "checkpoint", "--file_size", 1, "--blocks", 10000, name="bench"),
            cwd=self.directory, env=harness.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not list(self.directory.iterdir()):  # it has begun to write
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=harness.DEADLINE)
        self.assertEqual(process.returncode, 75, errors)
        self.assertIn("before the measurement was over", errors)
        self.assertEqual(list(self.directory.iterdir()), [])


if __name__ == "__main__":
    harness.main()
