"""Mixed precision, steps that are skipped, and averaged weights, in whole runs."""

import json
import math
import re

import h5py
import numpy as np

import harness

# Everything that carries state from step to step; scaled so that float16 overflows now and then.
EVERYTHING = ["--use_amp", "--amp_dtype", "fp16", "--loss_scale", str(2.0 ** 30),
              "--loss_scale_growth_interval", "3", "--optimizer", "adamw", "--lr", "0.001",
              "--decay_norm_and_bias", "false", "--warmup_epochs", "1.5", "--schedule",
              "polynomial", "--max_grad_norm", "1", "--label_smoothing", "0.1", "--ema_decay",
              "0.9", "--max_skipped_steps", "30"]


class Precision(harness.RunTestCase):
    def numbers(self, output):
        return harness.datasets(self.checkpoint(output))

    def metrics(self, output):
        return harness.datasets(self.directory / output / "metrics.h5")

    def broken_data(self, bad):
        """40 random images of which those numbered `bad` are finite, but make the network overflow."""
        images = np.random.default_rng(1).random((40, 1, 8, 8), dtype=np.float32)
        images[bad, 0, 3, 3] = 3e38
        path = self.directory / "data.h5"
        with h5py.File(path, "w") as file:
            file["train/images"] = images
            file["train/labels"] = np.arange(40) % 10
        return ["--dataset", "hdf5", "--train_data", path]

    def check_three_and_three(self, ranks):
        self.train(ranks, "straight", "--epochs", 6, *EVERYTHING)
        self.train(ranks, "parts", "--epochs", 6, "--stop_after_epochs", 3, *EVERYTHING)
        self.train(ranks, "parts", "--epochs", 6, "--resume_from", "auto", *EVERYTHING)
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("parts"))
        self.assert_same_datasets(self.directory / "straight" / "metrics.h5",
                                  self.directory / "parts" / "metrics.h5")
        numbers = self.numbers("parts")
        self.assertGreater(numbers["optimizer/skipped_steps"], 0)
        self.assertEqual(numbers["optimizer/applied_steps"] + numbers["optimizer/skipped_steps"],
                         numbers["sampler/global_step"])
        self.assertIn("scaler/growth_tracker", numbers)

    def test_float16_with_scale_average_and_adamw_resumes_to_the_bit_on_one_rank(self):
        self.check_three_and_three(1)

    def test_float16_with_scale_average_and_adamw_resumes_to_the_bit_on_two_ranks(self):
        self.check_three_and_three(2)

    def test_float16_learns_and_says_that_it_scales(self):
        result = self.train(2, "run", "--use_amp", "--amp_dtype", "fp16", "--epochs", 8, "--lr",
                            "0.05")
        self.assertIn("float16 autocast over float32 weights, with loss scaling", result.stdout)
        losses = self.metrics("run")["epoch/train_loss"]
        self.assertTrue(np.isfinite(losses).all())
        self.assertLess(losses[-1], losses[0])

    def test_contradicting_precisions_are_refused_at_once(self):
        result = self.train(1, "run", "--amp_dtype", "fp16", "--dtype", "float64", expect=2)
        self.assertIn("use_amp is off", result.stderr)
        self.assertIn("needs dtype float32", result.stderr)

    def test_a_bad_sample_costs_its_steps_and_nothing_else(self):
        # One step of five an epoch; the rate follows consumed samples, skipped steps included.
        data = self.broken_data([17])
        result = self.train(2, "run", *data, "--epochs", 3, "--log_interval", 1, "--lr", "0.1",
                            "--global_batch_size", 8)
        self.assertEqual(result.stdout.count("skipped: its gradient is not finite"), 3)
        numbers, metrics = self.numbers("run"), self.metrics("run")
        self.assertEqual(numbers["optimizer/skipped_steps"], 3)
        self.assertEqual(numbers["optimizer/applied_steps"], 12)
        self.assertEqual(numbers["sampler/global_step"], 15)
        self.assertEqual(np.isnan(metrics["step/loss"]).sum(), 3)
        np.testing.assert_allclose(
            metrics["step/lr"], [0.05 * (1 + math.cos(math.pi * k / 15)) for k in range(15)],
            rtol=0, atol=1e-15)
        for path, value in numbers.items():
            if path.startswith(("model/", "optimizer/")):
                self.assertTrue(np.isfinite(value).all(), path)

    def test_too_many_bad_steps_in_a_row_end_the_run_and_keep_the_checkpoint(self):
        data = self.broken_data([17])
        self.train(2, "run", *data, "--epochs", 3, "--stop_after_epochs", 1)
        checkpoints = self.directory / "run" / "checkpoints"
        before = harness.tree_digest(checkpoints)
        result = self.train(2, "run", *data, "--epochs", 3, "--resume_from", "auto",
                            "--max_skipped_steps", 1, expect=1)
        self.assertIn("the gradients of 1 steps in a row were not finite", result.stderr)
        self.assertEqual(result.stderr.count("lockstep:"), 1, result.stderr)
        stop = json.loads((self.directory / "run" / "stop.json").read_text())
        self.assertEqual(stop["restart"], False)
        self.assertIn("max_grad_norm", result.stderr)
        self.assertEqual(harness.tree_digest(checkpoints), before)

    def test_loss_scale_ends_at_its_floor_and_the_run_gives_up(self):
        data = self.broken_data(range(40))
        result = self.train(2, "run", *data, "--epochs", 9, "--use_amp", "--amp_dtype", "fp16",
                            "--loss_scale", 8, expect=1)
        self.assertIn("20 steps in a row were not finite, with a loss scale down to 1", result.stderr)

    def test_validation_is_of_the_average_and_eval_repeats_it(self):
        self.train(2, "run", "--epochs", 3, "--ema_decay", "0.9", "--lr", "0.1")
        last = self.metrics("run")["epoch/val_loss"][-1]
        told = f"loss {last:.4f}"
        averaged = harness.run(2, "--checkpoint", self.directory / "run", name="eval")
        self.assertIn(told, averaged.stdout)
        plain = harness.run(2, "--checkpoint", self.directory / "run", "--ema_decay", "0",
                            name="eval")
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertNotIn(told, plain.stdout)
        self.assertTrue(re.search(r"loss \d", plain.stdout))

    def test_average_changes_nothing_but_what_is_validated(self):
        self.train(1, "plain", "--epochs", 2)
        self.train(1, "averaged", "--epochs", 2, "--ema_decay", "0.9")
        plain, averaged = self.numbers("plain"), self.numbers("averaged")
        for path, value in plain.items():
            if path.startswith(("model/", "optimizer/")):
                self.assertEqual(value.tobytes(), averaged[path].tobytes(), path)
        names = {path.removeprefix("model/") for path in plain if path.startswith("model/")}
        self.assertEqual({path.removeprefix("ema/") for path in averaged
                          if path.startswith("ema/")}, names)


if __name__ == "__main__":
    harness.main()
