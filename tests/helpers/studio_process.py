"""A studio as its own process, and a client that talks to it as a program."""

import http.client
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

from helpers.orphans import list_descendants, open_processes, wait_until_ended

LONGEST = 120.0  # seconds

# Each generation is an event and a checkpoint, as those of a long search are. After so many events
# a job waits until it is told to stop: it cannot end before a test has ended the studio.
EVERY_GENERATION = """
import sys
if "-c" in sys.argv[:1]:
    import _thread, os, threading
    from coevo.files import checkpoints
    from coevo.studio import learn_job
    from coevo.studio import jobs
    checkpoints.SECONDS_BETWEEN, checkpoints.SHARE_OF_TIME = 0.0, 1e9
    learn_job.SECONDS_BETWEEN_ROWS = 0.0
    n_left, is_told = int(os.environ.get("COEVO_TEST_EVENTS", -1)), threading.Event()
    interrupt, emit = _thread.interrupt_main, jobs.JobContext.emit
    def interrupt_and_tell():
        interrupt()
        is_told.set()
    def emit_and_wait(*arguments, **content):
        global n_left
        emit(*arguments, **content)
        n_left -= 1
        if n_left == 0:
            is_told.wait()
    _thread.interrupt_main, jobs.JobContext.emit = interrupt_and_tell, emit_and_wait
"""


class StudioProcess:
    """A running ``coevo studio`` on a workspace; its job waits after a number of events."""

    def __init__(self, workspace: Path, n_events: int | None = None) -> None:
        patches = workspace.parent / "patches"
        patches.mkdir(exist_ok=True)
        (patches / "usercustomize.py").write_text("")
        (patches / "sitecustomize.py").write_text(textwrap.dedent(EVERY_GENERATION))
        env = {**os.environ, "PYTHONPATH": str(patches)}
        if n_events is not None:
            env["COEVO_TEST_EVENTS"] = str(n_events)
        command = [sys.executable, "-X", "faulthandler", "-m", "coevo", "studio", "--no-browser"]
        self.process = subprocess.Popen(
            [*command, "--workspace", str(workspace)],
            stderr=subprocess.PIPE,
            text=True,
            env=env,
            # Tests in the background of a shell ignore Ctrl-C, and so would the studio.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        guard = threading.Timer(LONGEST, self.process.kill)
        guard.start()
        line = self.process.stderr.readline()
        guard.cancel()
        address = line.split()[-1]
        self.port = int(address.split(":")[2].split("/")[0])
        self.secret = address.partition("token=")[2]

    def ask(self, method, path, body=None):
        """Send a request; return the status and the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST)
        headers = {"authorization": f"Bearer {self.secret}", "content-type": "application/json"}
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        found = json.loads(answer.read())
        connection.close()
        return answer.status, found

    def follow(self, run, after=0):
        """Yield the events of a run as they come, with their numbers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST)
        headers = {"authorization": f"Bearer {self.secret}"}
        connection.request("GET", f"/api/events?run={run}&after={after}", headers=headers)
        answer = connection.getresponse()
        number = None
        try:
            for line in answer:
                if line.startswith(b"id: "):
                    number = int(line[4:])
                elif line.startswith(b"data: ") and number is not None:
                    yield number, json.loads(line[6:])
                    number = None
        finally:
            connection.close()

    def kill(self):
        """Kill the server, as a crash does; return the processes that it left behind."""
        started = open_processes(list_descendants(self.process.pid))
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        return wait_until_ended(started)

    def end(self):
        """End the server as Ctrl-C does; return its exit code, and what it left behind."""
        started = open_processes(list_descendants(self.process.pid))
        self.process.send_signal(signal.SIGINT)
        guard = threading.Timer(LONGEST, self.process.send_signal, [signal.SIGABRT])
        guard.start()
        code = self.process.wait()
        guard.cancel()
        if code:
            print(self.process.stderr.read())  # what each thread did
        self.process.stderr.close()
        return code, wait_until_ended(started)
