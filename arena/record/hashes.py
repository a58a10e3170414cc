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

A cohort's heads: hashes that fix what was frozen, seen and decided up to a round, and nothing later.

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
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, FromClause, Select, select

from arena.record.queries.cohorts import StoredRound, read_rounds
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
from arena.record.write.calls import prompt_hash
from arena.record.write.evidence import ARTICLE_FIELDS
from arena.record.write.listings import PAGE_FIELDS
from markets.hashes import canonical, digest

FactLine = list[Any]
CONFIG_HASH = re.compile(r'"config_hash":"[0-9a-f]{64}",')
"""As canonical JSON has it; within a text of somebody's the quotes would be escaped."""

TURN_KEY = (COHORT.c.number, ROUND.c.number, ENTRANT.c.position)
"""What a turn or a call is known by, as numbers."""
TURN_KEY_LENGTH = len(TURN_KEY)

PRICE_FIELDS = ("bid", "ask", "mid", "last", "volume", "book")
FILL_FIELDS = (
    "market_id",
    "side",
    "action",
    "shares",
    "amount",
    "fee",
    "wanted",
    "base",
    "quote_at",
    "fee_rate",
)
ENTRY_FIELDS = (
    "at",
    "kind",
    "market_id",
    "side",
    "cash",
    "shares",
    "cost",
    "realised",
    "balance",
    "held",
    "ref",
)


def state_hash(connection: Connection) -> str:
    """The hash of what is in the record, in hexadecimal."""
    whole = hashlib.sha256()
    for line in _lines(connection):
        whole.update(canonical(line).encode())
        whole.update(b"\n")
    return whole.hexdigest()


def _lines(connection: Connection) -> Iterator[FactLine]:
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
        ("fill", _rows(connection, _parts(FILL, "position", *FILL_FIELDS, "left", "reason"))),
        ("level", _rows(connection, _levels())),
        ("entry", _rows(connection, _entries())),
        ("resolution", sorted(_rows(connection, _resolutions()), key=lambda line: line[:2])),
    )
    for kind, lines in parts:
        yield from ([kind, *line] for line in lines)


def _cohorts(connection: Connection) -> Iterator[FactLine]:
    """What each cohort froze, but for the hash of the file that it was started by."""
    for number, frozen in _rows(
        connection, select(COHORT.c.number, COHORT.c.frozen).order_by(COHORT.c.number)
    ):
        yield [number, CONFIG_HASH.sub("", frozen, count=1)]


def _rows(connection: Connection, query: Select[Any]) -> Iterator[FactLine]:
    for row in connection.execute(query, execution_options={"yield_per": 1000}):
        yield list(row)


def _named(table: FromClause, *names: str) -> list[Any]:
    return [table.c[name] for name in names]


