"""Decisions read back whole: by round, to be played again, and with the snapshot they were taken on."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import BindParameter, Connection, bindparam, func
from sqlmodel import and_

from agents.model import USABLE_STATUSES, Decision, Forecast
from arena.record.model.cohort import Turn
from arena.record.queries import cohorts
from arena.record.queries.accounts import read_ledgers
from arena.record.queries.cohorts import StoredCohort
from arena.record.schema.codec import orders_of
from arena.record.schema.cohort import EntrantRow, RoundRow, SnapshotRow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.statements import attributes_of
from arena.record.schema.turn import FillLevelRow, FillRow, ForecastRow, RejectionRow, SecondQuoteRow, TurnRow
from arena.record.schema.typed import IDS, clause, col, columns_of, joined, read_grouped_nouns, select
from arena.record.schema.world import QuoteRow
from arena.record.write.listings import QUOTE_FIELDS, quote_of
from arena.record.write.turns import FILL_FIELDS
from markets.model import MarketId, Quote, Resolution, Snapshot
from portfolio.model import Bet, Entry, Fill, FillLevel, Rejection, Sale
from portfolio.whatif import WhatIfStep

ROUND_ID: BindParameter[int] = bindparam("round_id")
STORED_TURNS = (
    select(TurnRow.__table__, EntrantRow.name)
    .join(EntrantRow, TurnRow.entrant_id == EntrantRow.id)
    .where(TurnRow.round_id == ROUND_ID)
    .order_by(EntrantRow.position)
)
FORECASTS = (
    select(ForecastRow.turn_id, *cohorts.FORECAST_COLUMNS)
    .where(col(ForecastRow.turn_id).in_(IDS))
    .order_by(ForecastRow.stage, ForecastRow.market_id)
)
REJECTIONS = (
    select(RejectionRow.turn_id, *columns_of(RejectionRow, Rejection.__dataclass_fields__))
    .where(col(RejectionRow.turn_id).in_(IDS))
    .order_by(RejectionRow.turn_id, RejectionRow.position)
)
FILLS = (
    select(FillRow.turn_id, FillRow.id, *columns_of(FillRow, FILL_FIELDS))
    .where(col(FillRow.turn_id).in_(IDS))
    .order_by(FillRow.turn_id, FillRow.position)
)
LEVELS = (
    select(FillLevelRow.fill_id, *columns_of(FillLevelRow, FillLevel.__dataclass_fields__))
    .select_from(joined(FillLevelRow, FillRow))
    .where(col(FillRow.turn_id).in_(IDS))
    .order_by(FillLevelRow.fill_id, FillLevelRow.position)
)
ENTRIES = (
    select(TurnRow.id, *columns_of(EntryRow, Entry.__dataclass_fields__))
    .join_from(TurnRow.__table__, RoundRow.__table__, TurnRow.round_id == RoundRow.id)
    .join(EntryRow, (EntryRow.entrant_id == TurnRow.entrant_id) & (EntryRow.at == RoundRow.at))
    .where(col(TurnRow.id).in_(IDS), func.substr(EntryRow.ref, 1, 5) == "fill:")
    .order_by(EntryRow.number)
)


def read_fills(connection: Connection, turn_ids: Sequence[int]) -> dict[int, list[Fill]]:
    """What turns bought and sold, level by level, by turn."""
    levels = read_grouped_nouns(FillLevel, connection.execute(LEVELS, {"ids": turn_ids}))
    fills: dict[int, list[Fill]] = defaultdict(list)
    for row in connection.execute(FILLS, {"ids": turn_ids}):
        fills[row.turn_id].append(Fill(**attributes_of(row, *FILL_FIELDS), levels=tuple(levels[row.id])))
    return fills


def read_rejections(connection: Connection, turn_ids: Sequence[int]) -> dict[int, list[Rejection]]:
    """The orders of turns that were rejected, by turn."""
    return read_grouped_nouns(Rejection, connection.execute(REJECTIONS, {"ids": turn_ids}))


def read_turns(connection: Connection, round_id: int, entrant_ids: Collection[int]) -> list[Turn]:
    """The turns of a round that are in, of these entrants, in line-up order; without second looks."""
    stored = connection.execute(STORED_TURNS, {"round_id": round_id}).all()
    wanted = {"ids": [row.id for row in stored if row.entrant_id in entrant_ids]}
    forecasts = read_grouped_nouns(Forecast, connection.execute(FORECASTS, wanted))
    entries = read_grouped_nouns(Entry, connection.execute(ENTRIES, wanted))
    fills, rejections = read_fills(connection, wanted["ids"]), read_rejections(connection, wanted["ids"])
    turns = []
    for row in stored:
        if row.entrant_id not in entrant_ids:
            continue
        bets, sales = orders_of(row.orders)
        decision = Decision(
            tuple(forecasts[row.id]),
            bets,
            sales,
            status=row.status,
            note=row.note,
            repaired=tuple(json.loads(row.repaired)),
        )
        turns.append(
            Turn(
                row.name,
                row.cash,
                decision,
                fills=tuple(fills[row.id]),
                rejections=tuple(rejections[row.id]),
                entries=tuple(entries[row.id]),
            )
        )
    return turns


PLACED_TURNS = joined(TurnRow, RoundRow, EntrantRow)


@dataclass(frozen=True, slots=True)
class ReplayDecision:
    """A turn's orders and final probabilities, less the orders for markets that had closed meanwhile.

    `late` are those markets, and `late_orders` counts the orders for them. `again_at` and `second` are as in
    `WhatIfStep`.
    """

    number: int
    bets: tuple[Bet, ...]
    sales: tuple[Sale, ...]
    beliefs: Mapping[MarketId, int]
    late: frozenset[MarketId]
    late_orders: int
    again_at: datetime | None
    second: Mapping[MarketId, Quote | None]


SECOND_QUOTES = (
    select(
        SecondQuoteRow.turn_id, SecondQuoteRow.market_id, SecondQuoteRow.taken_at, SecondQuoteRow.quoted_at
    )
    .add_columns(*columns_of(QuoteRow, QUOTE_FIELDS))
    .select_from(PLACED_TURNS.join(SecondQuoteRow, clause(SecondQuoteRow.turn_id == TurnRow.id)))
    .outerjoin(QuoteRow, SecondQuoteRow.quote_id == QuoteRow.id)
    .where(RoundRow.cohort_id == bindparam("cohort_id"))
)


def read_replay_decisions(
    connection: Connection, cohort_id: int, too_late: str
) -> dict[str, dict[datetime, ReplayDecision]]:
    """Every turn of a cohort, by entrant and time; `too_late` is the code that late orders were given."""
    shut, beliefs = _closed_markets(connection, cohort_id, too_late), _final_forecasts(connection, cohort_id)
    again_at, second = dict[int, datetime](), defaultdict[int, dict[MarketId, Quote | None]](dict)
    for row in connection.execute(SECOND_QUOTES, {"cohort_id": cohort_id}):
        again_at[row.turn_id] = row.taken_at
        second[row.turn_id][row.market_id] = quote_of(row, row.quoted_at) if row.quoted_at else None
    keys = (TurnRow.id, EntrantRow.name, RoundRow.number, RoundRow.at, TurnRow.orders)
    rows = connection.execute(select(*keys).select_from(PLACED_TURNS).where(RoundRow.cohort_id == cohort_id))
    found: dict[str, dict[datetime, ReplayDecision]] = defaultdict(dict)
    for row in rows:
        bets, sales = orders_of(row.orders)
        late = frozenset(shut[row.id])
        in_time = tuple(bet for bet in bets if bet.market_id not in late)
        kept = tuple(sale for sale in sales if sale.market_id not in late)
        missed = len(bets) + len(sales) - len(in_time) - len(kept)
        found[row.name][row.at] = ReplayDecision(
            row.number, in_time, kept, beliefs[row.id], late, missed, again_at.get(row.id), second[row.id]
        )
    return found


def _closed_markets(connection: Connection, cohort_id: int, too_late: str) -> dict[int, set[MarketId]]:
    """The markets, by turn, that had closed when the decision came."""
    rows = connection.execute(
        select(RejectionRow.turn_id, RejectionRow.market_id)
        .select_from(PLACED_TURNS.join(RejectionRow, clause(RejectionRow.turn_id == TurnRow.id)))
        .where(RoundRow.cohort_id == cohort_id, RejectionRow.code == too_late)
    )
    closed: dict[int, set[MarketId]] = defaultdict(set)
    for row in rows:
        closed[row.turn_id].add(MarketId(row.market_id))
    return closed


def _final_forecasts(connection: Connection, cohort_id: int) -> dict[int, dict[MarketId, int]]:
    """The final probabilities of the turns that were played."""
    said = and_(
        ForecastRow.turn_id == TurnRow.id,
        ForecastRow.stage == "final",
        col(TurnRow.status).in_(USABLE_STATUSES),
    )
    rows = connection.execute(
        select(ForecastRow.turn_id, ForecastRow.market_id, ForecastRow.probability)
        .select_from(PLACED_TURNS.join(ForecastRow, clause(said)))
        .where(RoundRow.cohort_id == cohort_id)
        .order_by(ForecastRow.turn_id, ForecastRow.market_id)
    )
    forecasts: dict[int, dict[MarketId, int]] = defaultdict(dict)
    for row in rows:
        forecasts[row.turn_id][MarketId(row.market_id)] = row.probability
    return forecasts


@dataclass(frozen=True, slots=True)
class EntrantSeason:
    """One entrant's season: its ledger, and the steps that led to it.

    `late_orders` is how many orders were refused because their market had closed, and `stated` whether the
    entrant ever stated a probability.
    """

    agent: str
    stored: StoredCohort
    entries: tuple[Entry, ...]
    steps: tuple[WhatIfStep, ...]
    late_orders: int
    stated: bool


def read_entrant_seasons(
    connection: Connection, stored: StoredCohort, too_late: str
) -> Iterator[EntrantSeason]:
    """Every entrant of a cohort, in line-up order; `too_late` is the code that late orders were given."""
    ledgers = read_ledgers(connection, stored.id)
    scenes = _steps_without_decisions(connection, stored, ledgers.values())
    decided = read_replay_decisions(connection, stored.id, too_late)
    for agent, entries in ledgers.items():
        mine = decided.get(agent, {})
        # What belongs to a time that is not marked yet is not over: the leaderboard doesn't count it either.
        over = scenes[-1].snapshot.at if scenes else entries[0].at
        done = tuple(entry for entry in entries if entry.at <= over)
        late_orders = sum(turn.late_orders for turn in mine.values())
        stated = any(turn.beliefs for turn in mine.values())
        steps = tuple(_entrant_steps(scenes, mine, done))
        yield EntrantSeason(agent, stored, done, steps, late_orders, stated)


def _steps_without_decisions(
    connection: Connection, stored: StoredCohort, ledgers: Iterable[Sequence[Entry]]
) -> list[WhatIfStep]:
    """The steps without anybody's decisions: each snapshot that was marked, and the ends known at it."""
    marked = select(MarkRow.snapshot_id).where(MarkRow.snapshot_id == SnapshotRow.id).exists()
    mine = select(SnapshotRow.at).where(SnapshotRow.cohort_id == stored.id, marked).order_by(SnapshotRow.at)
    steps = [cohorts.read_snapshot(connection, stored.id, at) for at in connection.scalars(mine).all()]
    snapshots = [pair[1] for pair in steps if pair is not None]
    markets = sorted({listing.market.id for snapshot in snapshots for listing in snapshot})
    newest = cohorts.read_newest_time(connection)
    if newest is None:
        return []
    known = _resolutions_as_learnt(cohorts.read_learnt_resolutions(connection, markets, newest), ledgers)
    scenes = [WhatIfStep(x, resolutions=[r for r in known if r.known_at <= x.at]) for x in snapshots]
    if stored.ended_at is not None and scenes and scenes[-1].snapshot.at < newest:
        # what only another history still holds ends as it did later
        before = {resolution.market_id for resolution in scenes[-1].resolutions}
        later = [resolution for resolution in known if resolution.market_id not in before]
        scenes.append(WhatIfStep(Snapshot(newest, ()), resolutions=later))
    return scenes


