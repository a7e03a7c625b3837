"""Labels cannot be chosen to collide: each table of labels has a hash of its own."""

from __future__ import annotations

import numpy as np
import pytest

from coevo.data.read.csv_fields import LabelStore, encode


def old_hash(text):
    """Return the hash of an earlier version, whose collisions anyone could compute."""
    value = len(text)
    for byte in text:
        value = (value * 1_000_003 + byte) & 0x7FFFFFFF
    return value ^ value >> 15


def colliding_labels(n):
    """Return texts with the same old hash, made of two blocks that have the same effect."""
    one = [0x61, 0x61, 0x61, 0x61]
    pairs = {}
    rng = np.random.default_rng(1)
    while True:
        block = bytes(rng.integers(97, 123, 8).tolist())
        value = 0
        for byte in block:
            value = (value * 1_000_003 + byte) & 0x7FFFFFFF
        if pairs.setdefault(value, block) != block:
            one, other = pairs[value], block
            break
    bits = n.bit_length()
    return [b"".join(other if i >> bit & 1 else one for bit in range(bits)) for i in range(n)]


def fill(labels):
    store = LabelStore()
    buffer = np.frombuffer(b"".join(labels), dtype=np.uint8).copy()
    lengths = np.array([len(label) for label in labels], dtype=np.int32)
    starts = np.cumsum([0, *lengths[:-1]]).astype(np.int32)
    codes = np.zeros(len(labels), dtype=np.uint16)
    assert store.encode(buffer, starts, lengths, codes) == len(labels)
    return store, codes


@pytest.mark.kernel
def test_labels_that_collided_are_spread():
    labels = colliding_labels(2000)
    assert len({old_hash(label) for label in labels}) == 1
    store, codes = fill(labels)
    assert codes.tolist() == list(range(2000))
    assert store.list_labels() == labels
    hashes = store._table.hashes[:2000].tolist()
    assert len(set(hashes)) > 1990


@pytest.mark.kernel
def test_each_table_has_its_own_hash_and_the_same_codes():
    labels = [b"no", b"yes", b"no", b"", b"maybe"]
    (first, codes), (second, again) = fill(labels), fill(labels)
    assert codes.tolist() == again.tolist() == [0, 1, 0, 2, 3]
    assert first._table.count[1] != second._table.count[1]
    assert callable(encode)
