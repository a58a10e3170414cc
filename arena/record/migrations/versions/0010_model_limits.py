"""Rate limits of single models, beside those of their providers."""

from alembic import op

from arena.record.schema.tables import METADATA

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    METADATA.create_all(op.get_bind())
