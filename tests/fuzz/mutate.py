"""Change a valid file a little, with knowledge of its structure.

A random byte rarely gets past the first check of a parser. So most mutations copy, move, repeat or
replace tokens, lines and blocks, or put in what breaks parsers elsewhere: huge numbers, deep
nesting, odd characters, other types.
"""

from __future__ import annotations

import json
import random
import re

TOKEN = re.compile(rb"[A-Za-z_][\w.]*|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|\s+|.", re.DOTALL)
NASTY = [
    b"", b"\0", b'"', b"'", b"\\", b"\\\"", b"{", b"}", b"(", b")", b"[", b"]", b"<", b">", b"&",
    b";", b",", b"|", b":", b"=", b"->", b"--", b"//", b"/*", b"*/", b"#", b"%", b"\r", b"\r\n",
    b"\n\n", b"\t", b" " * 300, b"nan", b"NaN", b"inf", b"-inf", b"Infinity", b"1e999", b"-1",
    b"-0", b"0", b"1", b"1e-320", b"9" * 400, b"0." + b"3" * 400, b"null", b"true", b"[]", b"{}",
    b"[" * 200, b"{" * 200, b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", "é".encode(),
    "\u202e".encode(), "\u2028".encode(), "\U0001f600".encode(), b"\xed\xa0\x80", b"\x1b[2J",
    b"]]>", b"<!--", b"<![CDATA[", b"<!ENTITY a 'b'>", b"&a;", b"table", b"default", b"a" * 2000,
]  # fmt: skip
VALUES = [
    None, True, False, 0, -1, 1, 2**63, 10**30, 0.5, -0.0, 1e308, float("nan"), float("inf"), "",
    "a", "\x00", "\ud800", "0", "nan", [], {}, [[]], [None], {"a": 1}, ["a", "b"], [["a", "b", 1]],
    "x" * 500, list(range(50)),
]  # fmt: skip


def mutate(data: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Return a changed copy of a file; `others` are files of the same format."""
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        data = rng.choice(MUTATIONS)(data, rng, others)
    return data[:200_000]


def _tokens(data, rng, others):
    """Copy, drop, swap or replace tokens."""
    tokens = TOKEN.findall(data)
    if not tokens:
        return rng.choice(NASTY)
    i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    action = rng.randrange(6)
    if action == 0:
        tokens[i] = tokens[j]
    elif action == 1:
        del tokens[i]
    elif action == 2:
        tokens[i], tokens[j] = tokens[j], tokens[i]
    elif action == 3:
        tokens[i] = rng.choice(NASTY)
    elif action == 4:
        tokens.insert(i, rng.choice(NASTY))
    else:
        tokens[i] = tokens[i] * rng.choice((2, 3, 50))
    return b"".join(tokens)


def _blocks(data, rng, others):
    """Copy, drop or move a part, or take one from another file."""
    if not data:
        return data
    start = rng.randrange(len(data))
    end = min(len(data), start + rng.choice((1, 4, 20, 100, 1000)))
    action = rng.randrange(5)
    if action == 0:
        return data[:start] + data[end:]
    if action == 1:
        return data[:end] + data[start:end] * rng.choice((1, 2, 20)) + data[end:]
    if action == 2:
        return data[:start]
    if action == 3:
        place = rng.randrange(len(data))
        return data[:place] + data[start:end] + data[place:]
    other = rng.choice(others)
    cut = rng.randrange(len(other) + 1)
    return data[:start] + other[cut : cut + end - start] + data[end:]


def _lines(data, rng, others):
    """Drop, repeat or swap lines."""
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    action = rng.randrange(3)
    if action == 0:
        del lines[i]
    elif action == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def _bytes(data, rng, others):
    """Change a byte or a bit."""
    if not data:
        return data
    changed = bytearray(data)
    place = rng.randrange(len(changed))
    changed[place] = rng.randrange(256) if rng.random() < 0.5 else changed[place] ^ 1
    return bytes(changed)


def _json(data, rng, others):
    """Replace, drop or move a value inside JSON; other formats stay as they are."""
    lines = data.split(b"\n") if data.startswith(b'{"') else [data]
    number = rng.randrange(len(lines))
    try:
        value = json.loads(lines[number])
    except (ValueError, RecursionError):
        return data
    places = list(_walk([value]))
    holder, key = rng.choice(places)
    action = rng.randrange(4)
    if action == 0:
        holder[key] = rng.choice(VALUES)
    elif action == 1 and isinstance(holder, dict):
        del holder[key]
    elif action == 2 and isinstance(holder, dict):
        holder[rng.choice(("", "a", "name", "arcs"))] = holder.pop(key)
    else:
        other_holder, other_key = rng.choice(places)
        holder[key] = json.loads(json.dumps(other_holder[other_key]))
    root = places[0][0][0] if isinstance(places[0][0], list) else value
    lines[number] = json.dumps(root).encode()
    return b"\n".join(lines)


def _walk(holder):
    """Yield each place in nested lists and objects: the holder and the key."""
    waiting = [holder]
    while waiting:
        holder = waiting.pop()
        for key in list(range(len(holder)) if isinstance(holder, list) else holder):
            yield holder, key
            if isinstance(holder[key], list | dict):
                waiting.append(holder[key])


MUTATIONS = [_tokens, _tokens, _tokens, _blocks, _blocks, _lines, _bytes, _json, _json]
