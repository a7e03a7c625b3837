"""The readers of TSPLIB and LOLIB: every form of a matrix, and every mistake in a file."""

import contextlib
import gzip

import numpy as np
import pytest

from coevo.errors import CoevoError, FileError, FormatError
from coevo.problems import ORDERINGS, TOURS, open_ordering, open_tour
from coevo.problems.instance_files import FOLDER, format_tour_file, read_lolib, read_tsplib

MATRIX = np.array([[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]])
HEADER = "NAME: four\nTYPE: TSP\nDIMENSION: 4\n"
POINTS = "NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 6 8\n4 0.4 0.4\n"


def write(tmp_path, text, name="four.tsp"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


FORMS = {
    "FULL_MATRIX": "0 1 2 3\n1 0 4 5\n2 4 0 6\n3 5 6 0",
    "UPPER_ROW": "1 2 3\n4 5\n6",
    "LOWER_ROW": "1\n2 4\n3 5 6",
    "UPPER_DIAG_ROW": "0 1 2 3 0 4 5 0 6 0",
    "LOWER_DIAG_ROW": "0\n1 0 2 4\n0 3 5 6 0",
    "UPPER_COL": "1 2 4 3 5 6",
    "LOWER_COL": "1 2 3 4 5 6",
    "UPPER_DIAG_COL": "0 1 0 2 4 0 3 5 6 0",
    "LOWER_DIAG_COL": "0 1 2 3 0 4 5 0 6 0",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_matrix(form, tmp_path):
    text = f"{HEADER}EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {form}\nEDGE_WEIGHT_SECTION\n"
    problem = read_tsplib(write(tmp_path, f"{text}{FORMS[form]}\nEOF\n"))
    assert problem.distances.tolist() == MATRIX.tolist()
    assert problem.name == "four"
    assert problem.coordinates is None


@pytest.mark.parametrize(
    ("kind", "first_row"),
    [
        ("EUC_2D", [0, 5, 10, 1]),  # rounded to the nearest
        ("CEIL_2D", [0, 5, 10, 1]),
        ("MAN_2D", [0, 7, 14, 1]),
        ("MAX_2D", [0, 4, 8, 0]),
        ("ATT", [0, 2, 4, 1]),  # sqrt(25 / 10) = 1.58, sqrt(10) = 3.16 and 0.18 go up
    ],
)
def test_distances_of_points(kind, first_row, tmp_path):
    text = f"{HEADER}EDGE_WEIGHT_TYPE : {kind}\n{POINTS}"  # without EOF
    problem = read_tsplib(write(tmp_path, text))
    assert problem.distances[0].tolist() == first_row
    assert problem.coordinates.tolist() == [[0, 0], [3, 4], [6, 8], [0.4, 0.4]]


def test_distances_on_the_earth():
    """Two published distances of burma14; its optimum is tested with the solvers."""
    burma = open_tour("burma14")
    assert burma.distances[0, 1:3].tolist() == [153, 510]
    assert burma.coordinates[0].tolist() == [96.10, 16.47]  # the longitude to the right


def test_a_file_may_be_compressed_and_have_windows_lines(tmp_path):
    path = tmp_path / "four.tsp.gz"
    text = f"{HEADER}EDGE_WEIGHT_TYPE: EUC_2D\n{POINTS}EOF\n".replace("\n", "\r\n")
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.encode()))
    assert read_tsplib(path).n_places == 4


def test_a_file_may_have_several_comments(tmp_path):
    comments = "COMMENT : VLSI\nCOMMENT : 4 cities: a test\n"
    text = f"{comments}{HEADER}COMMENT : again\nEDGE_WEIGHT_TYPE: EUC_2D\n{POINTS}"
    assert read_tsplib(write(tmp_path, text)).n_places == 4


