"""Pages as one file: read the assets, fill a template, and forbid everything else.

A page opens from disk and loads nothing from the network. Its content security policy names the
hashes of its style and its script, so nothing else runs in it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

__all__ = ["fill_page", "read_asset"]


@cache
def read_asset(name: str, package: str = "coevo.view.page") -> str:
    """Return the text of a file in the folder ``assets`` of a package."""
    return files(package).joinpath("assets", name).read_text(encoding="utf-8")


def fill_page(template: str, style: str, script: str, parts: Mapping[str, str]) -> str:
    """Return a template with each ``{{name}}`` replaced. Replacements are not expanded again.

    Besides the names in `parts`, a template has ``{{style}}``, ``{{script}}`` and ``{{policy}}``.

    >>> fill_page("<p>{{a}}</p>{{script}}", "", "run()", {"a": "{{script}}"})
    '<p>{{script}}</p>run()'
    """
    policy = _make_policy(style, script)
    filled = {"policy": policy, "style": style, "script": script, **parts}
    return re.sub(r"\{\{(\w+)\}\}", lambda match: filled[match[1]], template)


def _make_policy(style: str, script: str) -> str:
    """Return the content security policy: load nothing, use only this style and this script."""
    hashes = [
        "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    return (
        f"default-src 'none'; style-src '{hashes[0]}'; script-src '{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
