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

from sqlalchemy import Connection, FromClause

from arena.record.queries.cohorts import StoredRound, read_rounds
from arena.record.schema.cohort import (
    CohortRow,
    EntrantRow,
    EvidenceRow,
    GatheringRow,
    PromptRow,
    RoundRow,
    SnapshotItemRow,
    SnapshotRow,
)
from arena.record.schema.ledger import EntryRow
from arena.record.schema.turn import CallRow, FillLevelRow, FillRow, ForecastRow, RejectionRow, TurnRow
from arena.record.schema.typed import AnySelect, clause, col, select
from arena.record.schema.world import ArticleRow, MarketVersionRow, QuoteRow, ResolutionRow
from arena.record.write.calls import prompt_hash
from arena.record.write.evidence import ARTICLE_FIELDS
from arena.record.write.listings import PAGE_FIELDS
from markets.hashes import canonical, digest

FactLine = list[Any]
CONFIG_HASH = re.compile(r'"config_hash":"[0-9a-f]{64}",')
"""As canonical JSON has it; within a text of somebody's the quotes would be escaped."""

TURN_KEY = (CohortRow.number, RoundRow.number, EntrantRow.position)
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
        ("prompt", sorted(_rows(connection, select(PromptRow.text)))),
        ("snapshot", _snapshots(connection)),
        ("round", _rows(connection, _rounds())),
        ("evidence", _rows(connection, _evidence())),
        (
            "turn",
            _rows(
                connection,
                _of_turns(EntrantRow.name, *_named(TurnRow.__table__, "verdict", "note", "cash", "wishes")),
            ),
        ),
        ("call", _calls(connection)),
        ("forecast", _forecasts(connection)),
        (
            "rejection",
            _rows(connection, _parts(RejectionRow.__table__, "position", "code", "message", "market_id")),
        ),
        ("fill", _rows(connection, _parts(FillRow.__table__, "position", *FILL_FIELDS, "left", "reason"))),
        ("level", _rows(connection, _levels())),
        ("entry", _rows(connection, _entries())),
        ("resolution", sorted(_rows(connection, _resolutions()), key=lambda line: line[:2])),
    )
    for kind, lines in parts:
        yield from ([kind, *line] for line in lines)


def _cohorts(connection: Connection) -> Iterator[FactLine]:
    """What each cohort froze, but for the hash of the file that it was started by."""
    for number, frozen in _rows(
        connection, select(CohortRow.number, CohortRow.frozen).order_by(CohortRow.number)
    ):
        yield [number, CONFIG_HASH.sub("", frozen, count=1)]


def _rows(connection: Connection, query: AnySelect) -> Iterator[FactLine]:
    for row in connection.execute(query, execution_options={"yield_per": 1000}):
        yield list(row)


def _named(table: FromClause, *names: str) -> list[Any]:
    return [table.c[name] for name in names]


def _snapshots(connection: Connection) -> Iterator[FactLine]:
    """Each place of each snapshot: a market's page, by hash, and its quote."""
    pages = {
        id: digest(page)
        for id, *page in _rows(connection, select(*_named(MarketVersionRow.__table__, "id", *PAGE_FIELDS)))
    }
    joined = (
        SnapshotRow.__table__.join(CohortRow)
        .outerjoin(SnapshotItemRow)
        .outerjoin(QuoteRow, clause(SnapshotItemRow.quote_id == QuoteRow.id))
    )
    keys = (CohortRow.number, SnapshotRow.at, SnapshotItemRow.position)
    columns = (
        *_named(SnapshotItemRow.__table__, "version_id", "market_id", "shown", "quoted_at"),
        *_named(QuoteRow.__table__, *PRICE_FIELDS),
    )
    query = select(*keys, *columns).select_from(joined).order_by(*keys)
    for *key, version_id, market_id, shown, quoted_at, bid, ask, mid, last, volume, book in _rows(
        connection, query
    ):
        yield [*key, market_id, pages.get(version_id), shown, quoted_at, bid, ask, mid, last, volume, book]


def _rounds() -> AnySelect:
    joined = RoundRow.__table__.join(CohortRow, clause(RoundRow.cohort_id == CohortRow.id))
    return select(*TURN_KEY[:2], RoundRow.at).select_from(joined).order_by(*TURN_KEY[:2])


def _evidence() -> AnySelect:
    """Each place of what a round showed beside its markets: the market and what the article says."""
    joined = GatheringRow.__table__.join(RoundRow, clause(GatheringRow.round_id == RoundRow.id))
    joined = joined.join(CohortRow, clause(RoundRow.cohort_id == CohortRow.id))
    joined = joined.join(EvidenceRow, clause(EvidenceRow.gathering_id == GatheringRow.id))
    joined = joined.outerjoin(ArticleRow, clause(EvidenceRow.article == ArticleRow.hash))
    keys = (*TURN_KEY[:2], EvidenceRow.position)
    return (
        select(*keys, EvidenceRow.market_id, *_named(ArticleRow.__table__, *ARTICLE_FIELDS))
        .select_from(joined)
        .order_by(*keys)
    )


