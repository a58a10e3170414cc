"""The desk: keys of agents from outside, and the turns that are open to them."""

from alembic import op

from arena.record.schema.tables import METADATA

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    METADATA.create_all(op.get_bind())
