"""What tools told models: kept as it came, never changed."""

from alembic import op

from arena.record.migrations.append_only import keep_rows
from arena.record.schema.tables import METADATA

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    METADATA.create_all(op.get_bind())
    keep_rows("tool_result")
