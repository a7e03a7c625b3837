"""Build the engine, a C library, into src/coevo.

The hook of the build backend calls it (see [tool.hatch.build.hooks.custom] in pyproject.toml), and
so does ``make``:

    python engine/build.py                  what is out of date, for this machine
    python engine/build.py --sanitize       build/engine-checked: with sanitizers and assertions;
                                            prints the settings of a shell that uses it
    python engine/build.py --warnings       nothing is built; warnings of the compiler are errors
    python engine/build.py --targets        prints the systems that have wheels

The compiler of the system is used if it works: if it compiles a library that this Python can load.
Else the build asks for the package ``ziglang``, which carries a C compiler. For x86-64 there is a
library for each level of the processor, and `coevo.engine` loads the best one that can run. All
give the same bits. ``COEVO_ENGINE_TARGET`` is for wheels of other systems: a target of zig, such as
``aarch64-linux-gnu.2.17``.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

ENGINE = Path(__file__).resolve().parent
PACKAGE = ENGINE.parent / "src" / "coevo"
BUILD = ENGINE.parent / "build"
ZIG = "ziglang>=0.14"

# Only the gate asks for them: the compiler of a user may know warnings that ours does not. Lengths
# travel with each array, whether a function needs them or not.
STRICT = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
# No contraction to fused multiply-add: each build gives the same bits. No errno: sqrt is inlined.
FLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden"]
CHECKED = [
    "-std=c11", "-O1", "-g", "-ffp-contract=off", "-fvisibility=hidden", "-DENGINE_CHECKED",
    "-fno-omit-frame-pointer",
]  # fmt: skip
# The best one that a compiler has. zig has no library of the sanitizer of addresses.
SANITIZERS = [
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    ["-fsanitize=undefined", "-fno-sanitize-recover=all"],
    [],
]
# The libraries of the sanitizers, which a process loads before Python; names of gcc, and of clang.
RUNTIMES = ["libasan.so", "libubsan.so"]
CLANG_RUNTIMES = [f"libclang_rt.asan-{platform.machine()}.so", "libclang_rt.asan.so"]

# numpy has no wheels for earlier systems either. The tag of the wheel says the same.
MACOS = "11.0"

# What finds out whether a compiler works.
TRIAL = """\
#include <math.h>
__attribute__((visibility("default"))) double half(double x) { return floor(x) / 2; }
"""
LOAD = (
    "import ctypes, sys; half = ctypes.CDLL(sys.argv[1]).half;"
    "half.restype, half.argtypes = ctypes.c_double, [ctypes.c_double];"
    "assert half(5.5) == 2.5"
)
TRIAL_SECONDS = 60  # a compiler that waits for an answer does not work


class Level(NamedTuple):
    """A level of the processor: flags of gcc and clang, and flags of zig."""

    system: list[str]
    zig: list[str]


X86_LEVELS = {
    "libengine": Level(["-march=x86-64"], ["-mcpu=x86_64"]),
    "libengine_v3": Level(["-march=x86-64-v3"], ["-mcpu=x86_64_v3"]),
    "libengine_v4": Level(
        ["-march=x86-64-v4", "-mavx512vpopcntdq"], ["-mcpu=x86_64_v4+avx512vpopcntdq"]
    ),
}
# zig compiles for the processor of the machine if nothing is said, and gcc for all of its family.
ONE_LEVEL = {"libengine": Level([], ["-mcpu=baseline"])}

# A target of zig, and the tag of its wheel.
WHEEL_TAGS = {
    "x86_64-linux-gnu.2.17": "manylinux2014_x86_64",
    "aarch64-linux-gnu.2.17": "manylinux2014_aarch64",
    f"x86_64-macos.{MACOS}": "macosx_11_0_x86_64",
    f"aarch64-macos.{MACOS}": "macosx_11_0_arm64",
    "x86_64-windows-gnu": "win_amd64",
}


class Compiler(NamedTuple):
    """The command of a compiler, and whether it is zig's."""

    command: list[str]
    is_zig: bool

    def get_flags(self, level: Level) -> list[str]:
        """Return the flags for a level of the processor."""
        return level.zig if self.is_zig else level.system


