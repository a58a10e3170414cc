"""Files of a benchmark, kept as they come."""

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import Connection

from arena.record.queries.benchmark import BenchmarkFile, newest_file
from arena.record.schema.statements import insert_one
from arena.record.schema.world import BenchmarkFileRow
from arena.record.write.heads import add_head
from markets.hashes import digest, sha256


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that came: what it is, of which set and due when, and its text."""

    kind: str
    name: str
    due: str
    text: str


def keep_file(connection: Connection, new: NewFile, at: datetime) -> tuple[BenchmarkFile, bool]:
    """The newest version of a file, and whether this one became it: an equal one is not kept again."""
    newest, hashed = newest_file(connection, new.kind, new.name), sha256(new.text)
    if newest is not None and newest.sha256 == hashed:
        return newest, False
    version = newest.version + 1 if newest else 1
    kept = BenchmarkFile(new.kind, new.name, version, new.due, at, hashed, new.text)
    fact = asdict(kept)
    insert_one(connection, BenchmarkFileRow.__table__, **fact, hash=digest(fact))
    add_head(connection, at, {"benchmark": [[new.kind, new.name, version, digest(fact)]]})
    return kept, True
