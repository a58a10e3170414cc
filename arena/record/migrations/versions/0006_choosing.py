"""What was added to the tables since: each column that a record is without, with what stands for it."""

from alembic import op
from sqlalchemy.schema import CreateColumn

from arena.record.schema.database import COLUMNS
from arena.record.schema.tables import METADATA

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    connection = op.get_bind()
    there = {
        (table, column) for table, column in connection.exec_driver_sql(COLUMNS[connection.dialect.name])
    }
    lacking = {name: table for name, table in METADATA.tables.items() if name not in dict(there)}
    METADATA.create_all(connection, list(lacking.values()), checkfirst=False)
    for table in METADATA.sorted_tables:
        for column in table.columns:
            names = {(table.name, column.name), (table.name, column.info["former"])}
            if table.name not in lacking and names.isdisjoint(there):
                made = CreateColumn(column).compile(dialect=connection.dialect)
                op.execute(f'ALTER TABLE "{table.name}" ADD COLUMN {made}')