EXPLICIT = f"{HEADER}EDGE_WEIGHT_TYPE: EXPLICIT\n"
EUCLIDEAN = f"{HEADER}EDGE_WEIGHT_TYPE: EUC_2D\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "four.tsp: this is not a TSPLIB file."),
        ("1 2 3\n", "four.tsp, line 1: '1 2 3' is not supported."),
        ("NAME: x\nDIMENSION: 3\n", "four.tsp: there is no TYPE. Add it."),
        (HEADER, "four.tsp: there is no EDGE_WEIGHT_TYPE. Add it."),
        (
            HEADER.replace("TSP", "ATSP"),
            "four.tsp, line 2: TYPE must be one of TSP; got 'ATSP'. Did you mean 'TSP'?",
        ),
        (
            f"{HEADER}EDGE_WEIGHT_TYPE: EUC_3D\n{POINTS}",
            "four.tsp, line 4: EDGE_WEIGHT_TYPE must be one of EUC_2D, CEIL_2D, MAN_2D, MAX_2D, "
            "ATT, GEO, EXPLICIT; got 'EUC_3D'. Did you mean 'EUC_2D'?",
        ),
        (
            EUCLIDEAN.replace("DIMENSION: 4", "DIMENSION: four"),
            "four.tsp, line 3: DIMENSION must be a whole number >= 1; got 'four'.",
        ),
        (EUCLIDEAN.replace("DIMENSION: 4\n", ""), "four.tsp: there is no DIMENSION. Add it."),
        (
            EUCLIDEAN.replace("DIMENSION: 4", "DIMENSION: -4"),
            "four.tsp, line 3: DIMENSION must be a whole number >= 1; got '-4'.",
        ),
        (
            EUCLIDEAN.replace("DIMENSION: 4", "DIMENSION: 0"),
            "four.tsp, line 3: DIMENSION must be a whole number >= 1; got '0'.",
        ),
        (
            EUCLIDEAN.replace("DIMENSION: 4", f"DIMENSION: {'9' * 400}"),
            f"four.tsp, line 3: DIMENSION must be a whole number >= 1; got '{'9' * 40}'.",
        ),
        (
            EUCLIDEAN + POINTS + POINTS,
            "four.tsp, line 10: NODE_COORD_SECTION is given a second time.",
        ),
        (
            EUCLIDEAN + POINTS.replace("1 0 0", "-1 0 0"),
            "four.tsp, line 6: the cities are 1 to 4; got -1.",
        ),
        (
            EUCLIDEAN + POINTS.replace("1 0 0", "1.5 0 0"),
            "four.tsp, line 6: the cities are 1 to 4; got 1.5.",
        ),
        (f"{HEADER}NAME: again\n", "four.tsp, line 4: NAME is given a second time."),
        (
            f"{HEADER}EDGE_WEIGHT_TYP: EUC_2D\n",
            "four.tsp, line 4: 'EDGE_WEIGHT_TYP' is not supported. Did you mean "
            "'EDGE_WEIGHT_TYPE'?",
        ),
        (EUCLIDEAN, "four.tsp: EUC_2D needs a NODE_COORD_SECTION. Add it."),
        (
            EUCLIDEAN + POINTS.replace("4 0.4 0.4\n", ""),
            "four.tsp: NODE_COORD_SECTION has no city 4 of 4. Add it.",
        ),
        (
            EUCLIDEAN + POINTS.replace("4 0.4", "3 0.4"),
            "four.tsp, line 9: city 3 is given a second time.",
        ),
        (
            EUCLIDEAN + POINTS.replace("4 0.4", "5 0.4"),
            "four.tsp, line 9: the cities are 1 to 4; got 5.",
        ),
        (
            EUCLIDEAN + POINTS.replace("3 4", "3 x"),
            "four.tsp, line 7: 'x' is not a number.",
        ),
        (
            EUCLIDEAN + POINTS.replace("3 4", "nan 4"),
            "four.tsp, line 7: 'nan' is not a number.",
        ),
        (
            EUCLIDEAN + POINTS.replace("3 4", "1e999 4"),
            "four.tsp, line 7: '1e999' is not a number.",
        ),
        (
            EUCLIDEAN + POINTS.replace("2 3 4", "2 3"),
            "four.tsp, line 7: a city needs its number and two coordinates in NODE_COORD_SECTION.",
        ),
        (EXPLICIT, "four.tsp: there is no EDGE_WEIGHT_FORMAT. Add it."),
        (
            f"{EXPLICIT}EDGE_WEIGHT_FORMAT: UPPER_ROW\n",
            "four.tsp: EXPLICIT needs an EDGE_WEIGHT_SECTION. Add it.",
        ),
        (
            f"{EXPLICIT}EDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n1 2 3\n4 5\n",
            "four.tsp: EDGE_WEIGHT_SECTION has 5 numbers; 4 cities need 6.",
        ),
        (
            f"{EXPLICIT}EDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n"
            "0 1 2 3\n9 0 4 5\n2 4 0 6\n3 5 6 0\n",
            "four.tsp: The distance of 'four' from city 1 to city 2 is 1, and back it is 9. Give "
            "symmetric distances.",
        ),
        (
            f"{EUCLIDEAN}FIXED_EDGES_SECTION\n1 2\n-1\n",
            "four.tsp, line 5: 'FIXED_EDGES_SECTION' is not supported.",
        ),
    ],
)
def test_bad_tsplib_files(text, message, tmp_path):
    with pytest.raises(FormatError) as caught:
        read_tsplib(write(tmp_path, text))
    assert str(caught.value) == message


@pytest.mark.parametrize("read", [read_tsplib, read_lolib])
def test_a_huge_number_of_places_is_refused(read, tmp_path):
    text = EUCLIDEAN.replace("DIMENSION: 4", "DIMENSION: 999999999")
    text = text if read is read_tsplib else "999999999\n0 1 2\n"
    with pytest.raises(CoevoError, match=r"four\.tsp with 999,999,999 places needs .* GB"):
        read(write(tmp_path, text))


@pytest.mark.parametrize("kind", ["EUC_2D", "CEIL_2D", "MAN_2D", "MAX_2D", "ATT", "GEO"])
def test_huge_coordinates_are_refused(kind, tmp_path):
    """Their squares and products are no finite numbers. No warning is shown."""
    text = f"{HEADER}EDGE_WEIGHT_TYPE: {kind}\n{POINTS}"
    text = text.replace("2 3 4", "2 -1.7e308 1.7e308").replace("1 0 0", "1 1.7e308 -1.7e308")
    with pytest.raises(FormatError) as caught:
        read_tsplib(write(tmp_path, text))
    assert str(caught.value) == "four.tsp: the coordinates are too large. Scale them."


