"""Change an archive with knowledge of its structure: arrays of an NPZ file, files of a zip archive.

A digest guards a checkpoint, so raw damage tests the digest only. Most mutations therefore change
an array and compute the digest again: what is left to refuse them is the schema of the state. The
same arrays always give the same bytes.
"""

from __future__ import annotations

import gzip
import io
import zipfile

import numpy as np

from coevo.files.checkpoints import DIGEST, FACTS, _compute_digest
from fuzz.mutate import _json, mutate

RAW = 0.2  # share of mutations of the bytes themselves
PLACES = [-1, 0, 1, 2, 3, 7, 8, 63, 64, 255, 10**6, 2**31, 2**62, -(2**63), 2**63 - 1]
FLOATS = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1e-320, 1e300, 0.5]
TYPES = ["i4", "u1", "i8", "u8", "f8", "f4", "?", "c16", "U3", "S3", "M8[s]", ">i8", ">f8"]


def pack_arrays(entries) -> bytes:
    """Return an NPZ file with these arrays and their digest."""
    arrays = {name: np.asanyarray(value) for name, value in entries.items() if name != DIGEST}
    arrays[DIGEST] = np.asarray(_compute_digest(arrays))
    files = {}
    for name, array in arrays.items():
        stream = io.BytesIO()
        np.lib.format.write_array(stream, array, allow_pickle=False)
        files[f"{name}.npy"] = stream.getvalue()
    return pack_files(files)


def pack_files(files, method=zipfile.ZIP_STORED) -> bytes:
    """Return a zip archive with these files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return stream.getvalue()


def unpack_arrays(data: bytes):
    """Return the arrays of an NPZ file."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def mutate_arrays(data, rng, others):
    """Return a changed copy of an NPZ file with a valid digest; sometimes of its bytes."""
    if rng.random() < RAW:
        return mutate(data, rng, others)
    entries = unpack_arrays(data)
    other = unpack_arrays(rng.choice(others))
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        name = rng.choice([name for name in entries if name not in (DIGEST, FACTS)] or [FACTS])
        if rng.random() < 0.03:
            name = FACTS
        if name in entries:
            _change_entry(entries, name, other, rng)
    return pack_arrays(entries)


def _change_entry(entries, name, other, rng):
    """Change, drop, rename or exchange one entry."""
    action = rng.random()
    if action < 0.05:
        del entries[name]
    elif action < 0.08:
        entries[name + rng.choice(("a", ".0", "/../x"))] = entries.pop(name)
    elif action < 0.16:
        entries[name] = other.get(name, entries[rng.choice(list(entries))])
    elif action < 0.2:
        entries[name] = entries[rng.choice(list(entries))]
    else:
        entries[name] = _change_array(entries[name], rng)


def _change_array(array, rng):
    if array.dtype.kind == "U" and array.ndim == 0:
        text = mutate(str(array).encode(), rng, [str(array).encode()])
        return np.asarray(text.decode("utf-8", "replace").rstrip("\0"))
    return rng.choice(CHANGES)(array, rng)


def _change_value(array, rng):
    """Replace one value by one that breaks an index or a sum."""
    changed = array.copy()
    if not changed.size:
        return np.zeros(3, dtype=array.dtype)
    place = np.unravel_index(rng.randrange(changed.size), changed.shape)
    if changed.dtype.kind == "b":
        changed[place] = not changed[place]
    elif changed.dtype.kind == "f":
        changed[place] = rng.choice(FLOATS)
    elif changed.dtype.kind in "iu":
        value = rng.choice([*PLACES, int(changed[place]) + 1, int(changed[place]) - 1])
        limits = np.iinfo(changed.dtype)
        changed[place] = min(max(value, limits.min), limits.max)
    return changed


def _swap_values(array, rng):
    changed = array.copy().reshape(-1)
    if changed.size > 1:
        one, two = rng.randrange(changed.size), rng.randrange(changed.size)
        changed[one], changed[two] = changed[two].copy(), changed[one].copy()
    return changed.reshape(array.shape)


def _change_type(array, rng):
    with np.errstate(all="ignore"):
        try:
            return array.astype(rng.choice(TYPES))
        except (TypeError, ValueError):
            return array


def _change_shape(array, rng):
    """Drop or repeat a part, or change the number of axes."""
    shapes = [array.reshape(-1), array[None], array.T, np.asfortranarray(array), array[..., None]]
    if array.ndim:
        axis = rng.randrange(array.ndim)
        none = np.take(array, [], axis)
        double = np.concatenate([array, array], axis)
        shapes += [
            array[:-1],
            array[1:],
            array[:1],
            none,
            double,
            array[::-1],
            np.zeros_like(array),
        ]
    elif array.dtype.kind in "iufb":
        shapes += [np.full((2, 2), array), np.empty(0, dtype=array.dtype)]
    return rng.choice(shapes)


CHANGES = [_change_value, _change_value, _change_value, _swap_values, _change_type, _change_shape]


def mutate_packed(data, rng, others):
    """Return a changed copy of a gzip file: its content, sometimes its bytes."""
    if rng.random() < RAW:
        return mutate(data, rng, others)
    content = gzip.decompress(data)
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        content = _json(content, rng, [])
    if rng.random() < RAW or content == gzip.decompress(data):
        content = mutate(content, rng, [gzip.decompress(other) for other in others])
    return gzip.compress(content, 1, mtime=0)


def mutate_files(data, rng, others):
    """Return a changed copy of a zip archive: one of its files, sometimes its bytes."""
    if rng.random() < RAW:
        return mutate(data, rng, others)
    files = _unpack_files(data)
    name = rng.choice(list(files))
    action = rng.random()
    if action < 0.05:
        del files[name]
    elif action < 0.1:
        files[name + rng.choice(("x", "/", "/../a"))] = files.pop(name)
    else:
        files[name] = mutate(files[name], rng, list(files.values()))
    return pack_files(files, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def _unpack_files(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def mutate_binary(data, rng, others):
    """Return a changed copy of a binary file: bytes, parts, and numbers of four or eight bytes."""
    if rng.random() < 0.5 or len(data) < 16:
        return mutate(data, rng, others)
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        width, value = rng.choice((1, 2, 4, 8)), rng.choice(PLACES)
        place = rng.randrange(len(changed) - width)
        changed[place : place + width] = (value % (1 << 8 * width)).to_bytes(width, "little")
    return bytes(changed)
