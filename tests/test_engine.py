"""The declarations of the engine in Python and in C agree, and wrong arguments never reach C."""

from __future__ import annotations

import importlib
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import coevo
from coevo import engine
from coevo.engine import ArrayType, NumberType, Structure, array, find_library, number, read_array
from coevo.errors import EngineError
from coevo.score.kernels import CacheEntries, find_or_add

SOURCES = Path(__file__).parents[1] / "engine"
PACKAGE = Path(coevo.__file__).parent


def read_headers():
    """Return the text of all headers without comments."""
    text = "\n".join(path.read_text() for path in sorted(SOURCES.glob("*.h")))
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def split_declaration(text):
    """Return the type and the name of a parameter or a field.

    >>> split_declaration("const  int32_t *members")
    ('const int32_t *', 'members')
    """
    kind, name = re.fullmatch(r"\s*(.*?)(\w+)\s*", text, flags=re.DOTALL).groups()
    return " ".join(kind.replace("*", " * ").replace("restrict", "").split()), name


def list_c_structures():
    found = re.findall(r"typedef struct (?:\w+ )?\{([^}]*)\} (\w+);", read_headers())
    return {
        name: [split_declaration(field) for field in body.split(";") if field.strip()]
        for body, name in found
    }


def list_c_functions():
    pattern = r"ENGINE_API\s+([\w ]+?\*?)\s*(\w+)\(([^)]*)\)\s*;"
    return {
        name: (
            answer.strip(),
            [split_declaration(one) for one in body.split(",")] if body.strip() != "void" else [],
        )
        for answer, name, body in re.findall(pattern, read_headers())
    }


def list_c_constants(header):
    """Return the constants of the enumerations of a header that are numbers or sums of them."""
    found = {}
    for body in re.findall(r"enum \{([^}]*)\}", re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)):
        value = -1
        for constant in filter(None, map(str.strip, body.split(","))):
            name, _, given = map(str.strip, constant.partition("="))
            value = eval(given, {}, found) if given else value + 1
            found[name] = value
    return found


def import_kernels():
    for path in PACKAGE.rglob("*.py"):
        if "from coevo.engine import" in path.read_text():
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            importlib.import_module(".".join(parts))
    return {one.__name__: one for one in engine.KERNELS if one.__module__.startswith("coevo.")}


def list_structures(kind=Structure):
    import_kernels()
    return [one for one in Structure.__subclasses__() if one.__module__.startswith("coevo.")]


def describe_fields(types):
    return [
        (" ".join(c_type.replace("*", " * ").split()), field)
        for name, type_ in types.items()
        for field, c_type, _ in type_.list_c_fields(name)
    ]


def test_structures_have_the_same_fields_in_c():
    in_c = list_c_structures()
    for one in list_structures():
        assert in_c.get(one.__name__) == describe_fields(one.field_types), one.__name__


def test_kernels_have_the_same_arguments_in_c():
    in_c = list_c_functions()
    for name, kernel in import_kernels().items():
        answer, arguments = in_c[name]
        expected = []
        for parameter, type_ in kernel.parameters.items():
            if isinstance(type_, ArrayType | NumberType):
                expected += describe_fields({parameter: type_})
            else:
                expected.append((f"const {type_.__name__} *", parameter))
        assert arguments == expected, name
        returned = {None: "void", True: "int64_t", False: "double"}
        assert answer == returned[kernel.returns and kernel.returns.is_whole], name


def test_constants_have_the_same_values_in_c():
    """Of a header and the modules of its topic, where both have the name.

    These are the modules that declare its functions, and ``TOPIC_kernels.py`` for ``TOPIC.h``.
    """
    topics = {path.stem.removesuffix("_kernels"): path for path in PACKAGE.rglob("*_kernels.py")}
    compared = set()
    for header in sorted(SOURCES.glob("*.h")):
        text = header.read_text()
        in_c = list_c_constants(text)
        kernels = [k for name, k in import_kernels().items() if re.search(rf"\b{name}\(", text)]
        homes = {kernel.__module__ for kernel in kernels}
        if header.stem in topics:
            parts = topics[header.stem].relative_to(PACKAGE.parent).with_suffix("").parts
            homes.add(".".join(parts))
        for home in sorted(homes):
            module = vars(importlib.import_module(home))
            for name in in_c.keys() & module.keys():
                assert in_c[name] == module[name], f"{name} of {header.name}"
                compared.add((header.name, name))
    assert len(compared) > 55


