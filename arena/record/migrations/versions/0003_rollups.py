"""What was worked out from the record once, so that nobody has to wait for it."""

import sqlalchemy as sa
from alembic import op

import arena.record.schema.dialects

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "rollup",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("basis", sa.Text(), nullable=False),
        sa.Column("made_at", arena.record.schema.dialects.UtcTime(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
        sqlite_strict=True,
    )


def downgrade() -> None:
    raise NotImplementedError("a record is never taken back to an older schema: restore a backup")
