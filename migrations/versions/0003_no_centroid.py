"""The mean of each model's vectors is no longer kept: what it told is told better by a model on the question alone.

Revises: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Drop what can be computed anew."""
    op.drop_column("embedding_model", "centroid", schema="chatctx")


def downgrade() -> None:
    """Add the column as 0002 did, empty."""
    comment = "Mean of its vectors; null until the next publish."
    op.add_column(
        "embedding_model",
        sa.Column("centroid", postgresql.ARRAY(sa.REAL()), nullable=True, comment=comment),
        schema="chatctx",
    )
