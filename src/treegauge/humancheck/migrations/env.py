"""Alembic runs this file to migrate a store; the connection comes from :mod:`treegauge.humancheck.store`."""

from __future__ import annotations

from alembic import context

# Outside alembic, as when documentation tests import every module, there is nothing to run.
if hasattr(context, "config"):
    context.configure(connection=context.config.attributes["connection"])
    context.run_migrations()