def find_sources() -> list[Path]:
    """Return the C files, in a fixed sequence."""
    return sorted(ENGINE.glob("*.c"))


def hash_sources() -> str:
    """Return a hash of all sources, which the library carries."""
    digest = hashlib.sha256()
    for source in [*find_sources(), *sorted(ENGINE.glob("*.h")), Path(__file__)]:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def find_target() -> str | None:
    """Return the target of zig to build for, None for this machine."""
    target = os.environ.get("COEVO_ENGINE_TARGET") or None
    if target not in (None, *WHEEL_TAGS):
        raise SystemExit(
            f"COEVO_ENGINE_TARGET must be one of {', '.join(WHEEL_TAGS)}; got {target}."
        )
    return target


def get_suffix(target: str | None) -> str:
    """Return how the name of a library ends on the target."""
    system = target or sys.platform
    if "win32" in system or "windows" in system:
        return ".dll"
    return ".dylib" if "darwin" in system or "macos" in system else ".so"


def find_levels(target: str | None) -> dict[str, Level]:
    """Return the levels of the processor to build for."""
    machine = target.split("-")[0] if target else platform.machine().lower()
    return X86_LEVELS if machine in ("x86_64", "amd64") else ONE_LEVEL


def get_wheel_tag(target: str | None) -> str:
    """Return the tag of the platform of a wheel."""
    if target:
        return WHEEL_TAGS[target]
    if sys.platform == "darwin":  # the platform of Python may name more processors than ours
        return f"macosx_{MACOS.replace('.', '_')}_{platform.machine()}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


@functools.cache
def find_system_compiler() -> Compiler | None:
    """Return the first compiler of the system that makes libraries which load here."""
    commands = [shlex.split(os.environ.get("CC", "")), ["cc"], ["gcc"], ["clang"]]
    if sys.platform == "win32":
        # gcc puts vectors where they are not aligned on the stack (its bug 54412), and clang needs
        # the libraries of Visual Studio: zig needs neither.
        del commands[1:]
    for command in filter(None, commands):
        compiler = Compiler(command, is_zig=False)
        if shutil.which(command[0]) and _works(compiler):
            return compiler
    return None


def _works(compiler: Compiler) -> bool:
    """Return whether a compiler knows all levels of the processor, and its libraries load here."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name, level in find_levels(None).items():
                own = [*FLAGS, *level.system]
                _build_trial(compiler, Path(folder, name), own, TRIAL_SECONDS)
            # In a process of its own, in case that it crashes.
            _run([sys.executable, "-c", LOAD, Path(folder, "libengine")], TRIAL_SECONDS)
        except (OSError, subprocess.SubprocessError):
            return False
    return True


def _build_trial(
    compiler: Compiler, library: Path, flags: Sequence[str], seconds: float | None = None
) -> None:
    """Build a library of one function."""
    source = library.with_name("trial.c")
    source.write_text(TRIAL)
    own = [*flags, *_list_system_flags(None), "-shared"]
    _run([*compiler.command, *own, source, "-o", library, "-lm"], seconds)


def _list_system_flags(target: str | None) -> list[str]:
    """Return the flags that only the system of the target needs."""
    if get_suffix(target) == ".dll":
        return []
    version = [f"-mmacosx-version-min={MACOS}"] if sys.platform == "darwin" and not target else []
    return ["-fPIC", *version]


def _run(command: Sequence[Any], seconds: float | None = None) -> bytes:
    """Run a command and return its output. zig writes to no other place than the build folder."""
    caches = {f"ZIG_{kind}_CACHE_DIR": str(BUILD / "zig") for kind in ("GLOBAL", "LOCAL")}
    return subprocess.run(
        [str(part) for part in command],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        timeout=seconds,
        env={**caches, **os.environ},
    ).stdout


def find_compiler(target: str | None = None) -> Compiler:
    """Return the compiler of the system if it works, else zig's."""
    system = None if target else find_system_compiler()
    if system:
        return system
    is_installed = importlib.util.find_spec("ziglang") is not None
    package = ["-m", "ziglang"] if is_installed else [str(_fetch_zig())]
    options = ["-target", target] if target else []
    return Compiler([sys.executable, *package, "cc", *options], is_zig=True)