def _joined_to_turn(table: FromClause) -> FromClause:
    """Rows of a round and an entrant, with both of them and the cohort."""
    joined = table.join(RoundRow, clause(table.c.round_id == RoundRow.id))
    joined = joined.join(EntrantRow, clause(table.c.entrant_id == EntrantRow.id))
    return joined.join(CohortRow, clause(RoundRow.cohort_id == CohortRow.id))


def _of_turns(*columns: Any) -> AnySelect:
    return select(*TURN_KEY, *columns).select_from(_joined_to_turn(TurnRow.__table__)).order_by(*TURN_KEY)


def _parts(table: FromClause, *names: str) -> AnySelect:
    """The rows of a table that belong to turns, by turn and the first of their columns."""
    joined = _joined_to_turn(TurnRow.__table__).join(table, clause(table.c.turn_id == TurnRow.id))
    columns = _named(table, *names)
    return select(*TURN_KEY, *columns).select_from(joined).order_by(*TURN_KEY, columns[0])


def _calls(connection: Connection) -> Iterator[FactLine]:
    """The last attempt without an error of each stage and sample."""
    columns = _named(CallRow.__table__, "attempt", "stage", "sample", "messages", "reply")
    query = (
        select(*TURN_KEY, *columns)
        .select_from(_joined_to_turn(CallRow.__table__))
        .where(col(CallRow.error_code).is_(None))
    )
    rows = _rows(connection, query.order_by(*TURN_KEY, CallRow.attempt))
    for place, calls in _by_turn(rows):
        last = {(stage, sample): (messages, reply) for _, stage, sample, messages, reply in calls}
        yield from ([*place, *key, *last[key]] for key in sorted(last))


def _forecasts(connection: Connection) -> Iterator[FactLine]:
    columns = _named(ForecastRow.__table__, "market_id", "stage", "probability", "reason")
    joined = _joined_to_turn(TurnRow.__table__).join(ForecastRow, clause(ForecastRow.turn_id == TurnRow.id))
    rows = _rows(connection, select(*TURN_KEY, *columns).select_from(joined).order_by(*TURN_KEY))
    for place, forecasts in _by_turn(rows):
        yield from ([*place, *forecast] for forecast in sorted(forecasts))


def _by_turn(rows: Iterable[FactLine]) -> Iterator[tuple[FactLine, list[FactLine]]]:
    for place, group in groupby(rows, key=lambda row: row[:TURN_KEY_LENGTH]):
        yield place, [row[TURN_KEY_LENGTH:] for row in group]


def _levels() -> AnySelect:
    joined = (
        _joined_to_turn(TurnRow.__table__)
        .join(FillRow, clause(FillRow.turn_id == TurnRow.id))
        .join(FillLevelRow, clause(FillLevelRow.fill_id == FillRow.id))
    )
    keys = (*TURN_KEY, FillRow.position, FillLevelRow.position)
    return (
        select(*keys, *_named(FillLevelRow.__table__, "price", "shares", "amount", "fee"))
        .select_from(joined)
        .order_by(*keys)
    )


def _entries() -> AnySelect:
    joined = EntryRow.__table__.join(EntrantRow, clause(EntryRow.entrant_id == EntrantRow.id))
    joined = joined.join(CohortRow, clause(EntrantRow.cohort_id == CohortRow.id))
    keys = (CohortRow.number, EntrantRow.position, EntryRow.number)
    return select(*keys, *_named(EntryRow.__table__, *ENTRY_FIELDS)).select_from(joined).order_by(*keys)


def _resolutions() -> AnySelect:
    return select(
        *_named(ResolutionRow.__table__, "market_id", "version", "known_at", "learnt_at", "payout", "source")
    )


HeadLine = list[Any]
TURN_FIELDS = ("verdict", "note", "cash", "wishes")
ANSWER_FIELDS = ("stage", "sample", "messages", "seed", "reply", "finish", "model", "fingerprint")


def round_heads(connection: Connection, cohort_id: int) -> dict[int, str]:
    """The head of each round of a cohort that is over, and under 0 that of what it froze."""
    own = select(CohortRow.number, CohortRow.frozen).where(CohortRow.id == cohort_id)
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
        "turn": _round_turns(
            connection,
            round,
            TurnRow.__table__,
            (EntrantRow.name, *_head_columns(TurnRow.__table__, *TURN_FIELDS)),
        ),
        "answer": _round_answers(connection, round),
        "forecast": _round_parts(
            connection, round, ForecastRow.__table__, "market_id", "stage", "probability", "reason"
        ),
        "rejection": _round_parts(
            connection, round, RejectionRow.__table__, "position", "code", "message", "market_id"
        ),
        "fill": _round_parts(
            connection, round, FillRow.__table__, "position", *FILL_FIELDS, "left", "reason"
        ),
        "level": _round_levels(connection, round),
        "entry": _round_entries(connection, cohort_id, round, before),
    }
    for kind, lines in parts.items():
        yield from ([kind, *line] for line in lines)


