"""Hypothesis strategies: small networks whose names and states are hard to write to files."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from coevo.data.variable import Variable
from coevo.network import BayesianNetwork

NASTY = [
    *(
        "",
        " ",
        ",",
        '"',
        '""',
        "\\",
        "\\\\",
        "\\n",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "{",
        "}",
        "(",
        ")",
        "|",
    ),
    *("[", "]", ":", "&", "<", "from", "to", "node", "graph", "strict", "a:b", " a", 'a\\"', "-5"),
    *(";", "//", "/*", "*/", "#", "'", "0", "01", "1e5", "nan", "-", "table", "default"),
    *("property", "probability", "variable", "network", "unknown", "a b", "a  b", "a,b", "é"),
    *("\u2028", "\x00", "\ud800", "\ufeff", "\U0001f600", "\\u0041", "http://x"),
]
names = st.one_of(st.sampled_from(NASTY), st.text(max_size=6), st.from_regex("[a-z<>=%0-9]{1,4}"))
seeds = st.integers(0, 2**32 - 1)
SETTINGS = settings(derandomize=True, deadline=None, max_examples=250)


@st.composite
def networks(draw):
    labels = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    variables = [
        Variable(name, tuple(draw(st.lists(names, min_size=1, max_size=4, unique=True))))
        for name in labels
    ]
    parents = {
        name: draw(st.lists(st.sampled_from(labels[:i]), max_size=3, unique=True)) if i else []
        for i, name in enumerate(labels)
    }
    arity = {variable.name: variable.arity for variable in variables}
    rng = np.random.default_rng(draw(seeds))
    tables = {}
    for name in labels:
        size = int(np.prod([arity[parent] for parent in parents[name]], dtype=int))
        tables[name] = rng.dirichlet([0.3] * arity[name], size=size)
    order = draw(st.permutations(variables))
    return BayesianNetwork(order, parents, tables, draw(names))
