"""Files of a benchmark, kept as they come."""

from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Connection

from arena.record.model.benchmark import BenchmarkFile, NewFile
from arena.record.schema.statements import insert_one
from arena.record.schema.typed import col, read_objects, select_fields
from arena.record.schema.world import BenchmarkFileRow
from arena.record.write.heads import add_head
from markets.hashes import digest, sha256

FILES = select_fields(BenchmarkFile, BenchmarkFileRow)


def newest_file(connection: Connection, kind: str, name: str) -> BenchmarkFile | None:
    """Return the newest version of a file, if there is one."""
    query = FILES.where(BenchmarkFileRow.kind == kind, BenchmarkFileRow.name == name)
    rows = connection.execute(query.order_by(col(BenchmarkFileRow.version).desc()).limit(1))
    return next(iter(read_objects(BenchmarkFile, rows)), None)


def keep_file(connection: Connection, new: NewFile, at: datetime) -> tuple[BenchmarkFile, bool]:
    """Keep a file and return its newest version, and whether this one became it: an equal one is not kept."""
    newest = newest_file(connection, new.kind, new.name)
    text_hash = sha256(new.text)
    if newest is not None and newest.sha256 == text_hash:
        return newest, False

    version = newest.version + 1 if newest else 1
    file = BenchmarkFile(new.kind, new.name, version, new.due, at, text_hash, new.text)
    fact = asdict(file)
    fact_hash = digest(fact)
    insert_one(connection, BenchmarkFileRow.__table__, **fact, hash=fact_hash)
    add_head(connection, at, {"benchmark": [[new.kind, new.name, version, fact_hash]]})
    return file, True
