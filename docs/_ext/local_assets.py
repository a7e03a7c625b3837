"""The pages load nothing from the network; the build fails where one would.

Links that a reader may follow are fine. What a browser loads by itself is not: scripts,
style sheets, fonts, images and frames.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

IN_PAGES = re.compile(
    r"<(?:script|link|img|iframe|source|video|audio|object|embed)\b[^>]*?"
    r"\b(?:src|href|srcset|data)\s*=\s*[\"']?(?:https?:)?//[^>]*>"
)
IN_STYLES = re.compile(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^;)]*")


def find_remote_assets(folder: Path) -> list[str]:
    """Return what the pages and style sheets of a site load from the network."""
    found = []
    for pattern, ending in ((IN_PAGES, "*.html"), (IN_STYLES, "*.css")):
        for path in sorted(folder.rglob(ending)):
            text = path.read_text(encoding="utf-8")
            found += [f"{path.relative_to(folder)}: {match}" for match in pattern.findall(text)]
    return found


def refuse_remote_assets(app: Sphinx, error: Exception | None) -> None:
    """Fail after the build if a page needs the network."""
    if error is None and app.builder.format == "html":
        found = find_remote_assets(Path(app.outdir))
        if found:
            raise ExtensionError("These pages load from the network:\n" + "\n".join(found))


def setup(app: Sphinx) -> dict[str, bool]:
    """Check the pages when all are written."""
    app.connect("build-finished", refuse_remote_assets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
