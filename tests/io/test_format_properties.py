"""Any network in every format: it reads back as it was written, or the writer refuses it.

The functions `is_...` decide independently whether a format can hold a name.
"""

import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevo.bundled import load_network
from coevo.errors import CoevoWarning, FormatError
from coevo.graph import DAG
from coevo.io import FORMATS, format_model, parse_model
from helpers.nasty_networks import SETTINGS, networks

FEW = settings(SETTINGS, max_examples=120)
WITH_TABLES = ["json", "net", "xmlbif"]  # BIF has its own tests
STRUCTURES = [name for name, found in FORMATS.items() if found.content != "network"]


def is_encodable(text):
    return not any("\ud800" <= character <= "\udfff" for character in text)


def is_xml(text):
    return all(
        c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c >= "\U00010000"
        for c in text
    )


def is_dot(text):
    """Read the text between quotes as Graphviz does; return whether it is unchanged."""
    inside, found = iter(text.replace('"', '\\"') + '"'), ""
    for character in inside:
        if character == '"':
            break
        if character == "\\":
            after = next(inside)
            character = {'"': '"', "\n": "", "\r": ""}.get(after, character + after)
        found += character
    return found == text and not list(inside) and "\0" not in text and is_encodable(text)


def is_in_brackets(text):
    return bool(text) and not set("[]|:\0") & set(text) and is_encodable(text)


CAN_HOLD = {
    "json": is_encodable,
    "net": lambda text: True,
    "xmlbif": lambda text: True,
    "dot": is_dot,
    "graphml": is_xml,
    "adjacency": is_encodable,
    "edges": lambda text: bool(text) and is_encodable(text),
    "modelstring": is_in_brackets,
}


def refusal_or_text(model, name, texts):
    """Return the written text, or None after checking that the refusal is correct."""
    unwritable = [text for text in texts if not CAN_HOLD[name](text)]
    if not unwritable:
        return format_model(model, name)
    with pytest.raises(FormatError) as caught:
        format_model(model, name)
    sentence = str(caught.value)
    assert re.fullmatch(r".* cannot hold the name or state .*: .*\. Rename it, .*\.", sentence)
    assert any(repr(text) in sentence for text in unwritable)
    return None


@pytest.mark.parametrize("name", WITH_TABLES)
@given(network=networks())
@FEW
def test_networks(name, network):
    states = [state for variable in network.variables for state in variable.states]
    names = [variable.name for variable in network.variables]
    text = refusal_or_text(network, name, [network.name, *names, *states])
    if text is None:
        return
    again = parse_model(text, name)
    assert again == network
    assert again.name == network.name
    assert format_model(again, name) == text
    assert text.encode("utf-8").decode("utf-8") == text


@pytest.mark.parametrize("name", STRUCTURES)
@given(network=networks())
@FEW
def test_structures(name, network):
    dag = network.dag
    text = refusal_or_text(dag, name, dag.nodes)
    if text is None:
        return
    again = parse_model(text, name)
    assert isinstance(again, DAG)
    assert again == dag
    assert text.encode("utf-8").decode("utf-8") == text
    if name != "edges":
        assert again.nodes == dag.nodes
        assert format_model(again, name) == text
    if name != "json":
        assert format_model(network, name) == text


PIECES = {
    "xmlbif": ["<", ">", "</NAME>", "<OUTCOME>", "<GIVEN>", "&amp;", "&x;", "]]>", "<!--", "0.5"],
    "net": ["{", "}", "(", ")", ";", "=", '"', "%", "|", "node", "potential", "data", "nan"],
    "json": ["{", "}", "[", "]", ",", ":", '"', "null", "1e999", "NaN", "true", '"table": 1'],
    "dot": ["{", "}", "->", "--", ";", "[", "]", "=", '"', "\\", "<", ">", "/*", "#", "subgraph"],
    "graphml": ["<", ">", "<node/>", "<edge/>", 'id="x"', "&lt;", "</graph>", "<key", "directed"],
    "adjacency": [",", "\n", '"', "1", "2", ";", "\t", "asia", "\r"],
    "edges": [",", "\n", '"', "asia", ";", "\t", "from", "\r"],
    "modelstring": ["[", "]", "|", ":", "asia", " ", "\n", "[asia|asia]"],
}
TEXTS = {name: format_model(load_network("asia"), name) for name in PIECES}


@st.composite
def damaged(draw, name):
    text = TEXTS[name]
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 40)))
        piece = draw(st.one_of(st.sampled_from(PIECES[name]), st.text(max_size=3)))
        text = text[:start] + piece + text[draw(st.sampled_from([start, end])) :]
    return draw(st.sampled_from([text, text[: len(text) // 2]]))


def read_or_refuse(text, name):
    """Return the model of a text, or None after a FormatError; any other error fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoevoWarning)
        try:
            return parse_model(text, name, "x")
        except FormatError as error:
            message = str(error)
    assert re.fullmatch(
        r"x(, (line|variable) [\d,]+(, column \d+)?)?: \S.*[.?]", message, re.DOTALL
    )
    return None


@pytest.mark.parametrize("name", PIECES)
@given(data=st.data())
@settings(SETTINGS, max_examples=250)
def test_damage_gives_a_format_error_or_a_model(name, data):
    found = read_or_refuse(data.draw(damaged(name)), name)
    if found is None:
        return
    try:
        text = format_model(found, name)
    except FormatError:
        return  # the damage made a name that the format cannot hold
    assert parse_model(text, name) == found


@pytest.mark.parametrize("name", PIECES)
@given(text=st.text())
@settings(SETTINGS, max_examples=60)
def test_garbage_gives_a_format_error(name, text):
    read_or_refuse(text, name)


@pytest.mark.parametrize("name", PIECES)
def test_every_truncation(name):
    text = TEXTS[name][:700]
    for length in range(len(text)):
        read_or_refuse(text[:length], name)
