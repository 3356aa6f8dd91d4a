"""A run that is killed again and again, at any instant, comes to what one comes to that never is.

The environment's CHAIN_KILLS is how often (50), CHAIN_SEED what the instants follow from (1).
"""

import os
import random
import time

import harness

KILLS = int(os.environ.get("CHAIN_KILLS", "50"))
SEED = int(os.environ.get("CHAIN_SEED", "1"))
ENDLESS = ["--epochs", 1000000, "--eval_every", 7, "--save_every_steps", 1, "--metrics_interval", 0.2]


class Chain(harness.LongRunTestCase):
    def written(self):
        """The names of all complete checkpoints, and of those that are being written."""
        try:
            names = set(os.listdir(self.directory / "run" / "checkpoints"))
        except FileNotFoundError:
            names = set()
        return ({name for name in names if name.endswith(".h5")},
                {name for name in names if name.endswith(".tmp")})

    def wait_until(self, process, condition, what):
        deadline = time.monotonic() + harness.DEADLINE
        while not condition():
            self.assertIsNone(process.poll(), "the run ended by itself")
            self.assertLess(time.monotonic(), deadline, what)

    def test_killed_at_random_instants(self):
        instants = random.Random(SEED)
        killed_while_writing = 0
        for _ in range(KILLS):
            before, _ = self.written()
            process = self.launch(2, *ENDLESS, "--resume_from", "auto")
            kind = instants.choice(("start", "step", "write", "write"))
            if kind != "start":
                newer = instants.randint(1, 3)
                self.wait_until(process, lambda: len(self.written()[0] - before) >= newer,
                                "no checkpoint is written")
            if kind == "write":
                self.wait_until(process, lambda: self.written()[1], "no checkpoint is begun")
            # The instant itself is what is tested; nothing waits for what happens meanwhile.
            time.sleep(instants.uniform(0, {"start": 1.0, "step": 0.1, "write": 0.01}[kind]))
            killed_while_writing += bool(self.written()[1])
            _, errors = self.kill(process)
            self.assertNotIn("lockstep:", errors)
        self.assertGreater(killed_while_writing, KILLS / 10)

        last = int(max(self.written()[0])[len("step_"):-len(".h5")])
        steps = last + 3
        self.train(2, "run", *ENDLESS, "--resume_from", "auto", "--max_steps", steps)
        self.train(2, "straight", *ENDLESS, "--max_steps", steps)
        self.assert_same_datasets(self.checkpoint("straight"), self.checkpoint("run"))
        self.assert_same_datasets(self.directory / "straight/metrics.h5",
                                  self.directory / "run/metrics.h5")
        print(f"{KILLS} kills, {killed_while_writing} of them during a write; {steps} steps",
              flush=True)


if __name__ == "__main__":
    harness.main()
