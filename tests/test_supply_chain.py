"""The packages of CI: pinned, with hashes, and the same in all files."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PIN = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+?)(?: \\)?$", flags=re.MULTILINE)


def normalise(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    return {normalise(package): version for package, version in PIN.findall(text)}


def test_each_package_of_ci_has_hashes_and_the_version_of_the_constraints():
    pins, locked = read_pins("constraints.txt"), read_pins("requirements.lock")
    differing = {name for name, version in locked.items() if pins.get(name) != version}
    assert not differing, "Run scripts/lock_hashes.py again."
    entries = (ROOT / "requirements.lock").read_text().split("\n")[1:]
    packages = [line for line in entries if line and not line.startswith(" ")]
    hashes = [line for line in entries if line.startswith("    --hash=sha256:")]
    assert len(packages) == len(locked) <= len(hashes)


@pytest.mark.parametrize("extra", [None, "dev", "docs"])
def test_what_the_tests_need_is_locked(extra):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"]
    if extra is not None:
        wanted = project["optional-dependencies"][extra]
    names = {normalise(re.split(r"[<>=\[; ]", text)[0]) for text in wanted} - {"coevo"}
    assert names <= read_pins("requirements.lock").keys()


def test_the_lock_file_is_used():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements.lock" in workflow
