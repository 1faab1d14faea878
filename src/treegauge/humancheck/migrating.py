"""Bringing a store's tables up to date, whatever version of treegauge made them."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy.engine import Connection

from treegauge.errors import InputError

__all__ = ["configuration", "migrate"]

_FOLDER = Path(__file__).parent / "migrations"


def configuration(connection: Connection) -> Config:
    """Alembic's settings for a store."""
    config = Config()
    # Alembic takes a percent sign in a path for the beginning of a variable.
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def migrate(connection: Connection, name: str) -> None:
    """Make the tables, or change those of an older version, inside the connection's transaction."""
    from alembic.runtime.migration import MigrationContext

    config = configuration(connection)
    newest = ScriptDirectory.from_config(config).get_current_head()
    if MigrationContext.configure(connection).get_current_revision() == newest:
        return
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise InputError(
            "this store of judgements was made by a newer treegauge",
            path=name,
            advice="Bring treegauge up to date; nothing was changed in the store.",
        ) from None
