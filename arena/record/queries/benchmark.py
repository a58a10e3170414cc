"""Files of a benchmark: which are kept, and what they say."""

from collections.abc import Collection

from sqlalchemy import Connection, func

from arena.record.model.benchmark import BenchmarkFile
from arena.record.schema.typed import col, read_nouns, select
from arena.record.schema.world import BenchmarkFileRow
from arena.record.write.benchmark import FILES

NEWEST = select(func.max(BenchmarkFileRow.id)).group_by(BenchmarkFileRow.kind, BenchmarkFileRow.name)


def newest_files(
    connection: Connection, kind: str, dues: Collection[str] | None = None
) -> list[BenchmarkFile]:
    """The newest version of each file of a kind, oldest set first; only of sets due on some days."""
    query = FILES.where(BenchmarkFileRow.kind == kind, col(BenchmarkFileRow.id).in_(NEWEST))
    if dues is not None:
        query = query.where(col(BenchmarkFileRow.due).in_(dues))
    rows = connection.execute(query.order_by(BenchmarkFileRow.due, BenchmarkFileRow.name))
    return read_nouns(BenchmarkFile, rows)
