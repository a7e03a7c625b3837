"""Formulas as MathML, which every current browser draws without a script.

Sphinx loads MathJax from the network by default. docutils brings a converter from LaTeX to
MathML, so that pages need neither.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula inside a sentence."""
    translator.body.append(convert(node, as_block=False))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    opening = translator.starttag(node, "div", CLASS="math")
    translator.body.append(f"{opening}{convert(node, as_block=True)}</div>")
    raise nodes.SkipNode


def convert(node: nodes.Element, *, as_block: bool) -> str:
    """Return a formula as MathML; warn, and return its source, where that fails."""
    try:
        return str(tex2mathml(node.astext(), as_block=as_block))
    except MathError as error:
        logger.warning("This formula cannot be drawn: %s", error, location=node)
        return f"<code>{nodes.fully_normalize_name(node.astext())}</code>"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
