"""Trees that annotators edited."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; older judgements have no edited tree."""
    op.add_column("judgement", sql.Column("correct_tree", sql.Text, nullable=False, server_default=""))