def _fetch_zig() -> Path:
    """Return the package ziglang in the build folder; install it there if it is missing.

    The hook of the build backend does not need it, because `dependencies` asks for ziglang.
    """
    folder = BUILD / "ziglang"
    if not folder.exists():
        print(f"No C compiler works here. Installing {ZIG} into {folder} ...", file=sys.stderr)
        new = folder.with_name(f"ziglang.{os.getpid()}")
        known = ENGINE.parent / "constraints.txt"
        pinned = ["--constraint", known] if known.exists() else []
        try:
            _run([sys.executable, "-m", "pip", "install", "--target", new, *pinned, ZIG])
            os.replace(new, folder)
        except subprocess.CalledProcessError as error:
            print(error.stdout.decode(errors="replace"), file=sys.stderr)
            raise SystemExit(
                f"No C compiler works here. Install one, or: pip install '{ZIG}'"
            ) from None
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return folder / "ziglang"


def find_sanitizers(compiler: Compiler) -> list[str]:
    """Return the flags of the best sanitizers that a compiler has."""
    choices = SANITIZERS[1:] if compiler.is_zig else SANITIZERS
    with tempfile.TemporaryDirectory() as folder:
        for flags in choices[:-1]:
            try:
                _build_trial(compiler, Path(folder, "trial"), [*CHECKED, *flags])
            except (OSError, subprocess.SubprocessError):
                continue
            return flags
    return choices[-1]


def find_runtimes(compiler: Compiler) -> list[str]:
    """Return the paths of the libraries that a process must load before it loads Python."""
    if compiler.is_zig:
        return []
    names = CLANG_RUNTIMES if b"clang" in _run([*compiler.command, "--version"]) else RUNTIMES
    found = [_run([*compiler.command, f"-print-file-name={name}"]).decode() for name in names]
    return [path.strip() for path in found if os.path.isabs(path)]  # else it is the name alone


def build_libraries(folder: Path = PACKAGE, sanitizers: Sequence[str] | None = None) -> list[Path]:
    """Build the libraries that are missing or out of date; return all of them."""
    target = find_target()
    levels = find_levels(target) if sanitizers is None else ONE_LEVEL
    libraries = [folder / (name + get_suffix(target)) for name in levels]
    stamp = folder / "libengine.stamp"
    state = f"{hash_sources()} {target or 'this machine'} {sanitizers}\n"
    is_built = all(library.exists() for library in libraries) and stamp.exists()
    if is_built and stamp.read_text() == state:
        return libraries

    flags = FLAGS if sanitizers is None else [*CHECKED, *sanitizers]
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    try:
        _build(find_compiler(target), flags, levels, libraries)
    except subprocess.CalledProcessError as error:
        text = error.stdout.decode(errors="replace")
        raise SystemExit(f"The engine could not be built:\n{text}") from None
    stamp.write_text(state)
    return libraries


