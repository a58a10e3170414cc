"""Recorded seasons to be replayed: what each entrant ordered and believed, step by step."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from agents.model import USABLE_STATUSES
from arena.record.queries.accounts import read_ledgers
from arena.record.queries.cohorts import (
    StoredCohort,
    read_learnt_resolutions,
    read_newest_time,
    read_snapshot,
)
from arena.record.schema.codec import orders_of
from arena.record.schema.cohort import EntrantRow, RoundRow, SnapshotRow
from arena.record.schema.database import Connection
from arena.record.schema.ledger import MarkRow
from arena.record.schema.turn import ForecastRow, RejectionRow, SecondQuoteRow, TurnRow
from arena.record.schema.typed import clause, col, columns_of, joined, select
from arena.record.schema.world import QuoteRow
from arena.record.write.listings import QUOTE_FIELDS, quote_of
from arena.rounds.listings import ids_of
from markets.model import MarketId, Quote, Resolution, Snapshot
from portfolio.model import Bet, Entry, Sale
from portfolio.whatif import WhatIfStep

PLACED_TURNS = joined(TurnRow, RoundRow, EntrantRow)


@dataclass(slots=True)
class ReplayDecision:
    """A turn's orders and final probabilities, less the orders for markets that had closed meanwhile.

    `late` are those markets, and `late_orders` counts the orders for them. `again_at` and `second` are as in
    `WhatIfStep`.
    """

    number: int
    bets: tuple[Bet, ...] = ()
    sales: tuple[Sale, ...] = ()
    beliefs: dict[MarketId, int] = field(default_factory=dict)
    late: set[MarketId] = field(default_factory=set)
    late_orders: int = 0
    again_at: datetime | None = None
    second: dict[MarketId, Quote | None] = field(default_factory=dict)


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
    """Yield every entrant of a cohort, in line-up order; `too_late` is the code that late orders had."""
    ledgers = read_ledgers(connection, stored.id)
    bare_steps = _steps_without_decisions(connection, stored, ledgers.values())
    decisions_by_agent = _read_decisions(connection, stored.id, too_late)

    for agent, entries in ledgers.items():
        decisions = decisions_by_agent.get(agent, {})

        # What belongs to a time that is not marked yet is not over: the leaderboard doesn't count it either.
        over_at = bare_steps[-1].snapshot.at if bare_steps else entries[0].at
        over_entries = tuple(entry for entry in entries if entry.at <= over_at)

        late_orders = sum(decision.late_orders for decision in decisions.values())
        stated = any(decision.beliefs for decision in decisions.values())
        steps = tuple(_entrant_steps(bare_steps, decisions, over_entries))
        yield EntrantSeason(agent, stored, over_entries, steps, late_orders, stated)


def _read_decisions(
    connection: Connection, cohort_id: int, too_late: str
) -> dict[str, dict[datetime, ReplayDecision]]:
    """Return the decision of every turn of a cohort, by entrant and time."""
    turns = (
        select(TurnRow.id, EntrantRow.name, RoundRow.number, RoundRow.at, TurnRow.orders)
        .select_from(PLACED_TURNS)
        .where(RoundRow.cohort_id == cohort_id)
    )
    rows = connection.execute(turns).all()
    decisions = {row.id: ReplayDecision(row.number) for row in rows}
    _add_late_markets_to(decisions, connection, cohort_id, too_late)
    _add_beliefs_to(decisions, connection, cohort_id)
    _add_second_quotes_to(decisions, connection, cohort_id)

    decisions_by_agent: dict[str, dict[datetime, ReplayDecision]] = defaultdict(dict)
    for row in rows:
        decision = decisions[row.id]
        bets, sales = orders_of(row.orders)
        decision.bets = tuple(bet for bet in bets if bet.market_id not in decision.late)
        decision.sales = tuple(sale for sale in sales if sale.market_id not in decision.late)

        orders_in_time = len(decision.bets) + len(decision.sales)
        decision.late_orders = len(bets) + len(sales) - orders_in_time
        decisions_by_agent[row.name][row.at] = decision
    return decisions_by_agent


def _add_late_markets_to(
    decisions: Mapping[int, ReplayDecision], connection: Connection, cohort_id: int, too_late: str
) -> None:
    """Add the markets that had closed when a decision came."""
    query = (
        select(RejectionRow.turn_id, RejectionRow.market_id)
        .select_from(PLACED_TURNS.join(RejectionRow, clause(RejectionRow.turn_id == TurnRow.id)))
        .where(RoundRow.cohort_id == cohort_id, RejectionRow.code == too_late)
    )
    for turn_id, market in connection.execute(query):
        decisions[turn_id].late.add(MarketId(market))


def _add_beliefs_to(decisions: Mapping[int, ReplayDecision], connection: Connection, cohort_id: int) -> None:
    """Add the final probabilities of the turns that were played."""
    query = (
        select(ForecastRow.turn_id, ForecastRow.market_id, ForecastRow.probability)
        .select_from(PLACED_TURNS.join(ForecastRow, clause(ForecastRow.turn_id == TurnRow.id)))
        .where(RoundRow.cohort_id == cohort_id, ForecastRow.stage == "final", ForecastRow.distribution == "")
        .where(col(TurnRow.status).in_(USABLE_STATUSES))
        .order_by(ForecastRow.turn_id, ForecastRow.market_id)
    )
    for turn_id, market, probability in connection.execute(query):
        decisions[turn_id].beliefs[MarketId(market)] = probability


def _add_second_quotes_to(
    decisions: Mapping[int, ReplayDecision], connection: Connection, cohort_id: int
) -> None:
    """Add the prices that were read after an answer."""
    columns = columns_of(SecondQuoteRow, ("turn_id", "market_id", "taken_at", "quoted_at"))
    query = (
        select(*columns, *columns_of(QuoteRow, QUOTE_FIELDS))
        .select_from(PLACED_TURNS.join(SecondQuoteRow, clause(SecondQuoteRow.turn_id == TurnRow.id)))
        .outerjoin(QuoteRow, SecondQuoteRow.quote_id == QuoteRow.id)
        .where(RoundRow.cohort_id == cohort_id)
    )
    for row in connection.execute(query):
        decision = decisions[row.turn_id]
        decision.again_at = row.taken_at
        quote = quote_of(row, row.quoted_at) if row.quoted_at else None
        decision.second[MarketId(row.market_id)] = quote


def _steps_without_decisions(
    connection: Connection, stored: StoredCohort, ledgers: Iterable[Sequence[Entry]]
) -> list[WhatIfStep]:
    """Return the steps without decisions: each marked snapshot, and the resolutions known then."""
    newest = read_newest_time(connection)
    if newest is None:
        return []

    marked = select(MarkRow.snapshot_id).where(MarkRow.snapshot_id == SnapshotRow.id).exists()
    times = select(SnapshotRow.at).where(SnapshotRow.cohort_id == stored.id, marked).order_by(SnapshotRow.at)
    snapshots = []
    markets = set()
    for at in connection.scalars(times).all():
        taken = read_snapshot(connection, stored.id, at)
        if taken is not None:
            _, snapshot = taken
            snapshots.append(snapshot)
            markets.update(ids_of(snapshot))

    learnt = read_learnt_resolutions(connection, sorted(markets), newest)
    resolutions = _resolutions_as_learnt(learnt, ledgers)
    steps = []
    for snapshot in snapshots:
        known = [resolution for resolution in resolutions if resolution.known_at <= snapshot.at]
        steps.append(WhatIfStep(snapshot, resolutions=known))

    if stored.ended_at is not None and steps and steps[-1].snapshot.at < newest:
        # Under other rules an entrant may still hold a market that ended later: it ends as it did.
        ended_before = {resolution.market_id for resolution in steps[-1].resolutions}
        later = [resolution for resolution in resolutions if resolution.market_id not in ended_before]
        steps.append(WhatIfStep(Snapshot(newest, ()), resolutions=later))
    return steps


def _resolutions_as_learnt(
    resolutions: Iterable[tuple[Resolution, datetime]], ledgers: Iterable[Sequence[Entry]]
) -> list[Resolution]:
    """Return the resolutions of markets, as of when the cohort knew them.

    A venue may tell late what it has known for long: that was when it was asked, or, where another cohort
    had asked before, when the first entry was made of it.
    """
    first_entry_at = dict[tuple[str, str], datetime]()
    for entries in ledgers:
        for entry in entries:
            key = (entry.market_id, entry.ref)
            first_entry_at[key] = min(first_entry_at.get(key, entry.at), entry.at)

    as_learnt = []
    for resolution, learnt_at in resolutions:
        key = (resolution.market_id, f"resolution:{resolution.version}")
        asked_at = max(resolution.known_at, learnt_at)
        known_at = first_entry_at.get(key, asked_at)
        as_learnt.append(replace(resolution, known_at=known_at))
    return as_learnt


def _entrant_steps(
    bare_steps: Sequence[WhatIfStep], decisions: Mapping[datetime, ReplayDecision], entries: Sequence[Entry]
) -> Iterator[WhatIfStep]:
    """Yield the steps with one entrant's decisions, and its account before each."""
    held = {}
    entry_number = 0

    for step in bare_steps:
        at = step.snapshot.at
        while entry_number < len(entries) and _is_before(entries[entry_number], at):
            entry = entries[entry_number]
            held[entry.market_id, entry.side] = entry.held
            entry_number += 1

        decision = decisions.get(at)
        if decision is None:
            yield step
        else:
            yield _with_decision(step, decision, held)


def _is_before(entry: Entry, at: datetime) -> bool:
    """Tell whether an entry was made before the decision of that time: its fills come after it."""
    return entry.at < at or (entry.at == at and not entry.ref.startswith("fill:"))


def _with_decision(
    step: WhatIfStep, decision: ReplayDecision, held: Mapping[tuple[str, str], int]
) -> WhatIfStep:
    """Return a step with a decision, without probabilities of markets that had closed by then."""
    # Where one market had closed by the time of the decision, so had all that close no later.
    closes = {listing.market.id: listing.market.closes_at for listing in step.snapshot}
    late_closes = [closes[market] for market in decision.late & closes.keys()]
    decided_at = max(late_closes, default=step.snapshot.at)

    still_open = {market for market, closes_at in closes.items() if closes_at > decided_at}
    beliefs = {market: belief for market, belief in decision.beliefs.items() if market in still_open}
    held_before = {}
    for sale in decision.sales:
        held_before[sale.market_id, sale.side] = held.get((sale.market_id, sale.side), 0)
    return replace(
        step,
        bets=decision.bets,
        sales=decision.sales,
        beliefs=beliefs,
        held=held_before,
        label=f"fill:{decision.number}",
        again_at=decision.again_at,
        second=decision.second,
    )
