"""A cohort's heads: hashes that fix what was frozen, seen and decided up to a round, and nothing later.

A head can be published before anyone knows how the markets end, and be checked ever after. Head 0 is the
SHA-256 of the canonical JSON `["cohort", number, SHA-256 of the frozen text]`. The head of a round is the
SHA-256 over lines of canonical JSON, each ended by a new line: the head before it as `["head", …]`, the
round, what its snapshot and its evidence showed, the turns, the answers that they stand on, forecasts,
rejections, fills with their levels, and the ledger entries since the round before. Rows are named by what
they are about, never by an id, so a record that was copied elsewhere has the same heads.

A round has a head once it is over. Of the answers to one question only the first counts: one that comes
late, from a worker that was given up, was paid for and is kept, but nobody decided by it.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, FromClause, select

from arena.record.queries.read import StoredRound, rounds
from arena.record.schema.tables import (
    ARTICLE,
    CALL,
    COHORT,
    ENTRANT,
    ENTRY,
    EVIDENCE,
    FILL,
    FORECAST,
    GATHERING,
    ITEM,
    LEVEL,
    QUOTE,
    REJECTION,
    TURN,
    VERSION,
)
from arena.record.write.calls import prompt_hash
from arena.record.write.evidence import SAID
from arena.record.write.listings import PAGE
from arena.record.write.statehash import FILLED, POSTED, PRICES
from markets.hashes import canonical, digest

Line = list[Any]
PLAYED = ("verdict", "note", "cash", "wishes")
ANSWERED = ("stage", "sample", "messages", "seed", "reply", "finish", "model", "fingerprint")


def heads(connection: Connection, cohort_id: int) -> dict[int, str]:
    """The head of each round of a cohort that is over, and under 0 that of what it froze."""
    own = select(COHORT.c.number, COHORT.c.frozen).where(COHORT.c.id == cohort_id)
    number, frozen = connection.execute(own).one()
    head = digest(["cohort", number, digest(frozen)])
    found, before = {0: head}, None
    for round in rounds(connection, cohort_id):
        if not round.done:
            break
        whole = hashlib.sha256(_written(["head", head]))
        for line in _lines(connection, cohort_id, round, before):
            whole.update(_written(line))
        head = found[round.number] = whole.hexdigest()
        before = round
    return found


def _written(line: Line) -> bytes:
    return f"{canonical(line)}\n".encode()


def _lines(
    connection: Connection, cohort_id: int, round: StoredRound, before: StoredRound | None
) -> Iterator[Line]:
    """All that a round adds, in the order of what it is about."""
    yield ["round", round.number, round.at]
    parts = {
        "seen": _seen(connection, round),
        "evidence": _evidence(connection, round),
        "turn": _of_turns(connection, round, TURN, (ENTRANT.c.name, *_named(TURN, *PLAYED))),
        "answer": _answers(connection, round),
        "forecast": _parts(connection, round, FORECAST, "market_id", "stage", "probability", "reason"),
        "rejection": _parts(connection, round, REJECTION, "position", "code", "message", "market_id"),
        "fill": _parts(connection, round, FILL, "position", *FILLED, "left", "reason"),
        "level": _levels(connection, round),
        "entry": _entries(connection, cohort_id, round, before),
    }
    for kind, lines in parts.items():
        yield from ([kind, *line] for line in lines)


def _named(table: FromClause, *names: str) -> list[Any]:
    return [table.c[name] for name in names]


def _seen(connection: Connection, round: StoredRound) -> Iterator[Line]:
    """Each place of the snapshot: the market, its page as a hash, its price and when that was true."""
    joined = ITEM.join(VERSION, ITEM.c.version_id == VERSION.c.id)
    joined = joined.outerjoin(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
    place = _named(ITEM, "position", "market_id", "shown", "quoted_at")
    columns = [*place, *_named(QUOTE, *PRICES), *_named(VERSION, *PAGE)]
    query = select(*columns).select_from(joined).where(ITEM.c.snapshot_id == round.snapshot_id)
    for row in connection.execute(query.order_by(ITEM.c.position)):
        known = len(columns) - len(PAGE)
        yield [*row[:known], digest(list(row[known:]))]


def _evidence(connection: Connection, round: StoredRound) -> Iterator[Line]:
    joined = GATHERING.join(EVIDENCE, EVIDENCE.c.gathering_id == GATHERING.c.id)
    joined = joined.outerjoin(ARTICLE, EVIDENCE.c.article == ARTICLE.c.hash)
    columns = (*_named(EVIDENCE, "position", "market_id"), *_named(ARTICLE, *SAID))
    query = select(*columns).select_from(joined).where(GATHERING.c.round_id == round.id)
    yield from map(list, connection.execute(query.order_by(EVIDENCE.c.position)))


def _of_turns(
    connection: Connection, round: StoredRound, table: FromClause, columns: tuple[Any, ...]
) -> Iterator[Line]:
    """Rows that belong to the turns of a round, in line-up order."""
    joined = TURN.join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    joined = joined if table is TURN else joined.join(table, table.c.turn_id == TURN.c.id)
    query = select(ENTRANT.c.position, *columns).select_from(joined).where(TURN.c.round_id == round.id)
    yield from map(list, connection.execute(query.order_by(ENTRANT.c.position)))


def _parts(connection: Connection, round: StoredRound, table: FromClause, *names: str) -> list[Line]:
    """Databases sort texts in their own ways, so that is done here: the first two or three say which row."""
    return sorted(_of_turns(connection, round, table, tuple(_named(table, *names))), key=lambda row: row[:3])


def _levels(connection: Connection, round: StoredRound) -> Iterator[Line]:
    joined = TURN.join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id).join(FILL, FILL.c.turn_id == TURN.c.id)
    keys = (ENTRANT.c.position, FILL.c.position, LEVEL.c.position)
    columns = (*keys, *_named(LEVEL, "price", "shares", "amount", "fee"))
    query = select(*columns).select_from(joined.join(LEVEL, LEVEL.c.fill_id == FILL.c.id))
    yield from map(list, connection.execute(query.where(TURN.c.round_id == round.id).order_by(*keys)))


def _answers(connection: Connection, round: StoredRound) -> list[Line]:
    """The first good answer to each question of each entrant, with the question as a hash."""
    joined = CALL.join(ENTRANT, CALL.c.entrant_id == ENTRANT.c.id)
    query = select(ENTRANT.c.position, *_named(CALL, *ANSWERED)).select_from(joined)
    query = query.where(CALL.c.round_id == round.id, CALL.c.error_code.is_(None))
    first: dict[tuple[Any, ...], Line] = {}
    for place, stage, sample, messages, seed, *said in connection.execute(query.order_by(CALL.c.attempt)):
        first.setdefault((place, stage, sample, prompt_hash(messages, seed)), said)
    return [[*key, *said] for key, said in sorted(first.items())]


def _entries(
    connection: Connection, cohort_id: int, round: StoredRound, before: StoredRound | None
) -> Iterator[Line]:
    keys = (ENTRANT.c.position, ENTRY.c.number)
    joined = ENTRY.join(ENTRANT, ENTRY.c.entrant_id == ENTRANT.c.id)
    query = select(*keys, *_named(ENTRY, *POSTED)).select_from(joined)
    query = query.where(ENTRANT.c.cohort_id == cohort_id, ENTRY.c.at <= round.at)
    query = query if before is None else query.where(ENTRY.c.at > before.at)
    yield from map(list, connection.execute(query.order_by(*keys)))
