"""MiniResNet in PyTorch: that of include/lockstep/model/mini_resnet.hpp, under the same names.

Modules are made in the order of their names, so that one seed gives both programs the same weights.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn


def batch_norm(channels):
    return nn.BatchNorm2d(channels)


def group_norm(channels):
    return nn.GroupNorm(math.gcd(32, channels), channels)


NORMS = {"batch": batch_norm, "group": group_norm}


class BasicBlock(nn.Module):
    def __init__(self, in_channels, channels, stride, norm):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, channels, 3, stride, padding=1, bias=False)
        self.norm1 = norm(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = norm(channels)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Identity()
        if stride != 1 or in_channels != channels:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_channels, channels, 1, stride, bias=False), norm(channels))

    def forward(self, x):
        y = self.relu(self.norm1(self.conv1(x)))
        y = self.norm2(self.conv2(y))
        return self.relu(y + self.shortcut(x))


class MiniResNet(nn.Module):
    def __init__(self, in_channels=3, num_classes=10, width=64, norm="batch"):
        super().__init__()
        make_norm = NORMS[norm]
        self.conv1 = nn.Conv2d(in_channels, width, 3, padding=1, bias=False)
        self.norm1 = make_norm(width)
        self.relu = nn.ReLU(inplace=True)
        self.layer1 = self._stage(width, width, 1, make_norm)
        self.layer2 = self._stage(width, 2 * width, 2, make_norm)
        self.layer3 = self._stage(2 * width, 4 * width, 2, make_norm)
        self.fc = nn.Linear(4 * width, num_classes)

    @staticmethod
    def _stage(in_channels, channels, stride, norm):
        return nn.Sequential(BasicBlock(in_channels, channels, stride, norm),
                             BasicBlock(channels, channels, 1, norm))

    def forward(self, images):
        x = self.relu(self.norm1(self.conv1(images)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))
