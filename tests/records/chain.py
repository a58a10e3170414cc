"""The chain of heads made anew over a record that was changed, as only someone with the file in hand can."""

from pathlib import Path

from arena.record.schema.database import connect
from arena.record.write.heads import begin_chain
from tests.builders import NOW


def rechain(path: Path) -> None:
    """One head over all that is there, in place of those there were."""
    engine = connect(path)
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP TRIGGER IF EXISTS head_no_delete")
            connection.exec_driver_sql("DELETE FROM head")
            begin_chain(connection, NOW)
    finally:
        engine.dispose()
