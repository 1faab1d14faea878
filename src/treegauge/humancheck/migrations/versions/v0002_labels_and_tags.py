"""The label of a correction, and reason tags."""

from __future__ import annotations

import sqlalchemy as sql
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; older judgements have neither."""
    for name in ("correct_label", "tags"):
        op.add_column("judgement", sql.Column(name, sql.Text, nullable=False, server_default=""))
