"""What was added to the tables since: each column that a record is without, with what stands for it."""

from alembic import op
from sqlalchemy import inspect
from sqlalchemy.schema import CreateColumn

from arena.record.schema.tables import METADATA

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    METADATA.create_all(connection)
    known = inspect(connection)
    for table in METADATA.sorted_tables:
        there = {column["name"] for column in known.get_columns(table.name)}
        for column in table.columns:
            if column.name not in there:
                made = CreateColumn(column).compile(dialect=connection.dialect)
                op.execute(f'ALTER TABLE "{table.name}" ADD COLUMN {made}')


def downgrade() -> None:
    raise NotImplementedError("a record is never taken back to an older schema: restore a backup")
