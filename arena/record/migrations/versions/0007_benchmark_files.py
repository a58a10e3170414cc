"""A benchmark's files: kept as they came, never changed."""

from alembic import op

from arena.record.migrations.append_only import keep_rows
from arena.record.schema.tables import METADATA

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    METADATA.create_all(op.get_bind())
    keep_rows("benchmark_file")
