"""Files of a benchmark: which are kept, and what they say."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func

from arena.record.schema.typed import col, read_nouns, select, select_as
from arena.record.schema.world import BenchmarkFileRow


@dataclass(frozen=True, slots=True)
class BenchmarkFile:
    """A file as it was kept."""

    kind: str
    name: str
    version: int
    due: str
    at: datetime
    sha256: str
    text: str


FILES = select_as(
    kind=BenchmarkFileRow.kind,
    name=BenchmarkFileRow.name,
    version=BenchmarkFileRow.version,
    due=BenchmarkFileRow.due,
    at=BenchmarkFileRow.at,
    sha256=BenchmarkFileRow.sha256,
    text=BenchmarkFileRow.text,
)
NEWEST = select(func.max(BenchmarkFileRow.id)).group_by(BenchmarkFileRow.kind, BenchmarkFileRow.name)


def newest_file(connection: Connection, kind: str, name: str) -> BenchmarkFile | None:
    """The newest version of a file, if there is one."""
    query = FILES.where(BenchmarkFileRow.kind == kind, BenchmarkFileRow.name == name)
    rows = connection.execute(query.order_by(col(BenchmarkFileRow.version).desc()).limit(1))
    return next(iter(read_nouns(BenchmarkFile, rows)), None)


def newest_files(
    connection: Connection, kind: str, dues: Collection[str] | None = None
) -> list[BenchmarkFile]:
    """The newest version of each file of a kind, oldest set first; only of sets due on some days."""
    query = FILES.where(BenchmarkFileRow.kind == kind, col(BenchmarkFileRow.id).in_(NEWEST))
    if dues is not None:
        query = query.where(col(BenchmarkFileRow.due).in_(dues))
    rows = connection.execute(query.order_by(BenchmarkFileRow.due, BenchmarkFileRow.name))
    return read_nouns(BenchmarkFile, rows)
