"""Reading facts back as the nouns they were, in a handful of queries whatever their number."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, func, select, true

from agents.model import Call, CallError, Forecast, Message, Prompt
from arena.budget import Scope
from arena.model import Cohort
from arena.store.codec import book_of, cohort_of
from arena.store.tables import (
    CALL,
    COHORT,
    ENTRANT,
    ENTRY,
    FORECAST,
    ITEM,
    MARK,
    PROMPT,
    QUOTE,
    RESOLUTION,
    ROUND,
    SNAPSHOT,
    TURN,
    VERSION,
)
from markets.model import Listing, Market, MarketId, Quote, Resolution, Snapshot
from portfolio.model import Entry

ENTRY_COLUMNS = [ENTRY.c[name] for name in Entry.__dataclass_fields__]


@dataclass(frozen=True, slots=True)
class StoredCohort:
    """A cohort with the ids of its rows."""

    id: int
    cohort: Cohort
    entrant_ids: dict[str, int]
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class StoredRound:
    """A round with the ids of its rows."""

    id: int
    number: int
    at: datetime
    snapshot_id: int
    done: bool


def cohorts(connection: Connection) -> list[StoredCohort]:
    """All cohorts, oldest first."""
    entrants: dict[int, dict[str, int]] = defaultdict(dict)
    for row in connection.execute(select(ENTRANT).order_by(ENTRANT.c.cohort_id, ENTRANT.c.position)):
        entrants[row.cohort_id][row.name] = row.id
    rows = connection.execute(select(COHORT).order_by(COHORT.c.number))
    return [StoredCohort(r.id, cohort_of(r.frozen), entrants[r.id], r.ended_at) for r in rows]


def prompts(connection: Connection, hashes: Collection[str]) -> dict[str, str]:
    """Texts by hash."""
    rows = connection.execute(select(PROMPT.c.hash, PROMPT.c.text).where(PROMPT.c.hash.in_(hashes)))
    return dict(rows.all())


def rounds(connection: Connection, cohort_id: int) -> list[StoredRound]:
    """The rounds of a cohort that have begun."""
    rows = connection.execute(select(ROUND).where(ROUND.c.cohort_id == cohort_id).order_by(ROUND.c.number))
    return [StoredRound(r.id, r.number, r.at, r.snapshot_id, bool(r.done)) for r in rows]


def snapshot(connection: Connection, cohort_id: int, at: datetime) -> tuple[int, Snapshot] | None:
    """A cohort's snapshot at an instant, with its id."""
    found = _taken(connection, cohort_id, at)
    if found is None:
        return None
    snapshot_id, taken_at = found
    rows = connection.execute(_listings().where(ITEM.c.snapshot_id == snapshot_id).order_by(ITEM.c.position))
    items = [(row.shown, _listing(row)) for row in rows]
    shown, held = ([x for flag, x in items if flag == kind] for kind in (1, 0))
    return snapshot_id, Snapshot(at, tuple(shown), tuple(held), None if taken_at == at else taken_at)


def _taken(connection: Connection, cohort_id: int, at: datetime) -> tuple[int, datetime] | None:
    """The id of a cohort's snapshot, and when it was really looked at."""
    mine = SNAPSHOT.c.cohort_id == cohort_id, SNAPSHOT.c.at == at
    row = connection.execute(select(SNAPSHOT.c.id, SNAPSHOT.c.taken_at).where(*mine)).one_or_none()
    return None if row is None else (row.id, row.taken_at)


