"""What the tests of the GPU script share: runs written by hand."""

import json
import pathlib
import tempfile
import unittest


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
                           "elapsed_seconds": 1 + 0.01 * step ** 2})
        events.append({"event": "epoch", "epoch": 0, "global_step": len(losses), "train_loss": 1.0,
                       "val_loss": val_loss, "val_accuracy": accuracy})
        (run_directory / "log.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events))
        return run_directory


class NewMachine:
    """Of a program that trains on GPUs."""
    knows_devices = True
