"""The bundled networks are complete, and the index agrees with the files."""

import gzip
import json
from importlib.resources import files

import pytest

from coevo.bundled import list_networks, load_network, read_network_index
from coevo.errors import ParameterError
from coevo.io.bif_reader import parse_bif_document
from coevo.io.bif_writer import format_bif_document

# As the Bayesian Network Repository lists them: variables, arcs, free parameters.
PUBLISHED = {
    "alarm": (37, 46, 509),
    "andes": (223, 338, 1157),
    "asia": (8, 8, 18),
    "barley": (48, 84, 114005),
    "cancer": (5, 4, 10),
    "child": (20, 25, 230),
    "diabetes": (413, 602, 429409),
    "earthquake": (5, 4, 10),
    "hailfinder": (56, 66, 2656),
    "hepar2": (70, 123, 1453),
    "insurance": (27, 52, 1008),
    "link": (724, 1125, 14211),
    "mildew": (35, 46, 540150),
    "munin": (1041, 1397, 80592),
    "pigs": (441, 592, 5618),
    "sachs": (11, 17, 178),
    "survey": (6, 6, 21),
    "water": (32, 66, 10083),
    "win95pts": (76, 112, 574),
}
FOLDER = files("coevo.bundled")


def test_the_index_agrees_with_the_repository():
    counts = {i.name: (i.n_variables, i.n_arcs, i.n_parameters) for i in read_network_index()}
    assert counts == PUBLISHED


@pytest.mark.parametrize("info", read_network_index(), ids=lambda info: info.name)
def test_the_index_agrees_with_the_file(info):
    network = load_network(info.name)
    arities = [variable.arity for variable in network.variables]
    assert network.name == info.name
    assert len(arities) == info.n_variables
    assert len(network.dag.arcs) == info.n_arcs
    assert network.n_parameters == info.n_parameters
    assert max(len(network.parents(v.name)) for v in network.variables) == info.max_parents
    assert (min(arities), max(arities)) == (info.min_states, info.max_states)
    assert info.domain
    assert info.reference.endswith(".")


def test_no_state_looks_like_a_missing_value():
    """Otherwise a sampled table would lose rows when it is written and read back."""
    missing = {"", "NA", "NaN", "nan", "null", "NULL", "?"}
    for name in list_networks():
        for variable in load_network(name).variables:
            assert missing.isdisjoint(variable.states)


def test_a_well_known_probability():
    asia = load_network("asia")
    assert asia.variable("dysp").states == ("yes", "no")
    assert asia.parents("dysp") == ("bronc", "either")
    assert asia.table("dysp").tolist() == [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]]
    assert asia.table("tub").tolist() == [[0.05, 0.95], [0.01, 0.99]]


def test_the_folder_holds_what_the_index_lists_and_a_source_for_each():
    packed = {entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".gz")}
    assert packed == {f"{name}.bif.gz" for name in PUBLISHED}
    assert sum(len(FOLDER.joinpath(name).read_bytes()) for name in packed) < 2_500_000
    sources = FOLDER.joinpath("SOURCES.md").read_text(encoding="utf-8")
    for info in read_network_index():
        assert f"- **{info.name}**: {info.domain}. {info.reference}" in sources


def test_names_come_in_the_order_of_the_index():
    sizes = [(info.n_variables, info.name) for info in read_network_index()]
    assert sizes == sorted(sizes)
    assert list_networks() == tuple(name for _, name in sizes)
    entries = json.loads(FOLDER.joinpath("index.json").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in entries] == list(list_networks())


def test_unknown_name():
    with pytest.raises(ParameterError) as caught:
        load_network("alram")
    listed = ", ".join(repr(name) for name in sorted(PUBLISHED))
    assert str(caught.value) == (
        f"'name' of load_network must be one of {listed}; got 'alram'. Did you mean 'alarm'?"
    )


@pytest.mark.parametrize("name", ["asia", "child", "alarm", "hepar2", "link"])
def test_the_files_are_in_the_layout_of_coevo(name):
    text = gzip.decompress(FOLDER.joinpath(f"{name}.bif.gz").read_bytes()).decode("utf-8")
    assert format_bif_document(parse_bif_document(text)) == text
