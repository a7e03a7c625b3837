"""Take the pictures of the two species at work, from the report of a run on rows of andes.

Run ``python docs/figures/species_at_work.py`` after the section of the report has changed, and look
at the pictures. It needs Chromium; ``COEVO_BROWSER`` may name it.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from importlib import import_module
from pathlib import Path

import coevo

__all__ = ["main"]

HERE = Path(__file__).resolve().parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
NETWORK, N_ROWS, N_GENERATIONS, SEED = "andes", 1000, 40, 2
PICTURES = ("individuals", "work", "children", "paid")
WIDTH, SCALE = 600, 2  # of the page, so that a picture has the text size of the documentation
COLOURS = 64  # of a picture, so that it stays small


def main() -> None:
    """Learn a network, and save the pictures of its report."""
    rows = coevo.sample(coevo.load_network(NETWORK), N_ROWS, random_state=1)
    result = coevo.learn(
        rows, random_state=SEED, bootstraps=0, budget=coevo.Budget(max_generations=N_GENERATIONS)
    )
    playwright, image = import_module("playwright.sync_api"), import_module("PIL.Image")
    named = os.environ.get("COEVO_BROWSER")
    path = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    with tempfile.TemporaryDirectory() as folder, playwright.sync_playwright() as driver:
        report = result.save(folder)["report"]
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        viewport = {"width": WIDTH, "height": 800}
        tab = browser.new_page(viewport=viewport, device_scale_factor=SCALE, color_scheme="light")
        tab.goto(Path(report).as_uri())
        for name in PICTURES:
            taken = image.open(io.BytesIO(tab.locator(f"#species-{name} svg").screenshot()))
            few = taken.convert("RGB").quantize(COLOURS)
            few.save(HERE / f"species-{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
