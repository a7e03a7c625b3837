"""The engine is built by the compiler of the system if it works, and by that of ziglang if not."""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INTERFACE = "hatchling.builders.hooks.plugin.interface"

# A compiler that writes what it was called with into what it makes.
FAKE_COMPILER = """\
import sys
words = sys.argv[1:]
with open(words[words.index("-o") + 1], "w") as made:
    made.write("\\n".join(words))
"""


@pytest.fixture
def build(monkeypatch, tmp_path):
    """Return the module engine/build.py, as the build backend loads it; it builds in `tmp_path`."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv("COEVO_ENGINE_TARGET", raising=False)
    interface = types.ModuleType(INTERFACE)
    interface.BuildHookInterface = object
    for name in ("hatchling", "hatchling.builders", "hatchling.builders.hooks", INTERFACE):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, INTERFACE.rpartition(".")[0], types.ModuleType("plugin"))
    monkeypatch.setitem(sys.modules, INTERFACE, interface)
    spec = importlib.util.spec_from_file_location("engine_build", ROOT / "engine" / "build.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "engine_build", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "BUILD", tmp_path / "build")
    return module


def make_hook(build, target_name="wheel"):
    hook = build.EngineBuildHook()
    hook.target_name = target_name
    return hook


def write_program(folder, name, script):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def put_first(monkeypatch, folder):
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def break_compilers(monkeypatch, folder, script="exit 1"):
    for name in ("cc", "gcc", "clang"):
        write_program(folder, name, script)
    put_first(monkeypatch, folder)


posix = pytest.mark.skipif(os.name != "posix", reason="programs of the tests are shell scripts")


@posix
@pytest.mark.parametrize(
    "script",
    [
        "exit 1",
        "exit 0",  # it makes no library
        'while [ "$1" != -o ]; do shift; done; echo text >"$2"',
        "kill -SEGV $$",
    ],
)
def test_zig_is_asked_for_where_no_compiler_works(build, monkeypatch, tmp_path, script):
    break_compilers(monkeypatch, tmp_path / "broken", script)
    assert build.find_system_compiler() is None
    assert make_hook(build).dependencies() == ["ziglang>=0.14"]


@posix
def test_a_compiler_that_waits_does_not_work(build, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "TRIAL_SECONDS", 0.2)
    break_compilers(monkeypatch, tmp_path / "broken", "exec sleep 60")
    assert make_hook(build).dependencies() == ["ziglang>=0.14"]


@posix
def test_a_compiler_that_lacks_a_level_of_the_processor_does_not_work(build, monkeypatch, tmp_path):
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    script = 'case "$*" in *x86-64-v4*) exit 1;; esac\nwhile [ $1 != -o ]; do shift; done; : >$2'
    break_compilers(monkeypatch, tmp_path / "broken", script)
    assert build.find_system_compiler() is None


@posix
def test_the_first_compiler_that_works_is_used(build, monkeypatch, tmp_path):
    monkeypatch.setattr(build, "LOAD", "import sys; assert open(sys.argv[1]).read()")
    fake = tmp_path / "fake.py"
    fake.write_text(FAKE_COMPILER)
    write_program(tmp_path / "bin", "cc", "exit 1")
    write_program(tmp_path / "bin", "gcc", f'exec "{sys.executable}" "{fake}" "$@"')
    put_first(monkeypatch, tmp_path / "bin")
    assert build.find_system_compiler() == (["gcc"], False)
    assert make_hook(build).dependencies() == []

    build.find_system_compiler.cache_clear()
    monkeypatch.setenv("CC", f'"{sys.executable}" "{fake}" --of-the-user')
    assert build.find_system_compiler() == ([sys.executable, str(fake), "--of-the-user"], False)

    build.find_system_compiler.cache_clear()
    monkeypatch.setenv("CC", "no-such-program -m64")
    assert build.find_system_compiler() == (["gcc"], False)


@posix
def test_gcc_and_clang_are_not_used_on_windows(build, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    assert make_hook(build).dependencies() == ["ziglang>=0.14"]


def test_an_sdist_needs_no_compiler(build, monkeypatch):
    monkeypatch.setattr(build, "find_system_compiler", lambda: pytest.fail("it was looked for"))
    hook = make_hook(build, "sdist")
    assert hook.dependencies() == []
    hook.initialize("standard", {})


def write_command(command, seconds=None):
    """Write what a compiler was called with into what it would make."""
    words = [str(word) for word in command]
    Path(words[words.index("-o") + 1]).write_text("\n".join(words))


@pytest.fixture
def without_compiling(build, monkeypatch):
    """Let compilers make no code; only zig is there."""
    monkeypatch.setattr(build, "find_system_compiler", lambda: None)
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: "found")
    monkeypatch.setattr(build, "_run", write_command)


@posix
def test_zig_builds_all_levels_where_no_compiler_works(build, monkeypatch, tmp_path):
    break_compilers(monkeypatch, tmp_path / "broken")
    package = tmp_path / "zig" / "ziglang"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(FAKE_COMPILER)
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv("PYTHONPATH", str(package.parent), prepend=os.pathsep)
    monkeypatch.setattr(build, "find_sources", lambda: [Path("cpu.c"), Path("csv.c")])
    monkeypatch.setattr(build, "hash_sources", lambda: "0123")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert make_hook(build).dependencies() == ["ziglang>=0.14"]
    libraries = build.build_libraries(tmp_path / "made")
    assert [path.name for path in libraries] == [
        "libengine.so", "libengine_v3.so", "libengine_v4.so",
    ]  # fmt: skip
    for path in libraries:
        command = path.read_text().split("\n")
        assert command[0] == "cc"
        assert "-mcpu=x86_64" in command  # what zig adds runs everywhere
        assert "-ffp-contract=off" in command
        objects = [Path(word).name for word in command if word.endswith(".o")]
        assert objects == [f"{path.stem}-cpu.o", f"{path.stem}-csv.o"]
    assert {path.name for path in (tmp_path / "made").iterdir()} == {
        *(path.name for path in libraries), "libengine.stamp",
    }  # fmt: skip
    times = [path.stat().st_mtime_ns for path in libraries]
    assert build.build_libraries(tmp_path / "made") == libraries
    assert [path.stat().st_mtime_ns for path in libraries] == times


@pytest.mark.usefixtures("without_compiling")
def test_a_source_that_changed_is_built_again(build, monkeypatch, tmp_path):
    stamp = tmp_path / "made" / "libengine.stamp"
    first = build.build_libraries(tmp_path / "made")[0].stat().st_mtime_ns
    before = stamp.read_text()
    monkeypatch.setattr(build, "hash_sources", lambda: "another")
    assert build.build_libraries(tmp_path / "made")[0].stat().st_mtime_ns > first
    assert stamp.read_text() != before


@pytest.mark.parametrize(
    ("target", "tag", "suffix", "n_levels"),
    [
        ("x86_64-linux-gnu.2.17", "manylinux2014_x86_64", ".so", 3),
        ("aarch64-linux-gnu.2.17", "manylinux2014_aarch64", ".so", 1),
        ("x86_64-macos.11.0", "macosx_11_0_x86_64", ".dylib", 3),
        ("aarch64-macos.11.0", "macosx_11_0_arm64", ".dylib", 1),
        ("x86_64-windows-gnu", "win_amd64", ".dll", 3),
    ],
)
@pytest.mark.usefixtures("without_compiling")
def test_a_wheel_for_another_system(build, monkeypatch, tmp_path, target, tag, suffix, n_levels):
    monkeypatch.setenv("COEVO_ENGINE_TARGET", target)
    hook, data = make_hook(build), {"force_include": {}}
    assert hook.dependencies() == ["ziglang>=0.14"]
    hook.initialize("standard", data)
    assert (data["tag"], data["pure_python"]) == (f"py3-none-{tag}", False)
    levels = ["libengine", "libengine_v3", "libengine_v4"][:n_levels]
    assert list(data["force_include"].values()) == [f"coevo/{name}{suffix}" for name in levels]
    for path in map(Path, data["force_include"]):
        assert path.is_relative_to(tmp_path)  # the library of this machine stays
        words = path.read_text().split("\n")
        assert words[1:6] == ["-m", "ziglang", "cc", "-target", target]


def test_an_unknown_target_is_one_sentence(build, monkeypatch):
    monkeypatch.setenv("COEVO_ENGINE_TARGET", "vax")
    with pytest.raises(SystemExit, match=r"^COEVO_ENGINE_TARGET must be one of .*; got vax\.$"):
        make_hook(build).dependencies()


def test_an_installation_in_place_finds_the_library_beside_the_sources(build, monkeypatch):
    made = [build.PACKAGE / f"libengine{build.get_suffix(None)}"]
    monkeypatch.setattr(build, "build_libraries", lambda folder: made)
    data = {"force_include": {}}
    make_hook(build).initialize("editable", data)
    assert data["force_include"] == {}
    make_hook(build).initialize("standard", data)
    assert data["force_include"] == {str(made[0]): f"coevo/{made[0].name}"}


@pytest.mark.parametrize(
    ("system", "machine", "tag"),
    [
        ("darwin", "arm64", "macosx_11_0_arm64"),
        ("darwin", "x86_64", "macosx_11_0_x86_64"),
        ("linux", "x86_64", "linux_x86_64"),
        ("win32", "AMD64", "win_amd64"),
    ],
)
def test_the_wheel_of_this_machine_names_its_processor(build, monkeypatch, system, machine, tag):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    platforms = {"darwin": "macosx-10.13-universal2", "win32": "win-amd64", "linux": "linux-x86_64"}
    monkeypatch.setattr(build.sysconfig, "get_platform", lambda: platforms[system])
    assert build.get_wheel_tag(None) == tag


def test_a_build_that_fails_shows_what_the_compiler_says(build, monkeypatch, tmp_path):
    def fail(command, seconds=None):
        raise subprocess.CalledProcessError(1, command, output=b"count.c:1: no such type\n")

    compiler = build.Compiler(["cc"], is_zig=False)
    monkeypatch.setattr(build, "find_compiler", lambda target: compiler)
    monkeypatch.setattr(build, "_run", fail)
    with pytest.raises(SystemExit, match=r"^The engine could not be built:\ncount\.c:1: no such"):
        build.build_libraries(tmp_path / "made")
    assert not list((tmp_path / "made").iterdir())


@posix
def test_zig_is_fetched_where_the_build_backend_did_not_ask_for_it(build, monkeypatch, tmp_path):
    calls = []

    def run(command, seconds=None):
        calls.append([str(word) for word in command])
        folder = Path(command[command.index("--target") + 1])
        (folder / "ziglang").mkdir(parents=True)

    monkeypatch.setattr(build, "find_system_compiler", lambda: None)
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(build, "_run", run)
    package = str(tmp_path / "build" / "ziglang" / "ziglang")
    for _ in range(2):
        assert build.find_compiler() == ([sys.executable, package, "cc"], True)
    [call] = calls
    assert call[:4] == [sys.executable, "-m", "pip", "install"]
    assert call[-3:] == ["--constraint", str(ROOT / "constraints.txt"), "ziglang>=0.14"]


def test_git_ignores_what_is_built():
    ignored = (ROOT / ".gitignore").read_text().split()
    assert {"src/coevo/libengine*", "build/"} <= set(ignored)
