"""An elimination order contains all variables, and its cliques follow from the factors."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from coevo.bundled import load_network
from coevo.network.elimination_order import count_cells, find_steps

thorough = settings(derandomize=True, deadline=None, max_examples=200)
SCOPES = st.lists(st.sets(st.sampled_from("abcdefgh"), max_size=4), max_size=10)
ARITY = dict(zip("abcdefgh", (2, 3, 4, 2, 3, 4, 2, 2), strict=True))


@thorough
@given(SCOPES, st.sets(st.sampled_from("abcdefgh")), st.randoms(use_true_random=False))
def test_steps_follow_from_the_factors(scopes, last, random):
    steps = find_steps(scopes, ARITY, last)
    order = [step.variable for step in steps]
    assert sorted(order) == sorted(set().union(*scopes))
    waits = [name in last for name in order]
    assert waits == sorted(waits)
    factors = [set(scope) for scope in scopes]
    for i, step in enumerate(steps):
        product = set().union(*(scope for scope in factors if step.variable in scope))
        factors = [scope for scope in factors if step.variable not in scope]
        factors.append(product - {step.variable})
        assert set(step.clique) == product
        assert list(step.clique) == [name for name in reversed(order[i:]) if name in product]
    shuffled = [random.sample(sorted(scope), len(scope)) for scope in scopes]
    assert find_steps(random.sample(shuffled, len(shuffled)), ARITY, sorted(last)) == steps


def test_cliques_of_published_networks_are_small():
    for name, limit in (
        ("alarm", 2**11),
        ("andes", 2**20),
        ("pigs", 2**20),
        ("link", 2**25.5),
        ("munin", 2**25),
    ):
        network = load_network(name)
        arity = {variable.name: variable.arity for variable in network.variables}
        scopes = [(*network.parents(node), node) for node in arity]
        assert count_cells(find_steps(scopes, arity), arity) < limit
