"""Build the engine, a C library, into src/coevo.

The hook of the build backend calls it (see [tool.hatch.build.hooks.custom] in pyproject.toml), and
so does ``make``:

    python engine/build.py              what is out of date, for this machine
    python engine/build.py --sanitize   build/engine-checked: with sanitizers and assertions
    python engine/build.py --warnings   nothing is built; warnings of the compiler are errors

The compiler of the system is used if it works: if it compiles a library that this Python can load.
Else the build asks for the package ``ziglang``, which carries a C compiler. For x86-64 there is a
library for each level of the processor, and `coevo.engine` loads the best one that can run. All
give the same bits. ``COEVO_ENGINE_TARGET`` is for wheels of other systems: a target of zig, such as
``aarch64-linux-gnu.2.17``.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import ctypes
import functools
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).resolve().parent
PACKAGE = ENGINE.parent / "src" / "coevo"
ZIG = "ziglang>=0.14"

# Only the gate asks for them: the compiler of a user may know warnings that ours does not. Lengths
# travel with each array, whether a function needs them or not.
STRICT = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
# No contraction to fused multiply-add: each build gives the same bits. No errno: sqrt is inlined.
FLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden"]
CHECKED = [
    "-std=c11", "-O1", "-g", "-ffp-contract=off", "-fvisibility=hidden", "-DENGINE_CHECKED",
    "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer",
]  # fmt: skip

# The levels of a processor: the name of the library, flags of gcc and clang, flags of zig.
X86_LEVELS = {
    "libengine": (["-march=x86-64"], ["-mcpu=x86_64"]),
    "libengine_v3": (["-march=x86-64-v3"], ["-mcpu=x86_64_v3"]),
    "libengine_v4": (
        ["-march=x86-64-v4", "-mavx512vpopcntdq"],
        ["-mcpu=x86_64_v4+avx512vpopcntdq"],
    ),
}
ONE_LEVEL: dict[str, tuple[list[str], list[str]]] = {"libengine": ([], [])}

# A target of zig, and the tag of its wheel.
WHEEL_TAGS = {
    "x86_64-linux-gnu.2.17": "manylinux2014_x86_64",
    "aarch64-linux-gnu.2.17": "manylinux2014_aarch64",
    "x86_64-macos.11.0": "macosx_11_0_x86_64",
    "aarch64-macos.11.0": "macosx_11_0_arm64",
    "x86_64-windows-gnu": "win_amd64",
}


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
    return os.environ.get("COEVO_ENGINE_TARGET") or None


def get_suffix(target: str | None) -> str:
    """Return how the name of a library ends on the target."""
    system = target or sys.platform
    if "win32" in system or "windows" in system:
        return ".dll"
    return ".dylib" if "darwin" in system or "macos" in system else ".so"


def find_levels(target: str | None) -> dict[str, tuple[list[str], list[str]]]:
    """Return the levels of the processor to build for."""
    machine = target.split("-")[0] if target else platform.machine().lower()
    return X86_LEVELS if machine in ("x86_64", "amd64") else ONE_LEVEL


@functools.cache
def find_system_compiler() -> str | None:
    """Return the first compiler of the system that makes a library which loads here."""
    named = os.environ.get("CC")
    for command in [named] if named else ["cc", "gcc", "clang"]:
        found = shutil.which(command)
        if found and _works(found):
            return found
    return None


def _works(compiler: str) -> bool:
    """Return whether a compiler knows all levels of the processor, and its library loads here."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "try.c"), Path(folder, "try" + get_suffix(None))
        source.write_text("#include <math.h>\ndouble half(double x) { return floor(x) / 2; }\n")
        flags = [*FLAGS[:-1], *_link_flags(None)]  # without the last one, `half` is visible
        try:
            for own, _ in find_levels(None).values():
                _run([compiler, *flags, *own, source, "-o", library, "-lm"])
            return hasattr(ctypes.CDLL(str(library)), "half")
        except (OSError, subprocess.SubprocessError):
            return False


def _link_flags(target: str | None) -> list[str]:
    return ["-shared"] if get_suffix(target) == ".dll" else ["-shared", "-fPIC"]


def _run(command: list[Any]) -> None:
    subprocess.run(
        [str(part) for part in command],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        timeout=600,
    )


def find_command(target: str | None) -> tuple[list[str], bool]:
    """Return the command of the compiler, and whether it is zig's."""
    system = None if target else find_system_compiler()
    if system:
        return [system], False
    if importlib.util.find_spec("ziglang") is None:
        raise SystemExit(
            "No C compiler was found that works. Install one, or: pip install 'ziglang'"
        )
    return [sys.executable, "-m", "ziglang", "cc", *(["-target", target] if target else [])], True


def build_libraries(folder: Path = PACKAGE, sanitize: bool = False) -> list[Path]:
    """Build the libraries that are missing or out of date; return all of them."""
    target = find_target()
    stamp = folder / "libengine.stamp"
    levels = ONE_LEVEL if sanitize else find_levels(target)
    libraries = {folder / (name + get_suffix(target)): flags for name, flags in levels.items()}
    state = f"{hash_sources()} {target or 'this machine'} {sanitize}\n"
    if (
        all(library.exists() for library in libraries)
        and stamp.exists()
        and stamp.read_text() == state
    ):
        return list(libraries)
    command, is_zig = find_command(target)
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    macro = f'-DENGINE_SOURCE_HASH="{hash_sources()}"'

    def build(library: Path) -> None:
        own = libraries[library][1 if is_zig else 0]
        flags = [*(CHECKED if sanitize else FLAGS), *own, *_link_flags(target), macro]
        # A new file each time: a process that has loaded the old one keeps it.
        fresh = library.with_name(f".{library.name}.{os.getpid()}")
        try:
            _run([*command, *flags, "-I", ENGINE, *find_sources(), "-o", fresh, "-lm"])
            os.replace(fresh, library)
        except subprocess.CalledProcessError as error:
            text = error.stdout.decode(errors="replace")
            raise SystemExit(f"The engine could not be built:\n{text}") from None
        finally:
            fresh.unlink(missing_ok=True)

    with concurrent.futures.ThreadPoolExecutor(len(libraries)) as pool:
        list(pool.map(build, libraries))
    stamp.write_text(state)
    return list(libraries)


def check_warnings() -> None:
    """End with the warnings of the compiler, if there are any."""
    command, is_zig = find_command(None)
    macro = '-DENGINE_SOURCE_HASH="none"'
    flags = [*FLAGS, *STRICT, *find_levels(None)["libengine"][1 if is_zig else 0], macro]
    for source in find_sources():
        done = subprocess.run(
            [*command, *flags, "-fsyntax-only", "-I", str(ENGINE), str(source)], check=False
        )
        if done.returncode:
            raise SystemExit(done.returncode)


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
            return [] if not find_target() and find_system_compiler() else [ZIG]

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """Build, and name the wheel by the platform: it serves every Python 3."""
            if self.target_name != "wheel":
                return
            target = find_target()
            if target:
                tag = WHEEL_TAGS[target]
            else:
                tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            libraries = build_libraries()
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{tag}"
            build_data["artifacts"] += [f"/src/coevo/{library.name}" for library in libraries]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sanitize", action="store_true", help="Build with sanitizers.")
    parser.add_argument("--warnings", action="store_true", help="Show warnings, build nothing.")
    arguments = parser.parse_args()
    if arguments.warnings:
        check_warnings()
    elif arguments.sanitize:
        build_libraries(ENGINE.parent / "build" / "engine-checked", sanitize=True)
    else:
        build_libraries()
