"""The human check of Hogenhout & Matsumoto (1996): a person accepts or rejects brackets, and the counts take it up.

:mod:`~treegauge.humancheck.questions` says which brackets to ask about and in which order, :mod:`~treegauge.humancheck.store` keeps
what was said for ever, :mod:`~treegauge.humancheck.judgements` gives the current
verdicts, :mod:`~treegauge.humancheck.results` turns it
into the paper's items and measures, and :mod:`~treegauge.humancheck.web.app` is the page on which it all happens. The store and the
page need the extra ``[web]``.
"""

from __future__ import annotations

from importlib.util import find_spec

from treegauge.errors import MissingExtra

__all__ = ["require_web"]


def require_web(purpose: str = "the human check") -> None:
    """Refuse to go on without the packages of the extra ``[web]``."""
    for package in ("sqlalchemy", "alembic", "starlette", "uvicorn"):
        if not _is_installed(package):
            raise MissingExtra(purpose, "web")


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:  # a module that was put out of reach on purpose
        return False
