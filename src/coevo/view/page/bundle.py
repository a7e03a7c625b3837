"""One script from several modules: a report is a single file, the studio serves the modules.

The modules of ``assets`` are ES modules, written in a small part of the language so that a few
lines can join them: imports stand at the beginning, one a line, with names in braces; exports stand
before a declaration. Each module becomes a function that is called once and returns its exports.
The text between imports and exports is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from coevo.view.page.template import read_asset

__all__ = ["bundle_modules"]

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