def _snapshots(connection: Connection) -> Iterator[FactLine]:
    """Each place of each snapshot: a market's page, by hash, and its quote."""
    pages = {
        id: digest(page) for id, *page in _rows(connection, select(*_named(VERSION, "id", *PAGE_FIELDS)))
    }
    joined = SNAPSHOT.join(COHORT).outerjoin(ITEM).outerjoin(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
    keys = (COHORT.c.number, SNAPSHOT.c.at, ITEM.c.position)
    columns = (*_named(ITEM, "version_id", "market_id", "shown", "quoted_at"), *_named(QUOTE, *PRICE_FIELDS))
    query = select(*keys, *columns).select_from(joined).order_by(*keys)
    for *key, version_id, market_id, shown, quoted_at, bid, ask, mid, last, volume, book in _rows(
        connection, query
    ):
        yield [*key, market_id, pages.get(version_id), shown, quoted_at, bid, ask, mid, last, volume, book]


def _rounds() -> Select[Any]:
    joined = ROUND.join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
    return select(*TURN_KEY[:2], ROUND.c.at).select_from(joined).order_by(*TURN_KEY[:2])


def _evidence() -> Select[Any]:
    """Each place of what a round showed beside its markets: the market and what the article says."""
    joined = GATHERING.join(ROUND, GATHERING.c.round_id == ROUND.c.id)
    joined = joined.join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
    joined = joined.join(EVIDENCE, EVIDENCE.c.gathering_id == GATHERING.c.id)
    joined = joined.outerjoin(ARTICLE, EVIDENCE.c.article == ARTICLE.c.hash)
    keys = (*TURN_KEY[:2], EVIDENCE.c.position)
    return (
        select(*keys, EVIDENCE.c.market_id, *_named(ARTICLE, *ARTICLE_FIELDS))
        .select_from(joined)
        .order_by(*keys)
    )


def _joined_to_turn(table: FromClause) -> FromClause:
    """Rows of a round and an entrant, with both of them and the cohort."""
    joined = table.join(ROUND, table.c.round_id == ROUND.c.id)
    joined = joined.join(ENTRANT, table.c.entrant_id == ENTRANT.c.id)
    return joined.join(COHORT, ROUND.c.cohort_id == COHORT.c.id)


def _of_turns(*columns: Any) -> Select[Any]:
    return select(*TURN_KEY, *columns).select_from(_joined_to_turn(TURN)).order_by(*TURN_KEY)


def _parts(table: FromClause, *names: str) -> Select[Any]:
    """The rows of a table that belong to turns, by turn and the first of their columns."""
    joined = _joined_to_turn(TURN).join(table, table.c.turn_id == TURN.c.id)
    columns = _named(table, *names)
    return select(*TURN_KEY, *columns).select_from(joined).order_by(*TURN_KEY, columns[0])


def _calls(connection: Connection) -> Iterator[FactLine]:
    """The last attempt without an error of each stage and sample."""
    columns = _named(CALL, "attempt", "stage", "sample", "messages", "reply")
    query = select(*TURN_KEY, *columns).select_from(_joined_to_turn(CALL)).where(CALL.c.error_code.is_(None))
    rows = _rows(connection, query.order_by(*TURN_KEY, CALL.c.attempt))
    for place, calls in _by_turn(rows):
        last = {(stage, sample): (messages, reply) for _, stage, sample, messages, reply in calls}
        yield from ([*place, *key, *last[key]] for key in sorted(last))


def _forecasts(connection: Connection) -> Iterator[FactLine]:
    columns = _named(FORECAST, "market_id", "stage", "probability", "reason")
    joined = _joined_to_turn(TURN).join(FORECAST, FORECAST.c.turn_id == TURN.c.id)
    rows = _rows(connection, select(*TURN_KEY, *columns).select_from(joined).order_by(*TURN_KEY))
    for place, forecasts in _by_turn(rows):
        yield from ([*place, *forecast] for forecast in sorted(forecasts))


def _by_turn(rows: Iterable[FactLine]) -> Iterator[tuple[FactLine, list[FactLine]]]:
    for place, group in groupby(rows, key=lambda row: row[:TURN_KEY_LENGTH]):
        yield place, [row[TURN_KEY_LENGTH:] for row in group]


def _levels() -> Select[Any]:
    joined = (
        _joined_to_turn(TURN)
        .join(FILL, FILL.c.turn_id == TURN.c.id)
        .join(LEVEL, LEVEL.c.fill_id == FILL.c.id)
    )
    keys = (*TURN_KEY, FILL.c.position, LEVEL.c.position)
    return (
        select(*keys, *_named(LEVEL, "price", "shares", "amount", "fee")).select_from(joined).order_by(*keys)
    )


def _entries() -> Select[Any]:
    joined = ENTRY.join(ENTRANT, ENTRY.c.entrant_id == ENTRANT.c.id)
    joined = joined.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)
    keys = (COHORT.c.number, ENTRANT.c.position, ENTRY.c.number)
    return select(*keys, *_named(ENTRY, *ENTRY_FIELDS)).select_from(joined).order_by(*keys)


def _resolutions() -> Select[Any]:
    return select(*_named(RESOLUTION, "market_id", "version", "known_at", "learnt_at", "payout", "source"))


HeadLine = list[Any]
TURN_FIELDS = ("verdict", "note", "cash", "wishes")
ANSWER_FIELDS = ("stage", "sample", "messages", "seed", "reply", "finish", "model", "fingerprint")


def round_heads(connection: Connection, cohort_id: int) -> dict[int, str]:
    """The head of each round of a cohort that is over, and under 0 that of what it froze."""
    own = select(COHORT.c.number, COHORT.c.frozen).where(COHORT.c.id == cohort_id)
    number, frozen = connection.execute(own).one()
    head = digest(["cohort", number, digest(frozen)])
    found, before = {0: head}, None
    for round in read_rounds(connection, cohort_id):
        if not round.done:
            break
        whole = hashlib.sha256(_encoded(["head", head]))
        for line in _round_lines(connection, cohort_id, round, before):
            whole.update(_encoded(line))
        head = found[round.number] = whole.hexdigest()
        before = round
    return found


def _encoded(line: HeadLine) -> bytes:
    return f"{canonical(line)}\n".encode()


def _round_lines(
    connection: Connection, cohort_id: int, round: StoredRound, before: StoredRound | None
) -> Iterator[HeadLine]:
    """All that a round adds, in the order of what it is about."""
    yield ["round", round.number, round.at]
    parts = {
        "seen": _round_snapshot(connection, round),
        "evidence": _round_evidence(connection, round),
        "turn": _round_turns(connection, round, TURN, (ENTRANT.c.name, *_head_columns(TURN, *TURN_FIELDS))),
        "answer": _round_answers(connection, round),
        "forecast": _round_parts(connection, round, FORECAST, "market_id", "stage", "probability", "reason"),
        "rejection": _round_parts(connection, round, REJECTION, "position", "code", "message", "market_id"),
        "fill": _round_parts(connection, round, FILL, "position", *FILL_FIELDS, "left", "reason"),
        "level": _round_levels(connection, round),
        "entry": _round_entries(connection, cohort_id, round, before),
    }
    for kind, lines in parts.items():
        yield from ([kind, *line] for line in lines)


