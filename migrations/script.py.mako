"""${message}

Rules of a revision:
- The previous release keeps working on the new schema: add, fill in batches, check (NOT VALID, then VALIDATE), switch, and drop one
  release later.
- An index on a table that is in use is made CONCURRENTLY, in `op.get_context().autocommit_block()`, after dropping an invalid one
  of the same name: a failed attempt leaves one behind, and IF NOT EXISTS then skips it for ever.
- `downgrade` brings back what was there, rows included where it can.
- Whatever the server may do with a new object is granted here, to chatctx_server, column by column where that matters.
- A changed generated column is not noticed by `alembic check`: tests/migrations compares the live expressions.

Revises: ${down_revision | comma,n}
"""

from __future__ import annotations

import pgvector.sqlalchemy
import sqlalchemy as sa
from alembic import op
${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade() -> None:
    """State what becomes possible."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Bring back the schema before."""
    ${downgrades if downgrades else "pass"}
