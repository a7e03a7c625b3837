"""Write requirements.lock: what the tests need, each with the hashes of its files.

    python scripts/lock_hashes.py [INDEX]

The versions are those of constraints.txt. Of them, the file holds what coevo with the extra 'dev'
and its build backend need, found in the environment that runs this script: run it after `make
test`. The hashes come from the package index (PEP 503). CI installs with ``--require-hashes``, so a
file that was changed after this script saw it is refused. Run it again whenever constraints.txt
changes: a test compares the two.
"""

from __future__ import annotations

import re
import sys
import tomllib
import urllib.request
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

ROOT = Path(__file__).resolve().parent.parent
INDEX = "https://pypi.org/simple"
LINK = re.compile(r'href="[^"#]*/([^"/#]+)#sha256=([0-9a-f]{64})"')
BACKEND = (
    "editables",
    "hatchling",
    "packaging",
    "pathspec",
    "pluggy",
    "tomlkit",
    "trove-classifiers",
    "ziglang",  # a release is compiled by it, for all systems
)
HEAD = """\
# Written by scripts/lock_hashes.py from constraints.txt; CI installs it with --require-hashes.
"""


def main(arguments: list[str]) -> int:
    """Write the file; print what has no version in constraints.txt."""
    index = arguments[0] if arguments else INDEX
    versions = read_versions(ROOT / "constraints.txt")
    markers = read_markers()
    lines = [HEAD]
    for name in sorted(find_needed("coevo", {"dev"}) | set(BACKEND)):
        version = versions.get(name)
        if version is None:
            print(f"{name} is not in constraints.txt.", file=sys.stderr)
            return 1
        hashes = fetch_hashes(index, name, version)
        if not hashes:
            print(f"The index has no files of {name} {version}.", file=sys.stderr)
            return 1
        options = " \\\n".join(f"    --hash=sha256:{digest}" for digest in hashes)
        marker = markers.get(name)
        pin = f"{name}=={version}" if marker is None else f"{name}=={version} ; {marker}"
        lines.append(f"{pin} \\\n{options}\n")
    (ROOT / "requirements.lock").write_text("".join(lines), encoding="utf-8")
    print(f"{len(lines) - 1} packages in requirements.lock")
    return 0


def read_versions(path: Path) -> dict[str, str]:
    """Return the version of each package in a file of constraints."""
    pins = (line.split("==") for line in path.read_text().splitlines() if "==" in line)
    return {canonicalize_name(name.strip()): version.strip() for name, version in pins}


def read_markers() -> dict[str, str]:
    """Return for which versions of Python coevo wants a package, if not for all."""
    texts = [text for texts in read_project()["optional-dependencies"].values() for text in texts]
    needed = map(Requirement, texts)
    return {canonicalize_name(one.name): str(one.marker) for one in needed if one.marker}


def find_needed(package: str, extras: set[str]) -> set[str]:
    """Return the packages that a package with extras needs, directly or not."""
    found: set[str] = set()
    waiting: list[tuple[str, frozenset[str]]] = [(package, frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        found.add(name)
        for text in list_requirements(name):
            needed = Requirement(text)
            environments = [{"extra": extra} for extra in wanted or {""}]
            if needed.marker is None or any(map(needed.marker.evaluate, environments)):
                waiting.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return found - {package}


def list_requirements(package: str) -> list[str]:
    """Return what a package requires: coevo by its pyproject.toml, others as they are installed."""
    if package != "coevo":
        return metadata.requires(package) or []
    project = read_project()
    found: list[str] = [*project["dependencies"]]
    for extra, texts in project["optional-dependencies"].items():
        for text in texts:
            package, _, marker = text.partition(";")
            own = f"extra == '{extra}'"
            found.append(f"{package}; ({marker}) and {own}" if marker else f"{package}; {own}")
    return found


def read_project() -> dict[str, Any]:
    """Return what pyproject.toml says of the project."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return cast("dict[str, Any]", tomllib.loads(text)["project"])


def fetch_hashes(index: str, name: str, version: str) -> list[str]:
    """Return the hashes of all files of one version, sorted."""
    with urllib.request.urlopen(f"{index}/{name}/", timeout=60) as answer:
        page = answer.read().decode("utf-8")
    return sorted({digest for file, digest in LINK.findall(page) if read_version(file) == version})


def read_version(file: str) -> str | None:
    """Return the version in the name of a wheel or an sdist; None for another file."""
    try:
        if file.endswith(".whl"):
            return str(parse_wheel_filename(file)[1])
        return str(parse_sdist_filename(file)[1])
    except ValueError:
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