def _head_columns(table: FromClause, *names: str) -> list[Any]:
    return [table.c[name] for name in names]


def _round_snapshot(connection: Connection, round: StoredRound) -> Iterator[HeadLine]:
    """Each place of the snapshot: the market, its page as a hash, its price and when that was true."""
    joined = ITEM.join(VERSION, ITEM.c.version_id == VERSION.c.id)
    joined = joined.outerjoin(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
    place = _head_columns(ITEM, "position", "market_id", "shown", "quoted_at")
    columns = [*place, *_head_columns(QUOTE, *PRICE_FIELDS), *_head_columns(VERSION, *PAGE_FIELDS)]
    query = select(*columns).select_from(joined).where(ITEM.c.snapshot_id == round.snapshot_id)
    for row in connection.execute(query.order_by(ITEM.c.position)):
        known = len(columns) - len(PAGE_FIELDS)
        yield [*row[:known], digest(list(row[known:]))]


def _round_evidence(connection: Connection, round: StoredRound) -> Iterator[HeadLine]:
    joined = GATHERING.join(EVIDENCE, EVIDENCE.c.gathering_id == GATHERING.c.id)
    joined = joined.outerjoin(ARTICLE, EVIDENCE.c.article == ARTICLE.c.hash)
    columns = (*_head_columns(EVIDENCE, "position", "market_id"), *_head_columns(ARTICLE, *ARTICLE_FIELDS))
    query = select(*columns).select_from(joined).where(GATHERING.c.round_id == round.id)
    yield from map(list, connection.execute(query.order_by(EVIDENCE.c.position)))


def _round_turns(
    connection: Connection, round: StoredRound, table: FromClause, columns: tuple[Any, ...]
) -> Iterator[HeadLine]:
    """Rows that belong to the turns of a round, in line-up order."""
    joined = TURN.join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    joined = joined if table is TURN else joined.join(table, table.c.turn_id == TURN.c.id)
    query = select(ENTRANT.c.position, *columns).select_from(joined).where(TURN.c.round_id == round.id)
    yield from map(list, connection.execute(query.order_by(ENTRANT.c.position)))


def _round_parts(
    connection: Connection, round: StoredRound, table: FromClause, *names: str
) -> list[HeadLine]:
    """Databases sort texts in their own ways, so that is done here: the first two or three say which row."""
    return sorted(
        _round_turns(connection, round, table, tuple(_head_columns(table, *names))), key=lambda row: row[:3]
    )


def _round_levels(connection: Connection, round: StoredRound) -> Iterator[HeadLine]:
    joined = TURN.join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id).join(FILL, FILL.c.turn_id == TURN.c.id)
    keys = (ENTRANT.c.position, FILL.c.position, LEVEL.c.position)
    columns = (*keys, *_head_columns(LEVEL, "price", "shares", "amount", "fee"))
    query = select(*columns).select_from(joined.join(LEVEL, LEVEL.c.fill_id == FILL.c.id))
    yield from map(list, connection.execute(query.where(TURN.c.round_id == round.id).order_by(*keys)))


def _round_answers(connection: Connection, round: StoredRound) -> list[HeadLine]:
    """The first good answer to each question of each entrant, with the question as a hash."""
    joined = CALL.join(ENTRANT, CALL.c.entrant_id == ENTRANT.c.id)
    query = select(ENTRANT.c.position, *_head_columns(CALL, *ANSWER_FIELDS)).select_from(joined)
    query = query.where(CALL.c.round_id == round.id, CALL.c.error_code.is_(None))
    first: dict[tuple[Any, ...], HeadLine] = {}
    for place, stage, sample, messages, seed, *said in connection.execute(query.order_by(CALL.c.attempt)):
        first.setdefault((place, stage, sample, prompt_hash(messages, seed)), said)
    return [[*key, *said] for key, said in sorted(first.items())]


def _round_entries(
    connection: Connection, cohort_id: int, round: StoredRound, before: StoredRound | None
) -> Iterator[HeadLine]:
    keys = (ENTRANT.c.position, ENTRY.c.number)
    joined = ENTRY.join(ENTRANT, ENTRY.c.entrant_id == ENTRANT.c.id)
    query = select(*keys, *_head_columns(ENTRY, *ENTRY_FIELDS)).select_from(joined)
    query = query.where(ENTRANT.c.cohort_id == cohort_id, ENTRY.c.at <= round.at)
    query = query if before is None else query.where(ENTRY.c.at > before.at)
    yield from map(list, connection.execute(query.order_by(*keys)))
