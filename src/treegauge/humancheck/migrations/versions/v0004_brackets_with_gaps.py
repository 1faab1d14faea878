"""Brackets with gaps, of discontinuous trees."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; older judgements are on brackets without gaps."""
    op.add_column("judgement", sql.Column("blocks", sql.Text, nullable=False, server_default=""))
