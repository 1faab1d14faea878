"""Sphinx: MyST Markdown, furo, reference pages from the code."""

from __future__ import annotations

import inspect
from importlib.metadata import version as installed_version
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from treegauge.cli import COMMANDS
from treegauge.cli._group import full_help, treegauge

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


class Commands(SphinxDirective):
    """The help of every command, as the command itself prints it."""

    def run(self) -> list[nodes.Node]:
        return [section for name in COMMANDS for section in self._sections(f"treegauge {name}", treegauge, name)]

    def _sections(self, title: str, group: Any, name: str) -> list[nodes.Node]:
        command = group.get_command(click.Context(group), name)
        text = full_help(command, title)
        section = nodes.section(ids=[nodes.make_id(title)])
        section += nodes.title(text=title)
        section += nodes.literal_block(text, text, language="none")
        below = command.list_commands(click.Context(command)) if isinstance(command, click.Group) else []
        return [section, *(deeper for one in below for deeper in self._sections(f"{title} {one}", command, one))]


def leave_out_foreign_docstrings(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Empty the text of a constant or an alias that has none of its own: it would be that of dict or numpy.ndarray."""
    foreign = [inspect.getdoc(owner) for owner in (type(thing), thing, getattr(thing, "__origin__", None)) if owner is not None]
    is_ours = str(getattr(thing, "__module__", "builtins")).startswith("treegauge")
    if not is_ours and lines and any(text and text.splitlines()[0] == lines[0] for text in foreign):
        lines.clear()


def setup(app: Sphinx) -> None:
    """Add the directive and the filter of docstrings."""
    app.add_directive("treegauge-commands", Commands)
    app.connect("autodoc-process-docstring", leave_out_foreign_docstrings)
