"""How Sphinx makes the site: `make docs`. Offline, warnings are errors."""

import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import gallery_pages
import generate

import modelsel

generate.write(Path(__file__).parent / "reference")

project = "modelsel"
author = "The modelsel developers"
copyright = author
version = release = modelsel.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
sphinx_gallery_conf = gallery_pages.settings()
suppress_warnings = ["config.cache"]  # the gallery's settings hold functions
root_doc = "index"
exclude_patterns = ["_build", "gallery"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = (
    "none"  # the signature of a name stands in `modelsel/__init__.pyi`; its docstring says what each argument is
)
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
highlight_language = "text"
nitpicky = False
html_theme = "pydata_sphinx_theme"
html_title = "modelsel"
html_static_path = ["_static"]
html_search_scorer = str(Path(__file__).parent / "_static" / "scorer.js")  # a guide before the page of a code
html_css_files = ["custom.css"]
html_sidebars = {page: [] for page in ("install", "first_study", "coming_from", "comparison", "when_not", "architecture")}
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}  # dark or light as the reader's system says; a switch stands on every page


def outside(_app, document, source):
    """Say where a file of the project is that is no page: a link to it would be dead on the site."""
    up = "../" * (document.count("/") + 1)
    source[0] = re.sub(rf"\[([^\]]*)\]\({re.escape(up)}(?!\.)([^)#]+)\)", r"\1 (`\2`)", source[0])


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", outside)
