"""What a run writes explains itself to h5py and h5dump, and its numbers are true."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

import h5py
import numpy as np

try:
    import xxhash
except ImportError:
    xxhash = None

import harness

POSTPROC = pathlib.Path(__file__).resolve().parents[2] / "postproc"


class Files(harness.RunTestCase):
    def check_run(self, ranks):
        result = self.train(ranks, "run", "--epochs", 3)
        run = self.directory / "run"
        world = max(ranks, 1)
        with h5py.File(run / "metrics.h5") as file:
            self.assertEqual(file.attrs["format"], "lockstep.metrics")
            epoch = file["epoch"]
            self.assertEqual(list(epoch["epoch"]), [0, 1, 2])
            self.assertEqual(list(epoch["train_samples"]), [40] * 3)
            self.assertEqual(list(epoch["val_samples"]), [14] * 3)
            self.assertEqual(list(epoch["samples_seen"]), [40, 80, 120])
            np.testing.assert_array_equal(epoch["train_loss"][()],
                                          epoch["train_loss_sum"][()] / 40)
            np.testing.assert_array_equal(epoch["val_accuracy"][()],
                                          epoch["val_correct"][()] / 14)
            self.assertEqual(file["rank/train_samples"].shape, (3, world))
            np.testing.assert_array_equal(file["rank/train_samples"][()].sum(axis=1), [40] * 3)
            self.assertIn("units", epoch["epoch_seconds"].attrs)
            self.assertEqual(file["config"].attrs["batch_size"], "8")
            self.assertEqual(file["provenance"].attrs["world_size"], str(world))
        checkpoint = self.checkpoint("run")
        with h5py.File(checkpoint) as file:
            self.assertEqual(file.attrs["format"], "lockstep.checkpoint")
            self.assertEqual(file.userblock_size, 512)
            self.assertEqual(file["model/conv1.weight"].shape, (8, 1, 3, 3))
            self.assertEqual(file["optimizer/momentum/fc.bias"].shape, (10,))
            self.assertEqual(file["rng/cpu"].shape[0], world)
            self.assertEqual(file["sampler/epoch"][()], 3)
        for path in (run / "metrics.h5", checkpoint):
            subprocess.run(["h5dump", "-H", path], check=True, capture_output=True, timeout=60)

        check = subprocess.run([sys.executable, "-m", "lockstep_post", "check", run],
                               env={**os.environ, "PYTHONPATH": str(POSTPROC)},
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

        events = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
        kinds = {event["event"] for event in events}
        self.assertLessEqual({"start", "first_step", "step", "epoch", "checkpoint"}, kinds)
        self.assertIn("epoch 3/3 done", (run / "log.txt").read_text())
        self.assertIn("epoch 3/3 done", result.stdout)
        self.assertNotIn("\r", result.stdout)  # a progress line is for terminals only
        self.assertTrue((run / "config.ini").exists())

    def test_one_process_without_mpiexec(self):
        self.check_run(0)

    def test_two_ranks(self):
        self.check_run(2)

    def test_three_ranks(self):
        self.check_run(3)

    def test_the_written_configuration_repeats_the_run(self):
        self.train(1, "one", "--epochs", 1)
        again = harness.run(1, "--config", self.directory / "one" / "config.ini",
                            "--output_dir", self.directory / "two")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assert_same_datasets(self.checkpoint("one"), self.checkpoint("two"))

    def test_validation_counts_no_padding(self):
        # 21 samples on 1, 2 and 4 ranks: the denominator is 21.
        for ranks in (1, 2, 4):
            self.train(ranks, f"run{ranks}", "--epochs", 1, "--synthetic_val_size", 21)
            metrics = harness.datasets(self.directory / f"run{ranks}" / "metrics.h5")
            self.assertEqual(list(metrics["epoch/val_samples"]), [21])

    def test_eval_tells_what_training_recorded(self):
        self.train(2, "run", "--epochs", 2)
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        for ranks in (1, 2, 3):
            result = harness.run(ranks, "--checkpoint", self.directory / "run", name="eval")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"loss {metrics['epoch/val_loss'][-1]:.4f}", result.stdout)
            self.assertIn(f"({metrics['epoch/val_correct'][-1]} of 14 samples)", result.stdout)

    def test_profiling_writes_a_trace_a_rank_with_named_ranges(self):
        result = self.train(2, "run", "--epochs", 3, "--enable_profiling")
        self.assertIn("rank_0.json", result.stdout)
        for rank in range(2):
            trace = json.loads((self.directory / "run" / "traces" / f"rank_{rank}.json").read_text())
            names = [event.get("name") for event in trace["traceEvents"]]
            self.assertEqual(names.count("wait for gradients"), 3)
            for name in ("forward", "backward", "update", "wait for data", "aten::convolution"):
                self.assertIn(name, names)

    def test_the_parts_of_the_start_are_named_and_add_up(self):
        self.train(2, "first", "--epochs", 1, "--profile_startup")
        result = self.train(2, "first", "--epochs", 2, "--new_horizon", "--resume_from", "auto",
                            "--profile_startup")
        lines = (self.directory / "first" / "log.jsonl").read_text().splitlines()
        started = [event for event in map(json.loads, lines) if event["event"] == "start_times"]
        self.assertNotIn("read the checkpoint", started[0])
        self.assertIn("read the checkpoint", started[1])
        for event in started:
            parts = {name: seconds for name, seconds in event.items()
                     if name not in ("event", "time", "all")}
            self.assertGreater(min(parts["load the program"], parts["first optimizer step"]), 0)
            # Each part is that of its slowest rank, all together that of the slowest in all.
            self.assertGreaterEqual(sum(parts.values()), event["all"] - 1e-6)
            self.assertGreaterEqual(event["all"], max(parts.values()))
        self.assertRegex(result.stdout, r"\n  read the checkpoint +\d+\.\d{3} +\d+\.\d{3}\n")

    def test_normalisation_is_said_stored_and_kept_by_eval(self):
        pixels = np.random.default_rng(1).integers(0, 256, (30, 2, 8, 8), dtype=np.uint8)
        data = self.directory / "data.h5"
        with h5py.File(data, "w") as file:
            file["train/images"], file["train/labels"] = pixels[:20], np.arange(20) % 4
            file["val/images"], file["val/labels"] = pixels[20:], np.arange(10) % 4
        arguments = ["--dataset", "hdf5", "--width", 8, "--batch_size", 5, "--epochs", 1,
                     "--normalize", "data", "--output_dir", self.directory / "run"]
        result = harness.run(2, *arguments, "--train_data", data)
        self.assertEqual(result.returncode, 0, result.stderr)
        with h5py.File(self.checkpoint("run")) as file:
            stored = file["provenance"].attrs["normalization"]
        self.assertIn(f"images: normalised by {stored}", result.stdout)
        mean, deviation = (np.array(part.split(","), dtype="float64")
                           for part in stored.split("/"))
        train = pixels[:20].astype("float64") / 255
        np.testing.assert_allclose(mean, train.mean(axis=(0, 2, 3)), rtol=1e-6)
        np.testing.assert_allclose(deviation, train.std(axis=(0, 2, 3)), rtol=1e-6)

        # Other training samples change nothing for eval.
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        with h5py.File(data, "a") as file:
            file["train/images"][...] = pixels[:20] // 2
        result = harness.run(2, "--checkpoint", self.directory / "run", name="eval")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"loss {metrics['epoch/val_loss'][-1]:.4f}", result.stdout)

    def inspect(self, path, *arguments):
        return harness.run(0, path, *arguments, name="inspect")

    def test_inspect_describes_every_kind_of_file(self):
        self.train(2, "run", "--epochs", 2)
        checkpoint = self.checkpoint("run")
        predictions = self.directory / "predictions.h5"
        harness.run(2, "--checkpoint", checkpoint, "--predictions", predictions, name="predict")
        for path, expected in (
                (checkpoint, ["lockstep.checkpoint, format version 1", "model = mini_resnet",
                              "position: 2 epochs done and 0 samples of the next; 6 steps, 80 ",
                              "/model/conv1.weight", "float32 [8, 1, 3, 3]  288 bytes"]),
                (self.directory / "run" / "metrics.h5",
                 ["lockstep.metrics", "batch_size = 8", "/rank/train_samples", "int64 [2, 2]"]),
                (predictions, ["lockstep.predictions", "/logits", "float32 [14, 10]"]),
                (os.environ["LOCKSTEP_DIGITS"], ["HDF5 data", "uint8 ["])):
            for arguments in ([], ["--verify"]):
                result = self.inspect(path, *arguments)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                for text in expected:
                    self.assertIn(text, result.stdout)
                verified = "all agree with the content" in result.stdout
                self.assertEqual(verified, path == checkpoint and bool(arguments))

    @unittest.skipIf(xxhash is None, "python3-xxhash is not installed")
    def test_inspect_shows_hashes_of_the_numbers_as_python_makes_them(self):
        self.train(2, "run", "--epochs", 1)
        checkpoint = self.checkpoint("run")
        rows = [row for row in self.inspect(checkpoint, "--hashes").stdout.splitlines()
                if row.startswith("  /")]
        shown = {row.split()[0][1:]: row.partition("  xxh3 ")[2].split()[0] for row in rows}
        expected = {path: xxhash.xxh3_128_hexdigest(np.asarray(value).tobytes())
                    for path, value in harness.datasets(checkpoint).items()}
        self.assertEqual(shown, expected)
        self.assertNotIn("xxh3", self.inspect(checkpoint).stdout)

    def test_inspect_tells_damage_and_what_is_no_file_of_ours_by_its_exit_code(self):
        self.train(1, "run", "--epochs", 1)
        checkpoint = self.checkpoint("run")
        good = checkpoint.read_bytes()
        with h5py.File(checkpoint) as file:
            weight = file["model/fc.weight"].id.get_offset()
        for byte, text in ((0, "mark of a finished file"), (100, "damaged: its first block"),
                           (weight, "damaged: block 1 of 1"),
                           (len(good) - 1, "damaged: the list of hashes")):
            damaged = bytearray(good)
            damaged[byte] ^= 1
            checkpoint.write_bytes(damaged)
            result = self.inspect(checkpoint, "--verify")
            self.assertEqual(result.returncode, 1, (byte, result.stdout, result.stderr))
            self.assertIn(text, result.stdout)
        checkpoint.write_bytes(good[:-1])
        result = self.inspect(checkpoint)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"truncated: {len(good) - 1} of {len(good)} bytes", result.stdout)
        metrics = self.directory / "run" / "metrics.h5"
        metrics.write_bytes(metrics.read_bytes()[:2000])
        self.assertEqual(self.inspect(metrics).returncode, 1)
        for other in (self.directory, self.directory / "none.h5",
                      self.directory / "run" / "config.ini"):
            result = self.inspect(other)
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn(str(other), result.stderr)
        for arguments in ([], ["--verify"], [metrics, metrics], [metrics, "--verfy"]):
            result = harness.run(0, *arguments, name="inspect")
            self.assertEqual(result.returncode, 2)
            self.assertIn("lockstep inspect FILE [--verify]", result.stderr)

    def test_inspect_survives_flipped_bits_of_hdf5s_tables(self):
        # Without --verify the HDF5 library sees a damaged file, on which it may crash.
        self.train(1, "run", "--epochs", 1)
        checkpoint = self.checkpoint("run")
        good = checkpoint.read_bytes()
        for byte in range(512, 2048, 192):
            damaged = bytearray(good)
            damaged[byte] ^= 1 << (byte // 192 % 8)
            checkpoint.write_bytes(damaged)
            self.assertIn(self.inspect(checkpoint).returncode, (0, 1), byte)
            self.assertEqual(self.inspect(checkpoint, "--verify").returncode, 1, byte)

    def test_eval_every_leaves_out_epochs_and_says_so(self):
        self.train(1, "run", "--epochs", 3, "--eval_every", 2)
        metrics = harness.datasets(self.directory / "run" / "metrics.h5")
        self.assertEqual(list(metrics["epoch/val_samples"]), [0, 14, 14])
        self.assertTrue(np.isnan(metrics["epoch/val_loss"][0]))


if __name__ == "__main__":
    harness.main()
