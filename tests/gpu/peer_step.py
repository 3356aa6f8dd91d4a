"""Steps of MiniResNet in PyTorch, to be measured in turn with Lockstep's.

Started by speed.py. Reads lines "prepare NAME BATCH" and "measure NAME BATCH STEPS" and answers each by
one JSON line; NAME is eager or compiled. As its users would tune it: channels last, bf16 autocast, fused
SGD, cuDNN's choice by trial. One batch in the device's memory is used for all steps.
"""

import json
import pathlib
import sys
import time

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from mini_resnet import MiniResNet  # noqa: E402


class Training:
    def __init__(self, device, compiled, batch):
        torch.manual_seed(42)
        self.device = device
        self.model = MiniResNet().to(device, memory_format=torch.channels_last)
        # dynamic=False: else the second batch size would be compiled for any size.
        self.network = torch.compile(self.model, dynamic=False) if compiled else self.model
        self.images = torch.randn(batch, 3, 32, 32, device=device).contiguous(
            memory_format=torch.channels_last)
        self.labels = torch.randint(0, 10, (batch,), device=device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9,
                                         weight_decay=1e-4, fused=True)

    def step(self):
        with torch.autocast(self.device, dtype=torch.bfloat16):
            loss = F.cross_entropy(self.network(self.images), self.labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def seconds(self, steps):
        self.wait()
        begin = time.perf_counter()
        for _ in range(steps):
            self.step()
        self.wait()
        return time.perf_counter() - begin

    def wait(self):
        if self.device == "cuda":
            torch.cuda.synchronize()


def main(device):
    torch.backends.cudnn.benchmark = True
    trainings = {}
    for line in sys.stdin:
        verb, name, batch, *steps = line.split()
        try:
            if verb == "prepare":
                trainings[name, batch] = Training(device, name == "compiled", int(batch))
                answer = {"seconds": trainings[name, batch].seconds(5)}
            else:
                answer = {"seconds": trainings[name, batch].seconds(int(steps[0]))}
        except Exception as why:  # pylint: disable=broad-except
            answer = {"error": f"{type(why).__name__}: {str(why)[:400]}"}
        print(json.dumps({"of": line.strip(), **answer}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
