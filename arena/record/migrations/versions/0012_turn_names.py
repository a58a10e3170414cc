"""The columns `verdict` and `wishes` of turns are called `status` and `orders`."""

from alembic import op

from arena.record.migrations.append_only import REPLACEABLE_TURN, guard
from arena.record.schema.database import COLUMNS

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    connection = op.get_bind()
    rows = connection.exec_driver_sql(COLUMNS[connection.dialect.name])
    columns = {column for table, column in rows if table == "turn"}

    # A record that is made anew has never had these columns.
    if "verdict" not in columns:
        return

    # A server keeps the text of the guard as it was written, so it is made again with the new name.
    of_table = " ON turn" if connection.dialect.name == "postgresql" else ""
    op.execute(f"DROP TRIGGER IF EXISTS turn_no_update{of_table}")
    op.execute("DROP INDEX IF EXISTS ix_turn_verdict")
    op.execute("ALTER TABLE turn RENAME COLUMN verdict TO status")
    op.execute("ALTER TABLE turn RENAME COLUMN wishes TO orders")
    op.execute("CREATE INDEX ix_turn_status ON turn (status)")
    guard("turn", "UPDATE", REPLACEABLE_TURN)