def _build(
    compiler: Compiler, flags: Sequence[str], levels: dict[str, Level], libraries: Sequence[Path]
) -> None:
    """Compile each file for each level, then link and replace the libraries.

    In two steps, because zig compiles the libraries of the system for the level that it links for:
    one level is enough, and on Windows that takes minutes.
    """
    macro = f'-DENGINE_SOURCE_HASH="{hash_sources()}"'
    common = [*flags, *_list_system_flags(find_target())]
    link = [*common, *compiler.get_flags(levels["libengine"]), "-shared"]
    if compiler.is_zig and flags is FLAGS:
        link.append("-s")  # else it describes all code for debuggers

    def compile_source(job: tuple[Level, Path, Path]) -> None:
        level, source, made = job
        own = [*common, *compiler.get_flags(level), macro, "-I", ENGINE]
        _run([*compiler.command, *own, "-c", source, "-o", made])

    sources = find_sources()
    with tempfile.TemporaryDirectory(prefix="libengine-", dir=libraries[0].parent) as folder:
        made = {name: [Path(folder, f"{name}-{c.stem}.o") for c in sources] for name in levels}
        jobs = [
            (level, source, one)
            for name, level in levels.items()
            for source, one in zip(sources, made[name], strict=True)
        ]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_source, jobs))
        for name, library in zip(levels, libraries, strict=True):
            fresh = Path(folder, library.name)
            # macOS writes into a library where it was made, unless it gets a name.
            own = [f"-Wl,-install_name,@rpath/{fresh.name}"] if fresh.suffix == ".dylib" else []
            _run([*compiler.command, *link, *own, *made[name], "-o", fresh, "-lm"])
            os.replace(fresh, library)  # a process that has loaded the old file keeps it


def check_warnings() -> None:
    """End with the warnings of the compiler, if there are any."""
    compiler = find_compiler()
    # Without optimisation: what else it finds is different in each version of a compiler.
    flags = [*FLAGS, "-O0", *STRICT, '-DENGINE_SOURCE_HASH="none"', "-I", ENGINE, "-c"]
    with tempfile.TemporaryDirectory() as folder:
        for source in find_sources():
            try:
                _run([*compiler.command, *flags, source, "-o", Path(folder, "made.o")])
            except subprocess.CalledProcessError as error:
                raise SystemExit(error.stdout.decode(errors="replace")) from None


def build_checked() -> None:
    """Build the library with sanitizers, and print the settings of a shell that runs it."""
    compiler = find_compiler()
    sanitizers = find_sanitizers(compiler)
    if sanitizers != SANITIZERS[0]:
        print(f"Without the sanitizer of addresses; with {sanitizers}.", file=sys.stderr)
    [library] = build_libraries(BUILD / "engine-checked", sanitizers)
    print(f"COEVO_ENGINE_LIBRARY={shlex.quote(str(library))}")
    print(f"LD_PRELOAD={shlex.quote(' '.join(find_runtimes(compiler)))}")


try:
    from hatchling.builders.hooks.plugin.interface import (  # type: ignore[import-not-found]
        BuildHookInterface,
    )
except ImportError:  # `make` calls this file without the build backend
    pass
else:

    class EngineBuildHook(BuildHookInterface):  # type: ignore[misc]
        """Builds the engine for wheels and for installations in place."""

        def dependencies(self) -> list[str]:
            """Ask for zig only where no compiler of the system works."""
            if self.target_name != "wheel":
                return []
            return [] if not find_target() and find_system_compiler() else [ZIG]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Build, and name the wheel by the platform: it serves every Python 3."""
            if self.target_name != "wheel":
                return
            target = find_target()
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{get_wheel_tag(target)}"
            # The libraries of another system do not replace those that run here.
            folder = BUILD / f"engine-{target}" if target else PACKAGE
            for library in build_libraries(folder):
                if version != "editable":  # which finds it beside the sources
                    build_data["force_include"][str(library)] = f"coevo/{library.name}"


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sanitize", action="store_true", help="Build with sanitizers.")
    parser.add_argument("--warnings", action="store_true", help="Show warnings, build nothing.")
    parser.add_argument("--targets", action="store_true", help="List the systems with wheels.")
    arguments = parser.parse_args()
    if arguments.warnings:
        check_warnings()
    elif arguments.sanitize:
        build_checked()
    elif arguments.targets:
        print("\n".join(WHEEL_TAGS))
    else:
        build_libraries()


if __name__ == "__main__":
    main()
