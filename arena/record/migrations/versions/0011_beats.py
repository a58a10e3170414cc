"""Claims, leases and reservations count their renewals, and no longer expire at an instant."""

from alembic import op
from sqlalchemy.schema import CreateColumn

from arena.record.schema.database import COLUMNS
from arena.record.schema.dialects import NOW
from arena.record.schema.tables import METADATA

revision = "0011"
down_revision = "0010"

TABLES = ("claim", "lease", "reservation")


def upgrade() -> None:
    connection = op.get_bind()
    rows = connection.exec_driver_sql(COLUMNS[connection.dialect.name])
    columns = {(table, column) for table, column in rows}
    now = NOW.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})

    for table in TABLES:
        for column in METADATA.tables[table].columns:
            if (table, column.name) not in columns:
                definition = CreateColumn(column).compile(dialect=connection.dialect)
                op.execute(f"ALTER TABLE {table} ADD COLUMN {definition}")

    # A record that is made anew has never had these columns.
    for table in TABLES:
        if (table, "expires_at") in columns:
            op.execute(f"UPDATE {table} SET beat = 0 WHERE expires_at > {now}")  # noqa: S608 - our own names
            if table == "lease":
                op.execute("UPDATE lease SET renewed_at = expires_at")
            op.execute(f"ALTER TABLE {table} DROP COLUMN expires_at")
