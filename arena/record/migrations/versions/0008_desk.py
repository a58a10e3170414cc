"""The desk: keys of agents from outside, and the turns that are open to them."""

from alembic import op

from arena.record.schema.tables import METADATA

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    METADATA.create_all(op.get_bind())


def downgrade() -> None:
    raise NotImplementedError("a record is never taken back to an older schema: restore a backup")