def _head_columns(table: FromClause, *names: str) -> list[Any]:
    return [table.c[name] for name in names]


def _round_snapshot(connection: Connection, round: StoredRound) -> Iterator[HeadLine]:
    """Each place of the snapshot: the market, its page as a hash, its price and when that was true."""
    joined = SnapshotItemRow.__table__.join(
        MarketVersionRow, clause(SnapshotItemRow.version_id == MarketVersionRow.id)
    )
    joined = joined.outerjoin(QuoteRow, clause(SnapshotItemRow.quote_id == QuoteRow.id))
    place = _head_columns(SnapshotItemRow.__table__, "position", "market_id", "shown", "quoted_at")
    columns = [
        *place,
        *_head_columns(QuoteRow.__table__, *PRICE_FIELDS),
        *_head_columns(MarketVersionRow.__table__, *PAGE_FIELDS),
    ]
    query = select(*columns).select_from(joined).where(SnapshotItemRow.snapshot_id == round.snapshot_id)
    for row in connection.execute(query.order_by(SnapshotItemRow.position)):
        known = len(columns) - len(PAGE_FIELDS)
        yield [*row[:known], digest(list(row[known:]))]


def _round_evidence(connection: Connection, round: StoredRound) -> Iterator[HeadLine]:
    joined = GatheringRow.__table__.join(EvidenceRow, clause(EvidenceRow.gathering_id == GatheringRow.id))
    joined = joined.outerjoin(ArticleRow, clause(EvidenceRow.article == ArticleRow.hash))
    columns = (
        *_head_columns(EvidenceRow.__table__, "position", "market_id"),
        *_head_columns(ArticleRow.__table__, *ARTICLE_FIELDS),
    )
    query = select(*columns).select_from(joined).where(GatheringRow.round_id == round.id)
    yield from map(list, connection.execute(query.order_by(EvidenceRow.position)))


def _round_turns(
    connection: Connection, round: StoredRound, table: FromClause, columns: tuple[Any, ...]
) -> Iterator[HeadLine]:
    """Rows that belong to the turns of a round, in line-up order."""
    joined = TurnRow.__table__.join(EntrantRow, clause(TurnRow.entrant_id == EntrantRow.id))
    joined = (
        joined if table is TurnRow.__table__ else joined.join(table, clause(table.c.turn_id == TurnRow.id))
    )
    query = select(EntrantRow.position, *columns).select_from(joined).where(TurnRow.round_id == round.id)
    yield from map(list, connection.execute(query.order_by(EntrantRow.position)))


def _round_parts(
    connection: Connection, round: StoredRound, table: FromClause, *names: str
) -> list[HeadLine]:
    """Databases sort texts in their own ways, so that is done here: the first two or three say which row."""
    return sorted(
        _round_turns(connection, round, table, tuple(_head_columns(table, *names))), key=lambda row: row[:3]
    )


def _round_levels(connection: Connection, round: StoredRound) -> Iterator[HeadLine]:
    joined = TurnRow.__table__.join(EntrantRow, clause(TurnRow.entrant_id == EntrantRow.id)).join(
        FillRow, clause(FillRow.turn_id == TurnRow.id)
    )
    keys = (EntrantRow.position, FillRow.position, FillLevelRow.position)
    columns = (*keys, *_head_columns(FillLevelRow.__table__, "price", "shares", "amount", "fee"))
    query = select(*columns).select_from(
        joined.join(FillLevelRow, clause(FillLevelRow.fill_id == FillRow.id))
    )
    yield from map(list, connection.execute(query.where(TurnRow.round_id == round.id).order_by(*keys)))


def _round_answers(connection: Connection, round: StoredRound) -> list[HeadLine]:
    """The first good answer to each question of each entrant, with the question as a hash."""
    joined = CallRow.__table__.join(EntrantRow, clause(CallRow.entrant_id == EntrantRow.id))
    query = select(EntrantRow.position, *_head_columns(CallRow.__table__, *ANSWER_FIELDS)).select_from(joined)
    query = query.where(CallRow.round_id == round.id, col(CallRow.error_code).is_(None))
    first: dict[tuple[Any, ...], HeadLine] = {}
    for place, stage, sample, messages, seed, *said in connection.execute(query.order_by(CallRow.attempt)):
        first.setdefault((place, stage, sample, prompt_hash(messages, seed)), said)
    return [[*key, *said] for key, said in sorted(first.items())]


def _round_entries(
    connection: Connection, cohort_id: int, round: StoredRound, before: StoredRound | None
) -> Iterator[HeadLine]:
    keys = (EntrantRow.position, EntryRow.number)
    joined = EntryRow.__table__.join(EntrantRow, clause(EntryRow.entrant_id == EntrantRow.id))
    query = select(*keys, *_head_columns(EntryRow.__table__, *ENTRY_FIELDS)).select_from(joined)
    query = query.where(EntrantRow.cohort_id == cohort_id, EntryRow.at <= round.at)
    query = query if before is None else query.where(EntryRow.at > before.at)
    yield from map(list, connection.execute(query.order_by(*keys)))
