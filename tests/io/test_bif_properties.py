"""BIF: any network reads back as it was written; damaged text raises only FormatError."""

import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevo.bundled import load_network
from coevo.errors import CoevoWarning, FormatError
from coevo.io import format_bif, parse_bif
from coevo.io.bif_reader import TableReader
from helpers.nasty_networks import SETTINGS, networks


@given(networks())
@SETTINGS
def test_writing_and_reading_is_the_identity(network):
    text = format_bif(network)
    again = parse_bif(text)
    assert again == network
    assert again.name == network.name
    assert format_bif(again) == text
    assert text.encode("utf-8").decode("utf-8") == text


@given(networks())
@SETTINGS
def test_the_quick_path_and_the_scanner_agree(network):
    text = format_bif(network)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TableReader, "_read_usual_rows", lambda self: None)
        slow = parse_bif(text)
    assert slow == parse_bif(text)


SAMPLES = [
    format_bif(load_network("asia")),
    format_bif(load_network("survey")),
    format_bif(load_network("child"))[:3000],
    """
    // a comment
    network "n" { property "a; b" ; }
    probability ( "b c" a ) { /* more */ default 0.5 0.5; ("x,") .25, 75e-2; }
    variable "b c" { type discrete[2] { "p" "q\\"" }; property x = 1; }
    variable a { type discrete [ 3 ] { "x,", y, z z }; }
    probability ( a ) { table 0.2, 0.3, 0.5; }
    """,
]
PIECES = [
    *("{", "}", "(", ")", "[", "]", ";", ",", "|", '"', "\\", "//", "/*", "*/", "#", " ", "\n"),
    *("-", "1e999", "0", "nan", "1_0", "é", "\x00", "\u0661", "\ud800", "999999999999"),
    *("table", "default", "property", "variable", "probability", "network", "type", "discrete"),
    *("[ 99999999 ]", "( a | a )", "default 1;", "variable asia {", "variable x { type"),
]


@st.composite
def damaged(draw):
    text = draw(st.sampled_from(SAMPLES))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 60)))
        change = draw(st.sampled_from(["delete", "insert", "replace", "double", "move", "cut"]))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)))
        to = draw(st.integers(0, len(text)))
        text = {
            "delete": text[:start] + text[end:],
            "insert": text[:start] + piece + text[start:],
            "replace": text[:start] + piece + text[end:],
            "double": text[:end] + text[start:],
            "move": text[:to] + text[start:end] + text[to:],
            "cut": text[:start],
        }[change]
    return text


def read_or_refuse(text):
    """Return the network of a text, or None after a FormatError; any other error fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoevoWarning)
        try:
            return parse_bif(text, "x.bif")
        except FormatError as error:
            message = str(error)
    assert re.fullmatch(r"x\.bif, line \d+, column \d+: \S.*[.?]", message, re.DOTALL)
    return None


@given(damaged())
@settings(SETTINGS, max_examples=300)  # tests/fuzz mutates BIF, too
def test_damage_gives_a_format_error_or_a_network(text):
    network = read_or_refuse(text)
    if network is not None:
        assert parse_bif(format_bif(network)) == network


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map(" ".join)))
@SETTINGS
def test_garbage_gives_a_format_error(text):
    read_or_refuse(text)


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_truncation(sample):
    text = sample[:900]
    for length in range(len(text)):
        read_or_refuse(text[:length])