COUNT_CONSTANTS = (
    *("ARITY", "BITS", "COMMON", "COMPACT", "HIGH", "N_FACTS", "N_OTHERS", "RANK", "SINGLE"),
    "WORDS_PER_BLOCK",
)
SCORE_CONSTANTS = (
    *("ALL_ONES", "DIRICHLET", "DIRICHLET_SEEN", "FACTORISED", "LIKELIHOOD", "QUOTIENT"),
    *("RISING_ROWS", "RISING_WIDTH"),
)


@pytest.mark.parametrize(
    ("module", "header", "names"),
    [
        ("network.planning", "plan.h", ("DONE", "NO_ROOM")),
        ("posteriors.chain_kernels", "block.h", ("MAX_BLOCK_SIZE",)),
        ("search.order_kernels", "family_index.h", ("WORD_BITS",)),
        ("score.kernels", "count.h", COUNT_CONSTANTS),
        ("score.kernels", "score.h", SCORE_CONSTANTS),
    ],
)
def test_constants_of_another_header_have_the_same_values(module, header, names):
    in_c = list_c_constants((SOURCES / header).read_text())
    in_python = vars(importlib.import_module(f"coevo.{module}"))
    assert [in_c[name] for name in names] == [in_python[name] for name in names]


def test_every_status_of_a_plan_is_known():
    """`Calculation` takes more room for one, and every other but `DONE` for a plan too large."""
    statuses = list_c_constants(re.search(r"enum \{ DONE.*?\};", read_headers())[0])
    assert list(statuses) == ["DONE", "NO_ROOM", "TOO_LARGE"]


def test_python_declares_every_function():
    own = {"find_cpu_level", "get_source_hash"}  # of the loader and of these tests
    assert set(list_c_functions()) == set(import_kernels()) | own


def test_no_two_kernels_or_structures_have_one_name():
    import_kernels()
    names = [one.__name__ for one in engine.KERNELS if one.__module__.startswith("coevo.")]
    names += [one.__name__ for one in list_structures()]
    assert len(names) == len(set(names))


def make_entries():
    return CacheEntries(np.full(8, -1), np.zeros(5, dtype=np.int64), np.zeros(9, dtype=np.int32))


def find(entries=None, n=0, members=(4, 1, 2, 7), start=(0, 3, 4), n_variables=8, found=None):
    return find_or_add(
        make_entries() if entries is None else entries,
        n,
        np.array(members, dtype=np.int32) if isinstance(members, tuple) else members,
        np.array(start) if isinstance(start, tuple) else start,
        n_variables,
        np.empty(2, dtype=np.int64) if found is None else found,
    )


def test_a_kernel_answers():
    found = np.empty(2, dtype=np.int64)
    assert find(found=found) == 2
    assert found.tolist() == [0, 1]


OF_INT32 = "of find_or_add must be an array of int32 with 1 axis, contiguous."
OF_INT64 = "of find_or_add must be an array of int64 with 1 axis, contiguous."
WRITABLE = "of find_or_add must be a writable array of int64 with 1 axis, contiguous."


