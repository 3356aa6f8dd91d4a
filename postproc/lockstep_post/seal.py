"""The user block in front of a checkpoint and the list of hashes behind it."""

from __future__ import annotations

import struct
from pathlib import Path

from . import layout

try:
    import xxhash
except ImportError:  # then lengths are checked, but no hashes
    xxhash = None

# Magic, layout version, bytes of the block, of the file, up to the list, of a hashed block; format
# version, hash of the list.
_BLOCK = struct.Struct("<8sIIQQQQ16s")
_CHECKSUM_AT = layout.USER_BLOCK_BYTES - 16


def seal_problems(path) -> list:
    """What is wrong with the user block, the length or, given the package xxhash, the hashes."""
    size = Path(path).stat().st_size
    with open(path, "rb") as file:
        block = file.read(layout.USER_BLOCK_BYTES)
        magic, version, _, length, end, leaf, _, root = _BLOCK.unpack(block[:_BLOCK.size])
        if magic != layout.USER_BLOCK_MAGIC:
            return [f"user block: does not begin with {layout.USER_BLOCK_MAGIC.decode()}"]
        if xxhash and version > 1 and block[_CHECKSUM_AT:] != hash_of(block[:_CHECKSUM_AT]):
            return ["user block: differs from its checksum"]
        if version != layout.USER_BLOCK_VERSION:
            return [f"user block: layout version {version}; "
                    f"this program knows {layout.USER_BLOCK_VERSION}"]
        if length != size:
            return [f"user block: names {length} bytes, the file has {size}"]
        return _hash_problems(file, end, leaf, root) if xxhash else []


def hash_of(data) -> bytes:
    """XXH3 of 128 bits as a little-endian number."""
    return xxhash.xxh3_128(data).intdigest().to_bytes(16, "little")


def _hash_problems(file, end, leaf, root) -> list:
    file.seek(end)
    listed = file.read()
    if hash_of(listed) != root:
        return ["list of hashes: differs from the hash in the user block"]
    file.seek(layout.USER_BLOCK_BYTES)
    problems = []
    blocks = len(listed) // 16
    for number in range(blocks):
        data = file.read(min(leaf, end - file.tell()))
        if hash_of(data) != listed[16 * number:16 * number + 16]:
            problems.append(f"block {number + 1} of {blocks}: differs from its hash")
    return problems
