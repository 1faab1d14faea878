"""The tables of 0.2: sentences, judgements and settings; the first two can only grow."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0004"
down_revision = None
branch_labels = None
depends_on = None

_LATER_COLUMNS = ("correct_label", "tags", "correct_tree", "blocks")
_MESSAGE = "the log of judgements only grows"


def upgrade() -> None:
    """Make the tables, and refuse changes of what is in the log."""
    op.create_table("sentence", sql.Column("hash", sql.String(64), primary_key=True), sql.Column("words", sql.Text, nullable=False))
    op.create_table(
        "judgement",
        sql.Column("seq", sql.Integer, primary_key=True, autoincrement=True),
        sql.Column("id", sql.String(64), nullable=False, unique=True),
        sql.Column("sentence", sql.String(64), sql.ForeignKey("sentence.hash"), nullable=False),
        sql.Column("start_word", sql.Integer, nullable=False),
        sql.Column("end_word", sql.Integer, nullable=False),
        sql.Column("label", sql.Text, nullable=False),
        sql.Column("gold", sql.String(64), nullable=False),
        sql.Column("kind", sql.String(2), nullable=False),
        sql.Column("verdict", sql.String(16), nullable=False),
        sql.Column("annotator", sql.Text, nullable=False),
        sql.Column("role", sql.String(16), nullable=False),
        sql.Column("note", sql.Text, nullable=False),
        sql.Column("correction", sql.Boolean, nullable=False),
        sql.Column("undoes", sql.String(64), nullable=False),
        sql.Column("blind", sql.Boolean, nullable=False),
        sql.Column("seconds", sql.Float, nullable=True),
        sql.Column("at", sql.String(32), nullable=False),
        *(sql.Column(name, sql.Text, nullable=False, server_default="") for name in _LATER_COLUMNS),
        sqlite_autoincrement=True,
    )
    op.create_table("setting", sql.Column("name", sql.String(64), primary_key=True), sql.Column("value", sql.Text, nullable=False))
    if op.get_bind().dialect.name == "sqlite":
        _guard_sqlite()
    else:
        _guard_postgresql()


def _guard_sqlite() -> None:
    for table in ("sentence", "judgement"):
        for change in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END"
            )


def _guard_postgresql() -> None:
    op.execute(
        f"CREATE FUNCTION treegauge_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '{_MESSAGE}'; END $$"
    )
    for table in ("sentence", "judgement"):
        op.execute(
            f"CREATE TRIGGER {table}_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION treegauge_only_grows()"
        )
