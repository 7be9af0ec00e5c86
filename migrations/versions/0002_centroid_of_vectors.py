"""The mean of each model's vectors, against which the relevance gate tells how near a question is to the whole subject.

Revises: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, empty: the next publish fills it, and until then the gate goes without."""
    comment = "Mean of its vectors; null until the next publish."
    op.add_column(
        "embedding_model",
        sa.Column("centroid", postgresql.ARRAY(sa.REAL()), nullable=True, comment=comment),
        schema="chatctx",
    )


def downgrade() -> None:
    """Drop what can be computed anew."""
    op.drop_column("embedding_model", "centroid", schema="chatctx")
