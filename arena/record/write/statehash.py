"""One hash for all that a record says: the same for a season however often it was broken off.

It is the SHA-256 over lines of canonical JSON, in the order of natural keys: frozen cohorts and
their prompts, market pages, snapshots with their quotes, rounds, the articles shown in them, turns
with the last good question and answer of each stage and sample, forecasts, rejections, fills with
their levels, entries, resolutions. Row ids, the clock, latencies, attempts, costs, claims, which
articles were dropped, the code's version, marks and the hashes in the record are left out: they
follow from the rest, or don't matter. So is the hash of the config file in what a cohort froze: a
comment in it, or how many calls are made at once, is no part of the season.

Databases sort numbers and instants alike, but not texts, so rows are sorted by numbers in SQL and
those of one turn, or of a market, by text here. Nothing but the pages of markets, as hashes, and
the resolutions is held in memory whole.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, FromClause, Select, select

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
    PROMPT,
    QUOTE,
    REJECTION,
    RESOLUTION,
    ROUND,
    SNAPSHOT,
    TURN,
    VERSION,
)
from arena.record.write.evidence import SAID
from arena.record.write.listings import PAGE
from markets.hashes import canonical, digest

Line = list[Any]
FILE_HASH = re.compile(r'"config_hash":"[0-9a-f]{64}",')
"""As canonical JSON has it; within a text of somebody's the quotes would be escaped."""

PLACE = (COHORT.c.number, ROUND.c.number, ENTRANT.c.position)
"""What a turn or a call is known by, as numbers."""
PLACES = len(PLACE)

PRICES = ("bid", "ask", "mid", "last", "volume", "book")
FILLED = ("market_id", "side", "action", "shares", "amount", "fee", "wanted", "base", "quote_at", "fee_rate")
POSTED = ("at", "kind", "market_id", "side", "cash", "shares", "cost", "realised", "balance", "held", "ref")


def state_hash(connection: Connection) -> str:
    """The hash of what is in the record, in hexadecimal."""
    whole = hashlib.sha256()
    for line in _lines(connection):
        whole.update(canonical(line).encode())
        whole.update(b"\n")
    return whole.hexdigest()


def _lines(connection: Connection) -> Iterator[Line]:
    """Every fact as a line that says what kind of fact it is."""
    parts = (
        ("cohort", _cohorts(connection)),
        ("prompt", sorted(_rows(connection, select(PROMPT.c.text)))),
        ("snapshot", _snapshots(connection)),
        ("round", _rows(connection, _rounds())),
        ("evidence", _rows(connection, _evidence())),
        (
            "turn",
            _rows(connection, _of_turns(ENTRANT.c.name, *_named(TURN, "verdict", "note", "cash", "wishes"))),
        ),
        ("call", _calls(connection)),
        ("forecast", _forecasts(connection)),
        ("rejection", _rows(connection, _parts(REJECTION, "position", "code", "message", "market_id"))),
        ("fill", _rows(connection, _parts(FILL, "position", *FILLED, "left", "reason"))),
        ("level", _rows(connection, _levels())),
        ("entry", _rows(connection, _entries())),
        ("resolution", sorted(_rows(connection, _resolutions()), key=lambda line: line[:2])),
    )
    for kind, lines in parts:
        yield from ([kind, *line] for line in lines)


def _cohorts(connection: Connection) -> Iterator[Line]:
    """What each cohort froze, but for the hash of the file that it was started by."""
    for number, frozen in _rows(
        connection, select(COHORT.c.number, COHORT.c.frozen).order_by(COHORT.c.number)
    ):
        yield [number, FILE_HASH.sub("", frozen, count=1)]


def _rows(connection: Connection, query: Select[Any]) -> Iterator[Line]:
    for row in connection.execute(query, execution_options={"yield_per": 1000}):
        yield list(row)


def _named(table: FromClause, *names: str) -> list[Any]:
    return [table.c[name] for name in names]


