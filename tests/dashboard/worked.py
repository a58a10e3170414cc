"""A record of which everything is worked out ahead, as `arena run` leaves it."""

import shutil
from datetime import datetime
from pathlib import Path

from arena.record.record import Record
from arena.scores.refresh import refresh_cache
from tests.builders import NOW


def worked_out(season: Path, folder: Path, at: datetime = NOW) -> Path:
    """A copy of a record with all that pages need worked out."""
    database = folder / "worked.db"
    shutil.copy(season, database)
    record = Record.open(str(database))
    refresh_cache(record, at)
    record.close()
    return database
