"""How far the chain of heads has left the machine: the newest that was published, and what fails since."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func

from arena.record.model.status import PublishedHeads
from arena.record.schema.chain import HeadRow
from arena.record.schema.statements import attributes_of, insert_rows
from arena.record.schema.typed import col, delete, read_nouns, select, select_as, select_noun
from arena.record.schema.work import PublicationRow
from markets.hashes import plain_value


@dataclass(frozen=True, slots=True)
class Publication:
    """The newest head that was published to a target (0: none), when, and since when it fails, and how."""

    target: str
    number: int = 0
    at: datetime | None = None
    tries: int = 0
    next_try_at: datetime | None = None
    failing_since: datetime | None = None
    error: str = ""


FIELDS = tuple(Publication.__dataclass_fields__)
PUBLICATIONS = select_noun(Publication, PublicationRow)
HEADS = select_as(
    number=HeadRow.number,
    cohort=HeadRow.cohort,
    round=HeadRow.round,
    at=HeadRow.at,
    parts=HeadRow.parts,
    previous=HeadRow.previous,
    head=HeadRow.hash,
).order_by(HeadRow.number)


def read_publication(connection: Connection) -> Publication | None:
    """How far the heads were published to where they went last; None where they went nowhere."""
    return next(iter(read_nouns(Publication, connection.execute(PUBLICATIONS))), None)


def read_newest_head(connection: Connection) -> int:
    """The number of the newest head; 0 where there is none."""
    return int(connection.scalar(select(func.max(HeadRow.number))) or 0)


def read_heads_after(connection: Connection, number: int, most: int) -> list[dict[str, Any]]:
    """The heads that follow one, as they are published."""
    rows = connection.execute(HEADS.where(col(HeadRow.number) > number).limit(most))
    return [plain_value(dict(row._mapping)) | {"parts": json.loads(row.parts)} for row in rows]


def read_published_heads(connection: Connection) -> PublishedHeads:
    """How far the heads were published, for the arena's status."""
    state = read_publication(connection) or Publication("")
    newest = read_newest_head(connection)
    return PublishedHeads(newest, state.number, state.at, state.failing_since, state.error)


def put_publication(connection: Connection, publication: Publication) -> None:
    """How far it went, in place of what was known of this target or another one."""
    connection.execute(delete(PublicationRow))
    insert_rows(connection, PublicationRow.__table__, [attributes_of(publication, *FIELDS)])
