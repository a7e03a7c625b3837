"""The packages of CI: pinned, with hashes, and the same in all files."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PIN = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+?)(?: ; .*?)?(?: \\)?$", flags=re.MULTILINE)


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


@pytest.mark.parametrize("name", ["ci", "release", "wheels"])
def test_the_lock_file_is_used(name):
    workflow = (ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements.lock" in workflow


def test_each_action_is_pinned_by_a_commit_with_its_version():
    used = []
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        used += re.findall(r"uses: (?!\./)(.*)", path.read_text(encoding="utf-8"))
    pinned = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}  # v\d+(\.\d+){2}")
    assert [action for action in used if not pinned.fullmatch(action)] == []
    versions = {action.partition("@")[0]: set() for action in used}
    for action in used:
        versions[action.partition("@")[0]].add(action)
    assert all(len(found) == 1 for found in versions.values())


def read_job(workflow, job):
    text = (ROOT / f".github/workflows/{workflow}.yml").read_text(encoding="utf-8")
    return re.search(rf"^  {job}:\n((?:    .*\n|\n)+)", text, flags=re.MULTILINE)[1]


def test_the_files_of_a_release_are_made_by_packages_with_hashes():
    """No package without a hash runs where the files of a release are made or published."""
    made = read_job("wheels", "build")
    assert "uses: ./.github/workflows/wheels.yml" in read_job("release", "wheels")
    installs = re.findall(r"pip install (.*)", made + read_job("release", "publish"))
    assert installs == ["--require-hashes -r requirements.lock"]
    # the jobs that try the files, with packages that have no hash, do not change them
    assert all("upload-artifact" not in read_job("wheels", job) for job in ("try", "sdist"))


def test_the_compiler_of_a_release_is_one_that_the_build_accepts():
    build = (ROOT / "engine/build.py").read_text(encoding="utf-8")
    least = re.search(r'^ZIG = "ziglang>=(\d+)\.(\d+)"$', build, flags=re.MULTILINE)
    pinned = read_pins("requirements.lock")["ziglang"].split(".")
    assert tuple(map(int, pinned[:2])) >= tuple(map(int, least.groups()))
