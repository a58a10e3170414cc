"""Questions that are not of yes or no: their form, the answers to them, and what they came to."""

from alembic import op

from arena.record.schema.database import COLUMNS

revision = "0013"
down_revision = "0012"

ADDED = (("market_version", "form"), ("resolution", "answer"), ("forecast", "distribution"))


def upgrade() -> None:
    connection = op.get_bind()
    rows = connection.exec_driver_sql(COLUMNS[connection.dialect.name])
    known = {(table, column) for table, column in rows}

    # A record that is made anew has these columns from the beginning.
    for table, column in ADDED:
        if (table, column) not in known:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