@pytest.mark.parametrize(
    "text",
    [
        "3\n0 1 2\n3 0 4\n5 6 0\n",
        "a title\n3\n0 1 2 3 0 4\n5 6 0",
        "3 sectors, 1975\n3\n0 1 2\n3 0 4\n5 6 0\n",
        "a title\n3\n0 1 2\n3 0 4\n5 6 0\na title\n",
        "0 1 2\n3 0 4\n5 6 0\n",
        "\ufeff3\r\n0 1 2\r\n3 0 4\r\n5 6 0\r\n",
    ],
)
def test_forms_of_lolib_files(text, tmp_path):
    problem = read_lolib(write(tmp_path, text, "three.lop"))
    assert problem.weights.tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    assert problem.name == "three"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "three.lop: the file holds no numbers."),
        ("title only\n", "three.lop: the file holds no numbers."),
        ("3\n0 1 2\n3 0 4\n5 6\n", "three.lop: the matrix has 8 numbers; 3 items need 9."),
        ("0 1 2\n3 0 4\n5 6\n", "three.lop: the matrix has 8 numbers; 2 items need 4."),
        ("3\n0 1 2\n3 - 4\n5 6 0\n", "three.lop, line 3: '-' is not a number."),
        ("0\n", "three.lop, line 1: The number of items must be a whole number >= 1; got '0'."),
        (
            "-3\n0 1\n",
            "three.lop, line 1: The number of items must be a whole number >= 1; got '-3'.",
        ),
        ("2\n0 nan\n1 0\n", "three.lop, line 2: 'nan' is not a number."),
        ("2\n0 1e400\n1 0\n", "three.lop, line 2: '1e400' is not a number."),
        (
            "2\n0 1e308\n1e308 0\n",
            "three.lop: The numbers of the matrix 'three' are too large to add. Scale them.",
        ),
        ("2\n0 1\n1 0\nother title\n", "three.lop, line 4: 'other' is not a number."),
        (
            "1 2\n3 x" + "y" * 99,
            f"three.lop, line 2: '{'x' + 'y' * 39}' is not a number.",
        ),
    ],
)
def test_bad_lolib_files(text, message, tmp_path):
    with pytest.raises(FormatError) as caught:
        read_lolib(write(tmp_path, text, "three.lop"))
    assert str(caught.value) == message


def test_damaged_files_give_an_error_or_a_problem(tmp_path, seed):
    """Random changes of a file never crash the readers."""
    rng = np.random.default_rng(seed)
    source = f"{EXPLICIT}EDGE_WEIGHT_FORMAT: UPPER_ROW\nEDGE_WEIGHT_SECTION\n1 2 3\n4 5\n6\nEOF\n"
    for _ in range(150):
        content = bytearray(source.encode())
        for place in rng.integers(len(content), size=3):
            content[place] = rng.integers(256)
        path = tmp_path / "four.tsp"
        path.write_bytes(bytes(content))
        for read in (read_tsplib, read_lolib):
            with contextlib.suppress(CoevoError):
                assert read(path).n_places >= 1


def test_bundled_instances():
    assert {name: open_tour(name).optimum for name in TOURS} == TOURS
    assert {name: open_ordering(name).optimum for name in ORDERINGS} == ORDERINGS
    sizes = [open_tour(name).n_places for name in TOURS]
    assert sizes == [14, 29, 48, 51, 52, 70, 100]
    assert [open_ordering(name).n_places for name in ORDERINGS] == [
        *[44] * 9,
        *[50] * 3,
        *[56] * 3,
        79,
    ]
    with pytest.raises(FileError) as caught:
        open_ordering("t59n11x")
    assert str(caught.value) == (
        "There is no file and no bundled instance 't59n11x'. The bundled ones are "
        f"{', '.join(ORDERINGS)}. Did you mean 't59n11xx'?"
    )


@pytest.mark.parametrize("name", ORDERINGS)
def test_bundled_orderings_are_normalised(name):
    """As LOLIB defines it: of each pair the smaller weight is 0. A wrong digit would show."""
    weights = open_ordering(name).weights
    assert (np.minimum(weights, weights.T) == 0).all()
    assert (weights >= 0).all()
    assert (weights == np.floor(weights)).all()


@pytest.mark.parametrize("name", ORDERINGS)
def test_bundled_orderings_are_complete(name):
    text = (FOLDER / f"{name}.lop").read_text()
    size, *rows = text.splitlines()
    assert {len(row.split()) for row in rows} == {int(size)} == {len(rows)}


def test_a_tour_file():
    assert format_tour_file("three", [1, 3, 2]) == (
        "NAME : three\nTYPE : TOUR\nDIMENSION : 3\nTOUR_SECTION\n1\n3\n2\n-1\nEOF\n"
    )
