"""The human check of Hogenhout & Matsumoto (1996): people accept or reject brackets, and the counts follow their verdicts.

:mod:`~treegauge.humancheck.questions` chooses the brackets and their order, :mod:`~treegauge.humancheck.store` keeps all
judgements, :mod:`~treegauge.humancheck.judgements` derives the current verdicts, :mod:`~treegauge.humancheck.results` computes the
paper's items and measures from them, and :mod:`treegauge.humancheck.web` is the page in the browser. The store and the page need
the extra ``[web]``.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names
from treegauge.errors import MissingExtra

if TYPE_CHECKING:
    from treegauge.humancheck.questions import build_check
    from treegauge.humancheck.results import checked_systems, find_results
else:
    __getattr__, __dir__ = lazy_names(__name__)

__all__ = ["build_check", "checked_systems", "find_results", "require_web"]


def require_web(purpose: str = "the human check") -> None:
    """Raise an error that names the extra ``[web]`` unless its packages are installed."""
    for package in ("sqlalchemy", "alembic", "starlette", "uvicorn"):
        if not _is_installed(package):
            raise MissingExtra(purpose, "web")


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:  # a module that a test made unavailable
        return False
