"""Pages as one file: read the assets, join the scripts, fill a template, forbid everything else.

A page opens from disk and loads nothing from the network. Its content security policy names the
hashes of its style and its script, so nothing else runs in it.

A report is a single file, and the studio serves the modules: so there is one script from several
modules. The modules of ``assets`` are ES modules, written in a small part of the language so that a
few lines can join them: imports stand at the beginning, one a line, with names in braces; exports
stand before a declaration. Each module becomes a function that is called once and returns its
exports. The text between imports and exports is never changed.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files

__all__ = ["bundle_modules", "fill_page", "read_asset"]


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


_IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./(?:page/)?(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)


def bundle_modules(
    entry: str, read: Callable[[str], str] = read_asset, *, is_module: bool = False
) -> str:
    r"""Return one script that runs a module and all modules that it imports.

    Parameters
    ----------
    entry : str
        The name of the first module, without ``.js``.
    read : callable
        Returns the text of a file by its name.
    is_module : bool
        Export what the first module exports as the default of an ES module (default: a script
        that exports nothing).

    Examples
    --------
    >>> texts = {"b.js": "export const b = 1;\n"}
    >>> texts["a.js"] = 'import { b } from "./b.js";\nrun(b);\n'
    >>> print(bundle_modules("a", texts.__getitem__), end="")
    (() => {
    "use strict";
    const $b = (() => {
    const b = 1;
    return { b };
    })();
    const $a = (() => {
    const { b } = $b;
    run(b);
    return {  };
    })();
    })();
    """
    order: list[str] = []
    _visit(entry, read, order, [])
    parts = "".join(_wrap_module(name, read(f"{name}.js")) for name in order)
    if is_module:
        return f"{parts}export default ${entry};\n"
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _visit(name: str, read: Callable[[str], str], order: list[str], above: list[str]) -> None:
    """Add a module to the list after all modules that it imports."""
    if name in above:
        raise ValueError(f"The modules {' -> '.join([*above, name])} import each other.")
    if name in order:
        return
    for _, other in _IMPORT.findall(read(f"{name}.js")):
        _visit(other, read, order, [*above, name])
    order.append(name)


def _wrap_module(name: str, text: str) -> str:
    """Return a module as a call of a function."""
    body = _IMPORT.sub(lambda found: f"const {{ {found[1]} }} = ${found[2]};\n", text)
    names = [found[1] for found in _EXPORT.findall(body)]
    body = _EXPORT.sub(lambda found: found[1], body)
    left = _OTHER.search(body)
    if left is not None:
        raise ValueError(f"{name}.js has an import or export that is not joined: {left[0]}")
    return f"const ${name} = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();\n"
