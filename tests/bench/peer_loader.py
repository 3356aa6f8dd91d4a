"""PyTorch's DataLoader with random crop, flip and normalisation, for loader.py.

Prints one JSON object: images a second of processor time of one block. num_workers=0, which spares
the loader what handing batches from process to process costs. `--tuned` fetches and transforms a
batch at a time (__getitems__) instead of a sample at a time.
"""
import argparse
import json
import time

import h5py
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

PADDING = 4


class Images(Dataset):
    def __init__(self, path):
        with h5py.File(path) as file:
            self.images = torch.from_numpy(file["images"][...])
            self.labels = torch.from_numpy(file["labels"][...].astype(np.int64))
        pixels = self.images.float() / 255
        self.mean = pixels.mean((0, 2, 3)).reshape(-1, 1, 1)
        self.std = pixels.std((0, 2, 3)).reshape(-1, 1, 1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = torch.nn.functional.pad(self.images[index].float() / 255, (PADDING,) * 4)
        top, left = torch.randint(2 * PADDING + 1, (2,)).tolist()
        height, width = self.images.shape[2:]
        image = image[:, top:top + height, left:left + width]
        if torch.rand(()) < 0.5:
            image = image.flip(2)
        return (image - self.mean) / self.std, self.labels[index]


class BatchedImages(Images):
    """Crops by one gather a batch."""

    def __getitems__(self, indices):
        index = torch.tensor(indices)
        count, (height, width) = len(indices), self.images.shape[2:]
        images = torch.nn.functional.pad(self.images[index], (PADDING,) * 4)
        top, left = torch.randint(2 * PADDING + 1, (2, count, 1))
        columns = torch.arange(width).expand(count, width)
        columns = torch.where(torch.rand(count, 1) < 0.5, columns.flip(1), columns) + left
        rows = torch.arange(height) + top
        at = torch.arange(count)[:, None, None]
        images = images[at, :, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)
        return (images.float() / 255 - self.mean) / self.std, self.labels[index]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--tuned", action="store_true")
    parser.add_argument("--batch_size", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=1.0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    images = (BatchedImages if args.tuned else Images)(args.data)
    collate = (lambda batch: batch) if args.tuned else None
    loader = DataLoader(images, args.batch_size, shuffle=True, collate_fn=collate)
    next(iter(loader))  # what is made on first use
    count, began, processor = 0, time.monotonic(), time.process_time()
    while time.monotonic() - began < args.seconds:
        for batch, _ in loader:
            count += len(batch)
            if time.monotonic() - began >= args.seconds:
                break
    print(json.dumps({"images_per_core_second": count / (time.process_time() - processor)}))


if __name__ == "__main__":
    main()
