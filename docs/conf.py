"""Sphinx: MyST Markdown, furo, reference pages from the code."""

from __future__ import annotations

from importlib.metadata import version as installed_version

project = "treegauge"
author = "The treegauge authors"
copyright = "2026, The treegauge authors"  # noqa: A001
release = installed_version("treegauge")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"treegauge {release}"
html_static_path: list[str] = []

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"members": True, "show-inheritance": False}
nitpicky = False
