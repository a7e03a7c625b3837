"""Modules are joined into one script: in order, each once, with nothing left to import."""

import shutil
import subprocess
from importlib.resources import files

import pytest

from coevo.view.page.template import bundle_modules
from helpers.errors import refusal

FOLDERS = ("coevo.view.page", "coevo.view.inspection", "coevo.studio")
MODULES = [
    path
    for package in FOLDERS
    for folder in (files(package) / "assets", files(package) / "assets" / "views")
    if folder.is_dir()
    for path in sorted(folder.iterdir(), key=lambda each: each.name)
    if path.name.endswith(".js")
]


def make_texts(**texts):
    return {f"{name}.js": text for name, text in texts.items()}


LEFT, RIGHT = 'import { left } from "./left.js";\n', 'import { right } from "./page/right.js";\n'
DEEP = 'import { deep } from "./deep.js";\n'
DIAMOND = make_texts(
    top=f"{LEFT}{RIGHT}log.push(left + right());\n",
    left=f'{DEEP}export const left = "left " + deep;\n',
    right=f'{DEEP}export function right() {{ return " right " + deep; }}\n',
    deep='log.push("deep runs");\nexport const deep = "${export}";\n',
)


def test_a_shared_module_is_joined_once_and_first():
    text = bundle_modules("top", DIAMOND.__getitem__)
    assert text.count("deep runs") == 1
    places = [text.index(f"const ${name} = ") for name in ("deep", "left", "right", "top")]
    assert places == sorted(places)
    assert "import {" not in text


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_the_joined_script_does_what_the_modules_do():
    program = "const log = [];\n" + bundle_modules("top", DIAMOND.__getitem__)
    program += "process.stdout.write(log.join(String.fromCharCode(10)));"
    found = subprocess.run(["node", "-"], input=program, capture_output=True, text=True, check=True)
    assert found.stdout == "deep runs\nleft ${export} right ${export}"


def test_the_first_module_can_be_exported():
    text = bundle_modules("left", DIAMOND.__getitem__, is_module=True)
    assert text.endswith("export default $left;\n")


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (
            make_texts(a='import { b } from "./b.js";\n', b='import { a } from "./a.js";\n'),
            "The modules a -> b -> a import each other.",
        ),
        (
            make_texts(a="export default 1;\n"),
            "a.js has an import or export that is not joined: export default 1;",
        ),
        (
            make_texts(a='import b from "./b.js";\n'),
            'a.js has an import or export that is not joined: import b from "./b.js";',
        ),
    ],
)
def test_what_cannot_be_joined_is_refused(texts, sentence):
    assert refusal(ValueError, bundle_modules, "a", texts.__getitem__) == sentence


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_all_modules_are_javascript():
    assert len(MODULES) > 12
    for path in MODULES:
        found = subprocess.run(
            ["node", "--input-type=module", "--check"],
            input=path.read_text("utf-8"),
            capture_output=True,
            text=True,
        )
        assert found.returncode == 0, (path.name, found.stderr)
