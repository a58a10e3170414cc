"""Records as an arena of an older schema would have them, once there is a newer one."""

from pathlib import Path

from sqlalchemy import MetaData, inspect, select

from arena.record.schema.database import VERSION_TABLE, connect, open_read_only, reading, upgrade
from arena.record.schema.statements import insert_lines


def of_version(record: Path, address: str, version: str) -> str:
    """Return a record without the tables and columns that came after a version of the schema."""
    engine = connect(address)
    upgrade(engine, version)
    with open_read_only(str(record), older=True) as source, reading(source) as here, engine.begin() as there:
        found = MetaData()
        found.reflect(here, only=inspect(there).get_table_names())
        for table in found.sorted_tables:
            if table.name != VERSION_TABLE:
                known = [column["name"] for column in inspect(there).get_columns(table.name)]
                rows = here.execute(select(*(table.c[name] for name in known)))
                insert_lines(there, table, known, [tuple(row) for row in rows])
    engine.dispose()
    return address