def _resolutions_as_learnt(
    resolutions: Iterable[tuple[Resolution, datetime]], ledgers: Iterable[Sequence[Entry]]
) -> list[Resolution]:
    """How markets ended, as of when the cohort knew.

    A venue may tell late what it has known for long: that was when it was asked, or, where another cohort
    had asked before, when the first entry was made of it.
    """
    first = dict[tuple[str, str], datetime]()
    for entries in ledgers:
        for entry in entries:
            key = entry.market_id, entry.ref
            first[key] = min(first.get(key, entry.at), entry.at)
    return [
        replace(r, known_at=first.get((r.market_id, f"resolution:{r.version}"), max(r.known_at, learnt_at)))
        for r, learnt_at in resolutions
    ]


def _entrant_steps(
    scenes: Sequence[WhatIfStep], decided: Mapping[datetime, ReplayDecision], entries: Sequence[Entry]
) -> Iterator[WhatIfStep]:
    """The scenes with one entrant's decisions, and what it held before each of them."""
    held, place = dict[tuple[str, str], int](), 0
    for scene in scenes:
        at = scene.snapshot.at
        while place < len(entries) and _is_before(entries[place], at):
            held[entries[place].market_id, entries[place].side] = entries[place].held
            place += 1
        turn = decided.get(at)
        yield scene if turn is None else _with_decision(scene, turn, held)


def _is_before(entry: Entry, at: datetime) -> bool:
    """Whether an entry was made before the decision of that time."""
    return entry.at < at or (entry.at == at and not entry.ref.startswith("fill:"))


def _with_decision(
    scene: WhatIfStep, turn: ReplayDecision, held: Mapping[tuple[str, str], int]
) -> WhatIfStep:
    # Where one market had closed by the time of the decision, so had all that close no later.
    closes = {listing.market.id: listing.market.closes_at for listing in scene.snapshot}
    by = max((closes[market] for market in turn.late & closes.keys()), default=scene.snapshot.at)
    return replace(
        scene,
        bets=turn.bets,
        sales=turn.sales,
        beliefs={market: p for market, p in turn.beliefs.items() if market in closes and closes[market] > by},
        held={(x.market_id, x.side): held.get((x.market_id, x.side), 0) for x in turn.sales},
        label=f"fill:{turn.number}",
        again_at=turn.again_at,
        second=turn.second,
    )
