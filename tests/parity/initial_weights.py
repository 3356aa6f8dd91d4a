#!/usr/bin/env python3
"""Prints what tests/unit/model/mini_resnet_test.cpp expects of MiniResNet's initial weights.

    python3 tests/parity/initial_weights.py

Needs PyTorch. One line a parameter: name, sizes, first and last value, and the sum of value * (1 +
position % 97), which notices values that changed places.
"""
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from mini_resnet import MiniResNet  # noqa: E402

torch.manual_seed(42)
for name, parameter in MiniResNet().named_parameters():
    values = parameter.detach().double().flatten()
    weights = 1 + torch.arange(len(values)) % 97
    sizes = ", ".join(map(str, parameter.shape))
    print(f'{{"{name}", {{{sizes}}}, {values[0]:.9g}, {values[-1]:.9g}, '
          f"{(values * weights).sum():.12g}}},")
