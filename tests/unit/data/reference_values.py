#!/usr/bin/env python3
"""Prints the constants of the tests in this folder, from the algorithms as the
headers document them, in integers and functions of Python alone."""
import math
import struct
from statistics import NormalDist

MASK = 0xFFFFFFFF


def philox4x32(counter, key):
    """Philox4x32-10 (Salmon et al., SC 2011)."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK, (p0 >> 32) ^ c3 ^ k1, p0 & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


def words(seed, coordinate, stream, count):
    drawn, block = [], 0
    while len(drawn) < count:
        counter = (block, stream, coordinate & MASK, coordinate >> 32)
        drawn += philox4x32(counter, (seed & MASK, seed >> 32))
        block += 1
    return drawn[:count]


def sample_at(seed, epoch, size, position):
    a = math.isqrt(size - 1) + 1
    b = -(-size // a)

    def draw(round_index, half):
        counter = (half, 0x6F726400 + round_index, epoch & MASK, epoch >> 32)
        w = philox4x32(counter, (seed & MASK, seed >> 32))
        return w[1] << 32 | w[0]

    x = position
    while True:
        left, right = divmod(x, b)
        for round_index in range(8):
            if round_index % 2 == 0:
                left = (left + draw(round_index, right)) % a
            else:
                right = (right + draw(round_index, left)) % b
        x = left * b + right
        if x < size:
            return x


def augmentation(seed, epoch, number, padding):
    w = philox4x32((number & MASK, 0x61756701, epoch, number >> 32), (seed & MASK, seed >> 32))
    places = 2 * padding + 1
    return places * w[0] >> 32, places * w[1] >> 32, bool(w[2] >> 31)


def transformed(image, padding, top, left, mirrored, mean, deviation):
    """numpy's own padding, slicing and arithmetic; image is C, H, W."""
    _, height, width = image.shape
    padded = np.pad(image, ((0, 0), (padding, padding), (padding, padding)))
    cut = padded[:, top:top + height, left:left + width]
    if mirrored:
        cut = cut[:, :, ::-1]
    return (cut - np.reshape(mean, (-1, 1, 1))) / np.reshape(deviation, (-1, 1, 1))


def synthetic_label(seed, number, classes):
    upper, lower = words(seed, number, 0x6C626C01, 2)
    return (upper << 32 | lower) % classes


def synthetic_values(seed, number, count):
    halves = [half for word in words(seed, number, 0x696D6701, -(-count // 2))
              for half in (word & 0xFFFF, word >> 16)]
    return [NormalDist().inv_cdf((half + 0.5) / 65536) for half in halves[:count]]


if __name__ == "__main__":
    assert philox4x32((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    for seed, epoch, size in [(42, 0, 10), (42, 1, 10), (42, 0, 1797), (7, 3, 50000),
                              (2**63 + 5, 2**40, 10**9), (1, 0, 2**62)]:
        ids = [sample_at(seed, epoch, size, position) for position in range(min(size, 10))]
        print(f"order seed {seed} epoch {epoch} size {size}: {ids}")
    for number in (0, 1, 2**33):
        print(f"synthetic seed 42 number {number}: label {synthetic_label(42, number, 10)}",
              [f"{value:.9g}" for value in synthetic_values(42, number, 5)])
    print("labels", [synthetic_label(42, number, 10) for number in range(20)])
    print("split of 20, fraction 0.25:",
          sorted(sample_at(0x73706C6974, 0, 20, position) for position in range(5)))
    try:
        import numpy as np
        import xxhash
    except ImportError:
        raise SystemExit("fingerprints need the packages numpy and xxhash")
    for seed, epoch, number in [(42, 0, 0), (42, 0, 1), (42, 1, 0), (43, 0, 0), (42, 0, 2**33),
                                (2**40, 7, 12345)]:
        print(f"augmentation seed {seed} epoch {epoch} number {number}, padding 4:",
              augmentation(seed, epoch, number, 4))
    image = np.arange(1, 25, dtype="float64").reshape(2, 3, 4)
    for draw in [(2, 2, False), (0, 0, False), (4, 1, True), (1, 4, True), (3, 3, False)]:
        print("transformed", draw,
              transformed(image, 2, *draw, [3, 5], [2, 4]).flatten().tolist())
    for size in (3, 1500):
        hashed = struct.pack("<5q", size, 1, 1, 2, 10)
        hashed += b"".join(struct.pack("<q", i % 10) for i in range(size))
        for i in range(min(size, 1024)):
            number = i * size // min(size, 1024)
            hashed += struct.pack("<f", number)
            hashed += (np.float32(number) + np.float32(1) / np.float32(100)).tobytes()
        print("fingerprint of", size, "samples:", xxhash.xxh3_128_hexdigest(hashed))