def _snapshots(connection: Connection) -> Iterator[Line]:
    """Each place of each snapshot: a market's page, by hash, and its quote."""
    pages = {id: digest(page) for id, *page in _rows(connection, select(*_named(VERSION, "id", *PAGE)))}
    joined = SNAPSHOT.join(COHORT).outerjoin(ITEM).outerjoin(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
    keys = (COHORT.c.number, SNAPSHOT.c.at, ITEM.c.position)
    columns = (*_named(ITEM, "version_id", "market_id", "shown", "quoted_at"), *_named(QUOTE, *PRICES))
    query = select(*keys, *columns).select_from(joined).order_by(*keys)
    for *key, version_id, market_id, shown, quoted_at, bid, ask, mid, last, volume, book in _rows(
        connection, query
    ):
        yield [*key, market_id, pages.get(version_id), shown, quoted_at, bid, ask, mid, last, volume, book]


def _rounds() -> Select[Any]:
    joined = ROUND.join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
    return select(*PLACE[:2], ROUND.c.at).select_from(joined).order_by(*PLACE[:2])


def _evidence() -> Select[Any]:
    """Each place of what a round showed beside its markets: the market and what the article says."""
    joined = GATHERING.join(ROUND, GATHERING.c.round_id == ROUND.c.id)
    joined = joined.join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
    joined = joined.join(EVIDENCE, EVIDENCE.c.gathering_id == GATHERING.c.id)
    joined = joined.outerjoin(ARTICLE, EVIDENCE.c.article == ARTICLE.c.hash)
    keys = (*PLACE[:2], EVIDENCE.c.position)
    return select(*keys, EVIDENCE.c.market_id, *_named(ARTICLE, *SAID)).select_from(joined).order_by(*keys)


def _placed(table: FromClause) -> FromClause:
    """Rows of a round and an entrant, with both of them and the cohort."""
    joined = table.join(ROUND, table.c.round_id == ROUND.c.id)
    joined = joined.join(ENTRANT, table.c.entrant_id == ENTRANT.c.id)
    return joined.join(COHORT, ROUND.c.cohort_id == COHORT.c.id)


def _of_turns(*columns: Any) -> Select[Any]:
    return select(*PLACE, *columns).select_from(_placed(TURN)).order_by(*PLACE)


def _parts(table: FromClause, *names: str) -> Select[Any]:
    """The rows of a table that belong to turns, by turn and the first of their columns."""
    joined = _placed(TURN).join(table, table.c.turn_id == TURN.c.id)
    columns = _named(table, *names)
    return select(*PLACE, *columns).select_from(joined).order_by(*PLACE, columns[0])


def _calls(connection: Connection) -> Iterator[Line]:
    """The last attempt without an error of each stage and sample."""
    columns = _named(CALL, "attempt", "stage", "sample", "messages", "reply")
    query = select(*PLACE, *columns).select_from(_placed(CALL)).where(CALL.c.error_code.is_(None))
    rows = _rows(connection, query.order_by(*PLACE, CALL.c.attempt))
    for place, calls in _by_turn(rows):
        last = {(stage, sample): (messages, reply) for _, stage, sample, messages, reply in calls}
        yield from ([*place, *key, *last[key]] for key in sorted(last))


def _forecasts(connection: Connection) -> Iterator[Line]:
    columns = _named(FORECAST, "market_id", "stage", "probability", "reason")
    joined = _placed(TURN).join(FORECAST, FORECAST.c.turn_id == TURN.c.id)
    rows = _rows(connection, select(*PLACE, *columns).select_from(joined).order_by(*PLACE))
    for place, forecasts in _by_turn(rows):
        yield from ([*place, *forecast] for forecast in sorted(forecasts))


def _by_turn(rows: Iterable[Line]) -> Iterator[tuple[Line, list[Line]]]:
    for place, group in groupby(rows, key=lambda row: row[:PLACES]):
        yield place, [row[PLACES:] for row in group]


def _levels() -> Select[Any]:
    joined = _placed(TURN).join(FILL, FILL.c.turn_id == TURN.c.id).join(LEVEL, LEVEL.c.fill_id == FILL.c.id)
    keys = (*PLACE, FILL.c.position, LEVEL.c.position)
    return (
        select(*keys, *_named(LEVEL, "price", "shares", "amount", "fee")).select_from(joined).order_by(*keys)
    )


def _entries() -> Select[Any]:
    joined = ENTRY.join(ENTRANT, ENTRY.c.entrant_id == ENTRANT.c.id)
    joined = joined.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)
    keys = (COHORT.c.number, ENTRANT.c.position, ENTRY.c.number)
    return select(*keys, *_named(ENTRY, *POSTED)).select_from(joined).order_by(*keys)


def _resolutions() -> Select[Any]:
    return select(*_named(RESOLUTION, "market_id", "version", "known_at", "learnt_at", "payout", "source"))
