"""A studio as its own process, and a client that talks to it as a program, for benchmarks."""

from __future__ import annotations

import http.client
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["StudioProcess", "list_children", "make_patches", "read_cpu_of"]

TIMEOUT = 300.0  # seconds
# In processes of jobs each generation is an event and a checkpoint, as those of a long search are.
PATCHES = """
import sys
if "-c" in sys.argv[:1]:
    from coevo.files import checkpoints
    from coevo.studio import learn_job
    checkpoints.SECONDS_BETWEEN, checkpoints.SHARE_OF_TIME = 0.0, 1e9
    learn_job.SECONDS_BETWEEN_ROWS = 0.0
"""


def make_patches(folder: Path) -> Path:
    """Write a module that Python imports when it starts; return its folder."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(PATCHES)
    return folder


def read_cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def list_children(pid: int) -> list[int]:
    """Return the processes that a process started, those of all its threads."""
    files = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for file in files for child in file.read_text().split()]


class StudioProcess:
    """A running ``coevo studio`` on a workspace."""

    def __init__(self, workspace: Path, patches: Path | None = None) -> None:
        env = dict(os.environ) if patches is None else {**os.environ, "PYTHONPATH": str(patches)}
        command = [sys.executable, "-m", "coevo", "studio", "--no-browser"]
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [*command, "--workspace", str(workspace)], stderr=subprocess.PIPE, text=True, env=env
        )
        assert self.process.stderr is not None
        address = self.process.stderr.readline().split()[-1]
        self.port = int(address.split(":")[2].split("/")[0])
        self.secret = address.partition("token=")[2]

    def _connect(self, method: str, path: str, body: str | None = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        headers = {"authorization": f"Bearer {self.secret}", "content-type": "application/json"}
        connection.request(method, path, body, headers)
        return connection.getresponse()

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return the answer to a request."""
        answer = self._connect(method, path, None if body is None else json.dumps(body))
        found = json.loads(answer.read())
        if answer.status >= 400:
            raise RuntimeError(found["error"])
        return found

    def open_page(self) -> float:
        """Return the seconds from the start of the process to the first page with its script."""
        for path in ("/", "/assets/app.js", "/api/workspace"):
            answer = self._connect("GET", path)
            if answer.status != 200 or not answer.read():
                raise RuntimeError(f"{path} answered with {answer.status}")
        return time.perf_counter() - self.started

    def follow(self, run: str, after: int = 0) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the events of a run as they come, with their numbers."""
        name = run.replace(" ", "%20")
        number = None
        for line in self._connect("GET", f"/api/events?run={name}&after={after}"):
            if line.startswith(b"id: "):
                number = int(line[4:])
            elif line.startswith(b"data: ") and number is not None:
                yield number, json.loads(line[6:])
                number = None

    def kill(self) -> None:
        """Kill the server, as a crash does."""
        self.process.kill()
        self.process.wait()

    def end(self) -> resource.struct_rusage:
        """End the server as Ctrl-C does; return what it and its processes used."""
        self.process.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode:
            raise RuntimeError(f"The studio ended with {self.process.returncode}.")
        return usage