def quotes(
    connection: Connection, cohort_id: int, at: datetime
) -> tuple[int, datetime, dict[MarketId, Quote | None]] | None:
    """The snapshot's id, when it was looked at, and its prices without books and pages."""
    found = _taken(connection, cohort_id, at)
    if found is None:
        return None
    snapshot_id, taken_at = found
    prices = (QUOTE.c.id, ITEM.c.quoted_at, QUOTE.c.bid, QUOTE.c.ask, QUOTE.c.mid, QUOTE.c.last)
    listed = select(ITEM.c.market_id, *prices).select_from(
        ITEM.outerjoin(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
    )
    last_first = listed.where(ITEM.c.snapshot_id == snapshot_id).order_by(ITEM.c.position.desc())
    rows = connection.execute(last_first)  # of a market that is listed twice, the first counts
    return (
        snapshot_id,
        taken_at,
        {
            MarketId(market): None if quote is None else Quote(MarketId(market), *seen)
            for market, quote, *seen in rows
        },
    )


def _listings() -> Any:
    version = [c.label(f"v_{c.name}") for c in VERSION.c]
    quote = [c.label(f"q_{c.name}") for c in QUOTE.c]
    joined = ITEM.join(VERSION, ITEM.c.version_id == VERSION.c.id).outerjoin(
        QUOTE, ITEM.c.quote_id == QUOTE.c.id
    )
    return select(ITEM.c.market_id, ITEM.c.shown, ITEM.c.quoted_at, *version, *quote).select_from(joined)


def _listing(row: Row[Any]) -> Listing:
    market_id = MarketId(row.market_id)
    market = Market(
        market_id,
        row.v_event_id,
        row.v_question,
        row.v_rules,
        row.v_category,
        row.v_opens_at,
        row.v_closes_at,
        row.v_tick,
        row.v_fee_rate,
        row.v_min_shares,
    )
    if row.q_id is None:
        return Listing(market, None)
    prices = (row.q_bid, row.q_ask, row.q_mid, row.q_last, row.q_volume)
    return Listing(market, Quote(market_id, row.quoted_at, *prices, *book_of(row.q_book)))


def ledgers(connection: Connection, cohort_id: int) -> dict[str, list[Entry]]:
    """Every entrant's ledger, in line-up order."""
    joined = ENTRANT.join(ENTRY, ENTRY.c.entrant_id == ENTRANT.c.id)
    wanted = (
        select(ENTRANT.c.name, *ENTRY_COLUMNS).select_from(joined).where(ENTRANT.c.cohort_id == cohort_id)
    )
    found: dict[str, list[Entry]] = defaultdict(list)
    for name, *values in connection.execute(wanted.order_by(ENTRANT.c.position, ENTRY.c.number)):
        found[name].append(Entry(*values))
    return dict(found)


def entries_after(connection: Connection, known: Mapping[int, int]) -> dict[int, list[Entry]]:
    """The entries of entrants, by id, that come after those up to a number."""
    newer = ENTRY.c.entrant_id.in_(list(known)), ENTRY.c.number > min(known.values(), default=0)
    wanted = select(ENTRY.c.entrant_id, *ENTRY_COLUMNS).where(*newer)
    found: dict[int, list[Entry]] = {entrant_id: [] for entrant_id in known}
    for entrant_id, number, *values in connection.execute(
        wanted.order_by(ENTRY.c.entrant_id, ENTRY.c.number)
    ):
        if number > known[entrant_id]:
            found[entrant_id].append(Entry(number, *values))
    return found


def heads(connection: Connection, cohort_id: int) -> dict[str, tuple[int, int]]:
    """The id of every entrant and the number of its newest entry, in line-up order."""
    newest = select(func.max(ENTRY.c.number)).where(ENTRY.c.entrant_id == ENTRANT.c.id)
    query = select(ENTRANT.c.name, ENTRANT.c.id, newest.scalar_subquery())
    rows = connection.execute(query.where(ENTRANT.c.cohort_id == cohort_id).order_by(ENTRANT.c.position))
    return {name: (id, number) for name, id, number in rows if number is not None}


def newest_time(connection: Connection, cohort_id: int | None = None) -> datetime | None:
    """The time of the newest snapshot, of all or of one cohort."""
    newest = select(SNAPSHOT.c.at).order_by(SNAPSHOT.c.at.desc()).limit(1)
    found: datetime | None = connection.scalar(
        newest if cohort_id is None else newest.where(SNAPSHOT.c.cohort_id == cohort_id)
    )
    return found


def may_resolve(connection: Connection, since: datetime) -> list[MarketId]:
    """Markets that any snapshot held and that have not ended, or were said to only since an instant."""
    ended = select(RESOLUTION.c.market_id).where(RESOLUTION.c.known_at < since)
    rows = connection.scalars(
        select(ITEM.c.market_id).distinct().where(ITEM.c.market_id.not_in(ended)).order_by(ITEM.c.market_id)
    )
    return [MarketId(row) for row in rows]


def resolutions(connection: Connection, ids: Collection[MarketId], at: datetime) -> list[Resolution]:
    """All versions known by then of how these markets ended."""
    rows = connection.execute(
        select(*(RESOLUTION.c[name] for name in Resolution.__dataclass_fields__))
        .where(RESOLUTION.c.market_id.in_(ids), RESOLUTION.c.known_at <= at)
        .order_by(RESOLUTION.c.market_id, RESOLUTION.c.version)
    )
    return [Resolution(*row) for row in rows]


def learnt(
    connection: Connection, ids: Collection[MarketId], at: datetime
) -> list[tuple[Resolution, datetime]]:
    """All versions known by then, each with the decision time at which it was learnt."""
    names = (*Resolution.__dataclass_fields__, "learnt_at")
    rows = connection.execute(
        select(*(RESOLUTION.c[name] for name in names))
        .where(RESOLUTION.c.market_id.in_(ids), RESOLUTION.c.known_at <= at)
        .order_by(RESOLUTION.c.market_id, RESOLUTION.c.version)
    )
    return [(Resolution(*told), learnt_at) for *told, learnt_at in rows]


def verdicts(connection: Connection, round_id: int) -> dict[int, str]:
    """How each entrant's turn of a round ended, by entrant id."""
    rows = connection.execute(select(TURN.c.entrant_id, TURN.c.verdict).where(TURN.c.round_id == round_id))
    return dict(rows.all())


def stated(connection: Connection, round_id: int) -> dict[str, tuple[Forecast, ...]]:
    """The final forecasts of every entrant whose turn is in."""
    joined = TURN.join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    joined = joined.join(FORECAST, FORECAST.c.turn_id == TURN.c.id)
    rows = connection.execute(
        select(ENTRANT.c.name, *(FORECAST.c[name] for name in Forecast.__dataclass_fields__))
        .select_from(joined)
        .where(TURN.c.round_id == round_id, FORECAST.c.stage == "final")
        .order_by(ENTRANT.c.position, FORECAST.c.market_id)
    )
    found: dict[str, list[Forecast]] = defaultdict(list)
    for name, *values in rows:
        found[name].append(Forecast(*values))
    return {name: tuple(forecasts) for name, forecasts in found.items()}


def calls(connection: Connection, round_id: int, entrant_ids: Sequence[int]) -> dict[int, list[Call]]:
    """Every attempt that entrants of a round have made, in order, by entrant id."""
    rows = connection.execute(
        select(CALL)
        .where(CALL.c.round_id == round_id, CALL.c.entrant_id.in_(entrant_ids))
        .order_by(CALL.c.entrant_id, CALL.c.stage, CALL.c.sample, CALL.c.attempt)
    )
    found: dict[int, list[Call]] = defaultdict(list)
    for row in rows:
        found[row.entrant_id].append(_call(row))
    return found


def _call(row: Row[Any]) -> Call:
    messages = tuple(Message(**message) for message in json.loads(row.messages))
    error = CallError(row.error_code, row.error_message, bool(row.error_retry)) if row.error_code else None
    return Call(
        Prompt(messages, row.seed, row.stage, row.sample),
        row.reply,
        row.finish,
        row.model,
        row.fingerprint,
        row.rung,
        row.tokens_in,
        row.tokens_out,
        row.cost,
        row.latency_ms,
        error,
        row.worst,
    )


def has_marks(connection: Connection, snapshot_id: int) -> bool:
    """Whether holdings were already valued at a snapshot."""
    return connection.scalar(select(MARK.c.at).where(MARK.c.snapshot_id == snapshot_id).limit(1)) is not None


def spent(
    connection: Connection, round_id: int, entrant_id: int, since: datetime, scopes: Collection[Scope]
) -> dict[Scope, int]:
    """What calls cost, at their worst where it is not known: in a round, an agent's, since then, of all."""
    cost = func.coalesce(CALL.c.cost, CALL.c.worst, 0)
    within: dict[Scope, ColumnElement[bool]] = {
        "round": CALL.c.round_id == round_id,
        "agent": CALL.c.entrant_id == entrant_id,
        "day": CALL.c.made_at >= since,
        "arena": true(),
    }
    sums = [
        select(func.coalesce(func.sum(cost), 0)).where(within[scope]).scalar_subquery() for scope in scopes
    ]
    found = connection.execute(select(*sums)).one()
    return {scope: int(total) for scope, total in zip(scopes, found, strict=True)}


def counts(connection: Connection) -> dict[str, int]:
    """How much was played."""
    played = select(ITEM.c.version_id)
    events = select(func.count(VERSION.c.event_id.distinct())).where(VERSION.c.id.in_(played))
    settled = select(func.count()).where(ENTRY.c.kind.in_(("settle", "refund")))
    tables = {"cohorts": COHORT, "rounds": ROUND, "turns": TURN, "entries": ENTRY, "calls": CALL}
    found = {
        name: connection.execute(select(func.count()).select_from(t)).scalar_one()
        for name, t in tables.items()
    }
    found["decision_times"] = connection.execute(select(func.count(ROUND.c.at.distinct()))).scalar_one()
    markets = select(func.count(ITEM.c.market_id.distinct()))
    found["markets"] = connection.execute(markets).scalar_one()
    found["events"] = connection.execute(events).scalar_one()
    found["fills"] = connection.scalar(select(func.count()).where(ENTRY.c.kind.in_(("buy", "sell")))) or 0
    found["settlements"] = connection.execute(settled).scalar_one()
    return found
