"""A page whose variables and states have names of 200 characters, with and without blanks."""

from coevo.data import Variable
from coevo.network import BayesianNetwork
from coevo.view.page import ArcFacts, Page

WORDS = ("a long question of a survey " * 8)[:200]
LETTERS = "w" * 200
NAMES = [f"{WORDS[:-2]} 1", f"{WORDS[:-2]} 2", f"{LETTERS[:-1]}1", f"{LETTERS[:-1]}2"]
STATES = (f"{WORDS[:-4]} yes", f"{LETTERS[:-2]}no", "maybe")


def long_page():
    """Return a page in which every name is long."""
    variables = [Variable(name, STATES) for name in NAMES]
    parents = {NAMES[1]: [NAMES[0]], NAMES[3]: [NAMES[0], NAMES[1], NAMES[2]]}
    tables = {name: [0.2, 0.3, 0.5] * 3 ** len(parents.get(name, ())) for name in NAMES}
    network = BayesianNetwork(variables, parents, tables)
    counts = {name: list(range(len(network.table(name)))) for name in NAMES}
    says = f"P({NAMES[3]}={STATES[1]}) is 0.9 where {NAMES[0]}={STATES[1]}, 0.1 elsewhere"
    return Page(
        network.dag,
        network,
        title=LETTERS,
        arcs={arc: ArcFacts(3.0, 0.5, 0.5, says) for arc in network.dag.arcs},
        audit=[f"{LETTERS} is constant."],
        decisions=[f"{LETTERS} is left out."],
        columns={name: f"categorical, 3 states: {', '.join(STATES)}" for name in NAMES},
        settings={"method": LETTERS},
        command=f"coevo learn {LETTERS}.csv",
        rejected=f"The best rejected arc is {LETTERS}.",
        parent_counts=counts,
    )
