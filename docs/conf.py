"""Settings of the documentation site.

`make docs` builds the site into build/docs. The build needs no network, and the pages load
nothing from one: the theme, the fonts and the scripts are local, and formulas are MathML.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import coevo

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))  # where Sphinx looks for our extensions

with (HERE.parent / "pyproject.toml").open("rb") as file:
    URLS = tomllib.load(file)["project"]["urls"]

project = "coevo"
author = "The coevo authors"
project_copyright = "The coevo authors"
version = release = coevo.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    # ours, in docs/_ext
    "api_reference",
    "cli_reference",
    "local_assets",
    "mathml",
    "option_reference",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
# The pages of the paper have the same tables.
exclude_patterns = ["_ext", "paper/t*.md", "paper/reviewed/[a-z]*.md"]
default_role = "py:obj"  # `name` in a docstring is a link where the name is documented
smartquotes = False  # a double dash stays one, as in --seed

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# One page for each public name; docs/_ext/api_reference.py writes them.
autosummary_generate = False
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # numpydoc sections give the types
numpydoc_show_class_members = False
add_module_names = False
maximum_signature_line_length = 88  # longer ones get one parameter a line
python_use_unqualified_type_names = True

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"coevo {release}"
html_static_path = ["_static"]
html_css_files = ["coevo.css"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
# Pages that are not part of a section have no list of pages beside them.
html_sidebars: dict[str, list[str]] = {
    name: [] for name in ("quickstart", "benchmarks", "paper/README", "contributing", "changelog")
}
html_theme_options = {
    "github_url": URLS["Source"],
    "navbar_align": "left",
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
