"""Measure the explore view of the studio in headless Chromium: first views, clicks, panning.

The server runs in its own process, as ``coevo studio`` starts it. A *first view* is the time from
the address to the drawn graph, in a workspace without kept layouts; *again* is the same with a kept
layout. A *click* is the time from the press on a state to the last bar: the page itself takes both
times, and the answer of the server is in between. *Frames* are counted while the pointer pans the
graph. Wall time suffers from other work on the machine, so each time stands beside the CPU time of
the server and the browser together. The limits are those that the studio promises.

    python benchmarks/studio_browser.py
    python benchmarks/studio_browser.py --write    also replace the table of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from harness import add_output_options, describe_run, show_table

NETWORKS = ["alarm", "hepar2", "win95pts", "andes", "munin"]
CLICK_BARS = {"alarm": 0.15, "hepar2": 0.5, "win95pts": 0.5, "andes": 2.0}  # seconds
VIEW_BARS = {"alarm": 1.0, "munin": 4.0}
FRAMES_BAR = 30  # a second, on andes
CLICK = """async ([n, k]) => {
  const stage = document.querySelector(".stage");
  const node = document.querySelector(`.node[data-n="${n}"]`), began = performance.now();
  const answered = new Promise((done) => {
    new MutationObserver((_, observer) => { observer.disconnect(); done(); })
      .observe(stage, { attributes: true, attributeFilter: ["data-answered"] });
  });
  node.focus({ preventScroll: true });
  node.dispatchEvent(new KeyboardEvent("keydown", { key: String(k + 1), bubbles: true }));
  await answered;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return (performance.now() - began) / 1000;
}"""
COUNT_FRAMES = """() => {
  globalThis.frames = [];
  const count = (now) => {
    globalThis.frames.push(now);
    globalThis.counting = requestAnimationFrame(count);
  };
  globalThis.counting = requestAnimationFrame(count);
}"""


def read_cpu_seconds() -> float:
    """Return the CPU time of all processes that this one started, of the server and the browser."""
    ticks: dict[int, int] = {}
    above: dict[int, int] = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = Path(path).read_text().rsplit(")", 1)[1].split()
            number = int(path.split("/")[2])
            above[number], ticks[number] = int(fields[1]), int(fields[11]) + int(fields[12])

    def is_below(number: int) -> bool:
        while number > 1 and number in above:
            number = above[number]
            if number == os.getpid():
                return True
        return False

    return sum(ticks[n] for n in ticks if is_below(n)) / os.sysconf("SC_CLK_TCK")


def find_browser() -> str:
    """Return the path of Chromium."""
    own = sorted(glob.glob(os.path.expanduser("~/.cache/ms-playwright/chromium*/chrome-*/chrome")))
    names = ("chromium", "chromium-browser", "google-chrome")
    found = [os.environ.get("COEVO_BROWSER"), *map(shutil.which, names), *own]
    path = next((each for each in found if each), None)
    if path is None:
        sys.exit("No Chromium was found. Name one in COEVO_BROWSER.")
    return path


@contextlib.contextmanager
def run_studio(folder: Path) -> Iterator[str]:
    """Yield the address of a studio in a process of its own."""
    command = [sys.executable, "-m", "coevo", "studio", "--workspace", str(folder), "--no-browser"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        line = server.stderr.readline()
        yield line.split(": ", 1)[1].strip()
    finally:
        server.terminate()
        server.wait()


def open_network(browser: Browser, address: str, network: str) -> tuple[Page, float, float]:
    """Open a network in a new tab; return it with the wall and CPU seconds to the drawn graph."""
    tab = browser.new_page(viewport={"width": 1400, "height": 900})
    tab.goto(address)
    tab.wait_for_selector("#view > div")
    time.sleep(1.0)  # the server imports in the background what views need
    began, cpu = time.perf_counter(), read_cpu_seconds()
    tab.evaluate("network => { location.hash = `#/explore/bundled:${network}`; }", network)
    tab.wait_for_selector(".graph .node", timeout=120_000)
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return tab, time.perf_counter() - began, read_cpu_seconds() - cpu


def measure_clicks(tab: Page, n_clicks: int) -> list[float]:
    """Observe the first state of some variables, one after the other; return the seconds."""
    n_nodes = tab.locator(".node").count()
    step = max(1, n_nodes // n_clicks)
    return [float(tab.evaluate(CLICK, [n, 0])) for n in range(0, step * n_clicks, step)]


def measure_frames(tab: Page) -> float:
    """Pan the graph by the pointer; return the frames a second."""
    box = tab.locator(".graph").bounding_box()
    assert box is not None
    x, y = box["x"] + 12, box["y"] + box["height"] - 12
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.evaluate(COUNT_FRAMES)
    for i in range(90):
        tab.mouse.move(x + 4 * (i % 45), y - 3 * (i % 30))
    tab.mouse.up()
    frames: list[float] = tab.evaluate("() => { cancelAnimationFrame(counting); return frames; }")
    return 1000 * (len(frames) - 1) / (frames[-1] - frames[0])


def measure_network(browser: Browser, network: str, n_clicks: int) -> dict[str, Any]:
    """Return the times of one network."""
    with tempfile.TemporaryDirectory() as folder, run_studio(Path(folder) / "space") as address:
        tab, first, first_cpu = open_network(browser, address, network)
        tab.close()
        tab, again, _ = open_network(browser, address, network)
        frames = measure_frames(tab)
        tab.wait_for_selector(".stage[data-answered]", timeout=120_000)
        cpu = read_cpu_seconds()
        clicks = measure_clicks(tab, n_clicks)
        click_cpu = (read_cpu_seconds() - cpu) / n_clicks
        tab.close()
    return {
        "network": network,
        "first": first,
        "first_cpu": first_cpu,
        "again": again,
        "click": statistics.median(clicks),
        "click_cpu": click_cpu,
        "longest": max(clicks),
        "frames": frames,
        "is_met": is_met(network, first, max(clicks), frames),
    }


def is_met(network: str, first: float, longest: float, frames: float) -> bool:
    """Return whether all promises about a network hold."""
    return (
        first <= VIEW_BARS.get(network, first)
        and longest <= CLICK_BARS.get(network, longest)
        and (network != "andes" or frames >= FRAMES_BAR)
    )


def format_table(records: list[dict[str, Any]], caption: str) -> str:
    """Return the records as a Markdown table."""
    lines = [
        caption,
        "",
        "| network | first view | CPU | limit | again | click | CPU | longest | limit | frames "
        "| all met |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for r in records:
        view, click = VIEW_BARS.get(r["network"]), CLICK_BARS.get(r["network"])
        cells = [
            r["network"],
            *(f"{r['first']:.2f}", f"{r['first_cpu']:.2f}", f"{view:g}" if view else ""),
            *(f"{r['again']:.2f}", f"{r['click']:.3f}", f"{r['click_cpu']:.3f}"),
            *(f"{r['longest']:.3f}", f"{click:g}" if click else ""),
            *(f"{r['frames']:.0f}", "yes" if r["is_met"] else "no"),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--clicks", type=int, default=7)
    add_output_options(parser, "studio in the browser")
    options = parser.parse_args()
    run = describe_run("playwright", "starlette")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        records = [measure_network(browser, name, options.clicks) for name in options.networks]
        browser.close()
    caption = (
        f"Headless Chromium and the server share {run['machine']}. Seconds of wall time, and CPU "
        "seconds of both together; frames a second while panning. *All met* is about wall time."
    )
    show_table(format_table(records, caption), {**run, "records": records}, options)


if __name__ == "__main__":
    main()
