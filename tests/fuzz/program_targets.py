"""What is fuzzed beside files: data frames, which a recipe in JSON describes, and command lines.

Both are texts, so that the same mutations work on them and a fault is a file of the corpus.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import io
import json
import math
import os
import shlex
import shutil
import sys
from unittest import mock

import numpy as np
import pandas as pd

import coevo
from coevo import cli, studio
from coevo.bundled import load_network
from coevo.exact.certificate import CERTIFICATE, write_certificate
from coevo.posteriors.edge_files import write_strength
from helpers.values import as_values

# What a cell "$NAME" of a recipe stands for: the odd values that frames hold.
ODD_VALUES = {
    "nan": math.nan, "inf": math.inf, "-inf": -math.inf, "none": None, "na": pd.NA, "nat": pd.NaT,
    "huge": 10**400, "big": 2**63, "tiny": 5e-324, "complex": 1j, "list": [1],
    "bytes": b"\xff\x00", "surrogate": "\ud800", "nul": "a\x00b", "day": datetime.date(2020, 1, 1),
    "time": datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), "span": datetime.timedelta(1),
    "decimal": decimal.Decimal("NaN"), "set": frozenset("a"), "scalar": np.float32(1.5),
    "class": object, "array": np.zeros(2), "frame": pd.DataFrame(), "masked": np.ma.masked,
    "true": np.True_,
}  # fmt: skip
FRAMES = [
    {"columns": [
        {"name": "a", "type": "object", "cells": ["x", "y", "$nan", "x", "$none", "y"]},
        {"name": "b", "type": "int64", "cells": [1, 2, 3, 1, 2, 3]},
        {"name": "c", "type": "float64", "cells": [1.5, 2.5, "$nan", 1.5, 3.5, 0.0]},
        {"name": "d", "type": "category", "cells": ["u", "v", "u", "$none", "v", "v"]},
    ], "index": [0, 1, 2, 3, 4, 5], "discretise": "quantile"},
    {"columns": [
        {"name": "t", "type": "datetime64[ns]", "cells": [0, 1, 2, 3]},
        {"name": "flag", "type": "boolean", "cells": [True, False, "$na", True]},
        {"name": "s", "type": "string", "cells": ["p", "q", "$na", "p"]},
        {"name": "i", "type": "Int8", "cells": [1, "$na", 3, 1]},
    ], "index": ["a", "b", "a", "b"], "discretise": "quantile"},
]  # fmt: skip
COMMANDS = [
    "learn rows.csv -m k2 --max-generations 1 --bootstraps 0 -s bdeu --ess 2",
    "learn rows.csv -m hill_climb -t 0.1 --max-parents 2 --bootstraps 0 --format json",
    "learn --example asia --rows 20 -m tabu --max-generations 1 --seed 3 --bootstraps 0",
    "query asia lung --given smoke=yes --format json",
    "sample cancer --rows 5 --seed 1",
    "score rows.csv --structure asia -s bic",
    "compare asia cancer",
    "convert asia --to dot",
    "predict asia rows.csv lung --format json",
    "test rows.csv lung smoke --given bronc",
    "inspect rows.csv --drop asia --type lung=categorical",
    "solve tsp burma14 --max-generations 1 --form literal",
    "networks --format json",
    "explain asia lung=yes",
    "posterior rows.csv -m k2 --drop asia,tub,xray --sampler exact --networks 5 --format json",
    "posterior rows.csv -m k2 --sampler chains --chains 2 --max-steps 1 -t 0.2 --prior order",
    "prove rows.csv -m k2 -s bic -p 2 -t 0.3 --within 0.5 --drop asia",
    "prove rows.csv --check certificate.json.gz",
    "strength rows.csv -m k2 --bootstraps 2 --no-figures --threshold 0.5 -o strong2",
    "compare post strong --format json",
    "report post -o page.html",
    "studio rows.csv --no-browser --port 0 --host 127.0.0.1 --workspace space",
]
LARGEST = (
    1000  # a number in a command line: more rows or seconds take longer, and break nothing new
)


def read_frame(data: bytes) -> object:
    """Build the data frame of a recipe with pandas, and let coevo read it."""
    try:
        recipe = json.loads(data)
        columns = [_make_column(column) for column in recipe["columns"]]
        frame = pd.concat(columns, axis=1) if columns else pd.DataFrame()
        index = recipe.get("index")
        if isinstance(index, list) and len(index) == len(frame):
            frame.index = index
        option = recipe.get("discretise", "quantile")
    except Exception:  # pandas cannot hold it, so nobody can give it to coevo
        return None
    before = frame.copy()
    try:
        return coevo.data.read_incomplete(frame, discretise=option, bins=2)
    finally:
        pd.testing.assert_frame_equal(frame, before)


def _make_column(column):
    given = column.get("cells", [])
    cells = [
        ODD_VALUES.get(cell[1:], cell) if isinstance(cell, str) and cell[:1] == "$" else cell
        for cell in (given if isinstance(given, list) else [given])
    ]
    try:
        return pd.Series(cells, name=column.get("name"), dtype=column.get("type"))
    except Exception:  # no such type, or the cells do not fit
        return pd.Series(cells, name=str(column.get("name")), dtype=object)


def run_command_line(folder, data: bytes) -> object:
    """Run a command line in this process and an own folder; it must end with an exit code."""
    try:
        words = shlex.split(data.decode("utf-8", "surrogateescape"))
    except ValueError:
        return None
    if not all(map(_is_harmless, words)) or _makes_many_searches(words):
        return None
    out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
    before = os.getcwd()
    os.chdir(folder)
    try:
        with (
            mock.patch.object(sys, "argv", ["coevo", *words]),
            mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO())),
            mock.patch.object(studio, "serve"),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = 0
            try:
                cli.main()
            except SystemExit as stop:
                code = stop.code
    finally:
        os.chdir(before)
    err.flush()
    printed = err.buffer.getvalue()
    assert code in (0, 1, 2), code
    assert b"Traceback" not in printed, printed
    return code


def _makes_many_searches(words):
    """Return whether this is the command strength, or a slip of it, with its hundred samples."""
    return words[:1] and words[0].startswith("st") and "--bootstraps" not in words


def _is_harmless(word):
    """Return whether a word names no other folder and no huge number."""
    if any(part in word for part in ("/", "..", "~", "\x00")) or "cluster" in word:
        return False
    number = word.rpartition("=")[2]
    try:
        return abs(float(number)) <= LARGEST
    except ValueError:
        return True


def write_rows(folder):
    """Write the table of the command lines, and results for the commands that read some."""
    rows = coevo.sample(load_network("asia"), 60, random_state=1)
    coevo.write_data(rows, folder / "rows.csv")
    options = {"random_state": 1, "progress": False}
    coevo.posterior(
        rows,
        method="k2",
        networks=4,
        output=folder / "run",
        **as_values({"score": "bdeu", **options}),
    )
    shutil.copytree(folder / "run" / "posterior", folder / "post")
    strength = coevo.bootstrap_strength(rows, bootstraps=2, method="k2", random_state=1)
    write_strength(strength, folder / "strong", figures=False)
    proof = coevo.prove(rows, max_parents=1, **as_values({"score": "bic", **options}))
    write_certificate(proof.certificate, folder / CERTIFICATE)