def read_only(values):
    values = np.array(values)
    values.setflags(write=False)
    return values


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"entries": (1, 2, 3)}, "'entries' of find_or_add must be a CacheEntries."),
        ({"n": 1.0}, "'n_entries' of find_or_add must be a whole number."),
        ({"n": "1"}, "'n_entries' of find_or_add must be a whole number."),
        ({"members": np.arange(4)}, f"'members' {OF_INT32}"),
        ({"members": [4, 1]}, f"'members' {OF_INT32}"),
        ({"start": np.arange(6)[::2]}, f"'start' {OF_INT64}"),
        ({"start": np.zeros((1, 3), dtype=np.int64)}, f"'start' {OF_INT64}"),
        ({"found": read_only([0, 0])}, f"'found' {WRITABLE}"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_type_errors(wrong, message):
    with pytest.raises(TypeError) as caught:
        find(**wrong)
    assert str(caught.value) == message


def test_the_number_of_arguments_is_checked():
    with pytest.raises(TypeError, match=r"^find_or_add takes 6 arguments\.$"):
        find_or_add(make_entries())


def test_a_structure_checks_its_fields():
    with pytest.raises(TypeError) as caught:
        CacheEntries(np.zeros(2), np.zeros(5, dtype=np.int64), np.zeros(9, dtype=np.int32))
    assert str(caught.value) == (
        "'slots' of CacheEntries must be a writable array of int64 with 1 axis, contiguous."
    )
    with pytest.raises(TypeError, match="CacheEntries has the fields slots, start, members"):
        CacheEntries(np.zeros(2, dtype=np.int64))
    with pytest.raises(AttributeError, match="'slots' of CacheEntries cannot be replaced"):
        make_entries().slots = np.zeros(2, dtype=np.int64)


def test_a_structure_survives_pickling():
    entries = make_entries()
    copy = pickle.loads(pickle.dumps(entries))
    assert [values.tolist() for values in copy] == [values.tolist() for values in entries]
    assert find(copy) == 2


def put_at_an_odd_address(values):
    """Return a copy of an array that no processor would choose, as Dask may deliver it."""
    room = np.empty(values.nbytes + 1, dtype=np.uint8)
    copy = room[1:].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


def test_arrays_at_odd_addresses_are_copied_if_they_are_only_read():
    class Odd(Structure):
        read = read_array(np.int64)

    class OddToWrite(Structure):
        written = array(np.int64)

    odd = put_at_an_odd_address(np.arange(4))
    assert not odd.flags.aligned
    assert Odd(odd).read.flags.aligned
    assert Odd(odd).read.tolist() == odd.tolist()
    start = put_at_an_odd_address(np.array([0, 3, 4]))
    found = np.empty(2, dtype=np.int64)
    assert find(start=start, found=found) == 2
    assert found.tolist() == [0, 1]
    with pytest.raises(TypeError, match="must be a writable array of int64"):
        OddToWrite(odd)
    with pytest.raises(TypeError, match="'found' of find_or_add must be a writable array"):
        find(start=start, found=odd)


def test_lengths_travel_behind_addresses():
    class Pair(Structure):
        one = array(np.float64, 2)
        two = read_array(np.bool_, 3)

        factor = number(float)

    names = [name for _, name in describe_fields(Pair.field_types)]
    lengths = ["n_one", "one_width", "n_two", "two_width", "two_depth"]
    assert names == ["one", *lengths[:2], "two", *lengths[2:], "factor"]
    one, two = np.empty((2, 3)), np.empty((4, 5, 6), dtype=np.bool_)
    packed = Pair(one, two, 0.5).packed
    values = (one.ctypes.data, 2, 3, two.ctypes.data, 4, 5, 6, 0.5)
    in_c = type("C", (engine.ctypes.Structure,), {"_fields_": [
        (name, kind) for of, type_ in Pair.field_types.items()
        for name, _, kind in type_.list_c_fields(of)
    ]})  # fmt: skip
    assert packed == bytes(in_c(*values))


def test_a_missing_library_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("COEVO_ENGINE_LIBRARY", str(tmp_path / "none.so"))
    engine.load_library.cache_clear()
    try:
        with pytest.raises(EngineError, match=r"could not be loaded from none\.so: .*make engine$"):
            engine.load_library()
    finally:
        engine.load_library.cache_clear()


def test_the_library_was_built_from_these_sources():
    spec = importlib.util.spec_from_file_location("engine_build", SOURCES / "build.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    get_hash = engine.load_library().get_source_hash
    get_hash.restype = engine.ctypes.c_char_p
    assert get_hash().decode() == build.hash_sources(), "make engine"


def test_the_best_library_for_the_processor_is_found(monkeypatch):
    monkeypatch.delenv("COEVO_ENGINE_LIBRARY", raising=False)
    assert find_library().name.startswith("libengine")
