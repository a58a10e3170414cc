"""The lines of all ledgers by their market: who holds it, and who ever did."""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

COLUMNS = ["market_id", "entrant_id", "side", "kind", "shares"]


def upgrade() -> None:
    op.create_index("ix_entry_market_id", "entry", COLUMNS)


def downgrade() -> None:
    raise NotImplementedError("a record is never taken back to an older schema: restore a backup")
