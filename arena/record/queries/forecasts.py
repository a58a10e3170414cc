"""Forecasts and bets as columns for the scores, in a few queries whatever the size.

Every forecast of every market that a turn was shown, every accepted bet with the two readings of its stake,
and forecasts in pairs, from before and after the prices were shown. No row is made into an object.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection
from sqlalchemy.orm import aliased, join
from sqlmodel import and_

from agents.model import DECIDED_STATUSES, USABLE_STATUSES
from arena.record.model.columns import (
    NO_SCORE,
    OPEN,
    UNKNOWN,
    BetColumns,
    Flags,
    Floats,
    ForecastColumns,
    Ints,
    anchored_belief,
    confidence,
    factorize,
    implied_belief,
)
from arena.record.queries.cohorts import IS_TRADING, item_of
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.newest import PLAYED_SETTINGS, newest_rows
from arena.record.schema.turn import FillLevelRow, FillRow, ForecastRow, SecondQuoteRow, TurnRow
from arena.record.schema.typed import AnySelect, clause, col, joined, select
from arena.record.schema.world import MarketRow, MarketVersionRow, QuoteRow, ResolutionRow
from markets.hashes import canonical
from markets.millionths import ONE

PLACED_TURNS = joined(TurnRow, EntrantRow, RoundRow, CohortRow)
LINE_UP_ORDER = (CohortRow.number, RoundRow.number, EntrantRow.position)


OUTCOMES: dict[int | None, int] = {ONE: 1, 0: 0}
"""By what a share of YES paid; whatever else it paid has no score."""


@dataclass(frozen=True, slots=True)
class MarketEnds:
    """How each of some markets ended by the newest version of its resolution: as `ForecastColumns` has it.

    `known` is since when the first version could be known, in seconds since 1970.
    """

    outcome: Ints
    payout: Floats
    known: Floats


def read_ends(connection: Connection, markets: tuple[str, ...]) -> MarketEnds:
    """The ends of these markets."""
    query = select(ResolutionRow.market_id, ResolutionRow.payout, ResolutionRow.known_at)
    paid: dict[str, int | None] = {}
    first: dict[str, float] = {}
    for market, payout, known_at in connection.execute(query.order_by(ResolutionRow.version)):
        paid[market] = payout
        first.setdefault(market, known_at.timestamp())
    payouts = [paid.get(market) for market in markets]
    return MarketEnds(
        int_column(
            [OUTCOMES.get(p, NO_SCORE) if m in paid else OPEN for m, p in zip(markets, payouts, strict=True)]
        ),
        np.array([np.nan if p is None else p / ONE for p in payouts], dtype=np.float64),
        np.array([first.get(market, np.inf) for market in markets], dtype=np.float64),
    )


def transpose(rows: Any, width: int) -> list[Any]:
    """Rows turned on their side; empty columns when there is none."""
    return list(zip(*rows, strict=True)) if rows else [()] * width


def int_column(values: Any) -> Ints:
    """A column of whole numbers."""
    return np.array(values, dtype=np.int64)


WAS_SHOWN = col(TurnRow.status).in_((*DECIDED_STATUSES, "failed", "late"))
"""Who is out, or waits for a key, was shown nothing."""


Names = dict[str, tuple[str, ...]]
Columns = dict[str, Any]
"""By the names of fields of `ForecastColumns`, beside a few by which rows are joined."""


def read_forecast_columns(connection: Connection, cohort: int | None = None) -> ForecastColumns:
    """What every turn that was played forecast for every market it was shown, beside the price then.

    Where a turn has second quotes, the price is theirs. A skip is taken as agreement with the mid, or as
    even odds from an entrant that sees no prices. A turn that is malformed, declined, failed or late has
    said nothing, whatever was read from it.
    """
    (names, shown), (agents, turns) = _shown_columns(connection, cohort), _turn_columns(connection, cohort)
    turn, item = _turn_market_pairs(turns.pop("snapshot"), shown.pop("snapshot"))
    ids, blind = turns.pop("id"), turns.pop("blind")
    rows = {name: column[turn] for name, column in turns.items()}
    rows |= {name: column[item] for name, column in shown.items()}
    pairs = TurnMarketPairs(ids, turn, names["markets"], rows["market"])
    rows["mid"], rows["quoted"] = _second_prices(connection, cohort, pairs, rows["mid"], rows["quoted"])
    ends = read_ends(connection, pairs.markets)
    chance = _stated_probabilities(connection, cohort, pairs)
    skipped = np.where(blind[turn], ONE // 2, rows["mid"])
    return ForecastColumns(
        agents=agents,
        **(rows | names),
        forecast=np.where(chance >= 0, chance, skipped),
        stated=chance >= 0,
        outcome=ends.outcome[pairs.market],
        payout=ends.payout[pairs.market],
        known=np.maximum(ends.known[pairs.market], rows["closes"]),
    )


def read_newest_mids(connection: Connection, markets: Sequence[str]) -> Floats:
    """The newest mid of each of these markets, from 0 to 1; NaN where its newest quote has none."""
    newest = (
        select(QuoteRow.mid)
        .where(QuoteRow.market_id == MarketRow.id)
        .order_by(col(QuoteRow.at).desc())
        .limit(1)
    )
    rows = connection.execute(select(MarketRow.id, newest.scalar_subquery()))
    mids = {name: mid / ONE for name, mid in rows if mid is not None}
    return np.array([mids.get(name, np.nan) for name in markets], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class LineUpEntry:
    """An entrant of a cohort, its kind and settings as one text: twins have the same.

    Whose agent it is is no part of that text, and nothing where the config doesn't say.
    """

    cohort: int
    name: str
    settings: str
    owner: str = ""


def read_line_ups(connection: Connection, cohort: int | None = None) -> list[LineUpEntry]:
    """Every entrant, cohort by cohort in line-up order."""
    query = (
        select(CohortRow.number, EntrantRow.name, EntrantRow.kind, PLAYED_SETTINGS)
        .join(CohortRow, EntrantRow.cohort_id == CohortRow.id)
        .order_by(CohortRow.number, EntrantRow.position)
    )
    query = query.where(IS_TRADING if cohort is None else CohortRow.number == cohort)
    entries = []
    for number, name, kind, settings in connection.execute(query):
        owner, without_owner = _split_owner(str(settings))
        entries.append(LineUpEntry(number, name, f"{kind} {without_owner}", owner))
    return entries


def _split_owner(settings: str) -> tuple[str, str]:
    """Return the owner that frozen settings name, if they do, and their text without it.

    >>> _split_owner('{"model":"a/b","owner":"ann"}'), _split_owner('{"p":0.5}')
    (('ann', '{"model":"a/b"}'), ('', '{"p":0.5}'))
    """
    if '"owner"' not in settings:
        return "", settings
    values = json.loads(settings)
    return str(values.pop("owner", "")), canonical(values)


def _turn_columns(connection: Connection, cohort: int | None) -> tuple[tuple[str, ...], Columns]:
    """The agents, and one row for each turn; `blind` where the agent saw no prices."""
    columns_of = (EntrantRow.name, EntrantRow.id, CohortRow.number, RoundRow.number, RoundRow.at)
    query = select(TurnRow.id, *columns_of, RoundRow.snapshot_id).select_from(PLACED_TURNS)
    query = query.where(WAS_SHOWN, IS_TRADING if cohort is None else CohortRow.number == cohort)
    rows = connection.execute(query.order_by(*LINE_UP_ORDER)).all()
    ids, names, entrants, cohorts, rounds, times, snapshots = transpose(rows, 7)
    agents, agent = factorize(names)
    blind, released = _entrant_settings(connection)
    return agents, {
        "id": int_column(ids),
        "agent": agent,
        "cohort": int_column(cohorts),
        "round": int_column(rounds),
        "at": _seconds_column(times),
        "snapshot": int_column(snapshots),
        "blind": np.array([key in blind for key in entrants], dtype=np.bool_),
        "released": int_column([released.get(key, UNKNOWN) for key in entrants]),
    }


def _shown_columns(connection: Connection, cohort: int | None) -> tuple[Names, Columns]:
    """One row for each market in each snapshot, with places in the names."""
    of_item = clause(RoundRow.snapshot_id == SnapshotItemRow.snapshot_id)
    shown = joined(SnapshotItemRow, MarketVersionRow).join(RoundRow, of_item).join(CohortRow)
    keys = (
        SnapshotItemRow.snapshot_id,
        SnapshotItemRow.market_id,
        MarketVersionRow.event_id,
        MarketVersionRow.story,
        MarketVersionRow.category,
        MarketVersionRow.closes_at,
    )
    quoted = (CohortRow.number, RoundRow.at, SnapshotItemRow.quoted_at, QuoteRow.bid, QuoteRow.ask)
    query = select(*keys, QuoteRow.mid, *quoted).select_from(shown.outerjoin(QuoteRow))
    query = query.where(SnapshotItemRow.shown == 1)
    query = query.where(IS_TRADING if cohort is None else CohortRow.number == cohort)
    query = query.order_by(CohortRow.number, RoundRow.number, SnapshotItemRow.position)
    rows = connection.execute(query).all()
    snapshots, ids, events, stories, categories, closes, mids, numbers, *seen = transpose(rows, 12)
    stories = [own or event for own, event in zip(stories, events, strict=True)]
    named = {"markets": ids, "events": events, "stories": stories, "categories": categories}
    factors = {plural: factorize(values) for plural, values in named.items()}
    market, event, story, category = (places for _, places in factors.values())
    limits = read_frozen_rules(connection)
    is_quoted = [
        _is_quoted(limits[number], *each) for number, *each in zip(numbers, mids, *seen, strict=True)
    ]
    return {plural: names for plural, (names, _) in factors.items()}, {
        "snapshot": int_column(snapshots),
        "market": market,
        "event": event,
        "story": story,
        "category": category,
        "closes": _seconds_column(closes),
        "mid": int_column([ONE // 2 if price is None else price for price in mids]),
        "quoted": np.array(is_quoted, dtype=np.bool_),
    }


def _is_quoted(
    rules: Mapping[str, Any],
    mid: int | None,
    at: datetime,
    quoted_at: datetime | None,
    bid: int | None,
    ask: int | None,
) -> bool:
    """Whether a price is one to be judged by, as a cohort's rules say of prices to trade at."""
    if mid is None or quoted_at is None:
        return False
    is_fresh: bool = 0 <= (at - quoted_at).total_seconds() <= rules["max_quote_age"]
    if bid is None or ask is None:
        return is_fresh and bid is ask
    return is_fresh and bool(0 <= ask - bid <= rules["max_spread"])


def _turn_market_pairs(turns: Ints, snapshots: Ints) -> tuple[Ints, Ints]:
    """Every turn with every market of its snapshot, as places among the turns and among the markets."""
    order = np.argsort(snapshots, kind="stable")
    first = np.searchsorted(snapshots, turns, side="left", sorter=order)
    count = np.searchsorted(snapshots, turns, side="right", sorter=order) - first
    turn = np.repeat(np.arange(turns.size), count)
    within = np.arange(turn.size) - np.repeat(np.cumsum(count) - count, count)
    return turn, order[first[turn] + within]


@dataclass(frozen=True, slots=True)
class TurnMarketPairs:
    """Every turn, by its id, with every market that it was shown: the places of both, one row a pair."""

    ids: Ints
    turn: Ints
    markets: tuple[str, ...]
    market: Ints

    def rows(self, ids: Sequence[int], names: Sequence[str]) -> tuple[Ints, Flags]:
        """The rows of some turns' ids with markets; those that there are, for what wasn't shown is no row."""
        if not ids or not self.turn.size:
            return int_column([]), np.zeros(len(ids), dtype=np.bool_)
        place = {name: number for number, name in enumerate(self.markets)}
        order, width = np.argsort(self.ids), len(self.markets) + 1
        of_turn = order[np.searchsorted(self.ids, int_column(ids), sorter=order)]
        key = of_turn * width + int_column([place.get(name, len(self.markets)) for name in names])
        wanted = self.turn * width + self.market
        by_key = np.argsort(wanted)
        row = by_key[np.searchsorted(wanted, key, sorter=by_key).clip(max=self.turn.size - 1)]
        there = wanted[row] == key
        return row[there], there


def _stated_probabilities(connection: Connection, cohort: int | None, pairs: TurnMarketPairs) -> Ints:
    """What was stated for each pair of turn and market, in millionths; -1 where nothing was."""
    query = (
        select(ForecastRow.turn_id, ForecastRow.market_id, ForecastRow.probability)
        .select_from(PLACED_TURNS.join(ForecastRow, clause(ForecastRow.turn_id == TurnRow.id)))
        .where(ForecastRow.stage == "final", col(TurnRow.status).in_(USABLE_STATUSES))
    )
    query = query.where(IS_TRADING if cohort is None else CohortRow.number == cohort)
    ids, names, chances = transpose(connection.execute(query).all(), 3)
    probabilities = np.full(pairs.turn.size, -1, dtype=np.int64)
    rows, there = pairs.rows(ids, names)
    probabilities[rows] = int_column(chances)[there]
    return probabilities


def _second_prices(
    connection: Connection, cohort: int | None, pairs: TurnMarketPairs, mid: Ints, quoted: Flags
) -> tuple[Ints, Flags]:
    """The price for each pair, and whether it is one to be judged by: the second one where there is one."""
    source = PLACED_TURNS.join(SecondQuoteRow, clause(SecondQuoteRow.turn_id == TurnRow.id)).outerjoin(
        QuoteRow
    )
    seen = (SecondQuoteRow.taken_at, SecondQuoteRow.quoted_at, QuoteRow.bid, QuoteRow.ask)
    query = select(SecondQuoteRow.turn_id, SecondQuoteRow.market_id, CohortRow.number, QuoteRow.mid, *seen)
    query = query.select_from(source)
    query = query.where(IS_TRADING if cohort is None else CohortRow.number == cohort)
    ids, names, numbers, mids, *times = transpose(connection.execute(query).all(), 8)
    rows, there = pairs.rows(ids, names)
    if not rows.size:
        return mid, quoted
    limits = read_frozen_rules(connection)
    is_quoted = [
        _is_quoted(limits[number], *each) for number, *each in zip(numbers, mids, *times, strict=True)
    ]
    quoted[rows] = np.array(is_quoted, dtype=np.bool_)[there]
    second = int_column([-1 if price is None else price for price in mids])[there]
    mid[rows] = np.where(second >= 0, second, mid[rows])
    return mid, quoted


def _entrant_settings(connection: Connection) -> tuple[set[int], dict[int, int]]:
    """The entrants that are shown no prices, and when the model of each was released."""
    rows = connection.execute(select(EntrantRow.id, PLAYED_SETTINGS))
    settings = {key: json.loads(text) for key, text in rows}
    blind = {key for key, its in settings.items() if its.get("prices") == "hidden"}
    days = {key: its["released"] for key, its in settings.items() if its.get("released")}
    return blind, {key: _second(datetime.fromisoformat(day).replace(tzinfo=UTC)) for key, day in days.items()}


def _seconds_column(times: Any) -> Ints:
    """Instants as whole seconds since 1970."""
    return np.array([_second(at) for at in times], dtype=np.int64)


def _second(at: datetime) -> int:
    return int(at.timestamp() // 1)


def read_bet_columns(connection: Connection, cohort: int | None = None) -> BetColumns:
    """Every accepted bet with its two readings; what was sold later counts all the same."""
    rows = connection.execute(_purchases(cohort)).all()
    ids, names, cohorts, rounds, market_ids, sides, amounts, bases = transpose(rows, 8)
    agents, agent = factorize(names)
    markets, market = factorize(market_ids)
    yes = np.array([side == "YES" for side in sides], dtype=np.bool_)
    rules = read_frozen_rules(connection)
    largest = int_column([rules[number]["max_bet"] for number in cohorts])
    c = confidence(int_column(amounts), int_column(bases), largest)
    paid = _prices_paid(connection, cohort)
    own = np.array([paid[fill] for fill in ids], dtype=np.float64)
    price = np.where(yes, own, 1 - own)
    return BetColumns(
        agents,
        markets,
        agent,
        int_column(cohorts),
        int_column(rounds),
        market,
        yes,
        implied_belief(yes, c),
        anchored_belief(yes, c, price),
        price,
        int_column(amounts),
        read_ends(connection, markets).outcome[market],
    )


def _purchases(cohort: int | None) -> AnySelect:
    keys = (FillRow.id, EntrantRow.name, CohortRow.number, RoundRow.number, FillRow.market_id)
    query = (
        select(*keys, FillRow.side, FillRow.wanted, FillRow.base)
        .select_from(PLACED_TURNS.join(FillRow, clause(FillRow.turn_id == TurnRow.id)))
        .where(FillRow.action == "buy")
        .order_by(*LINE_UP_ORDER, FillRow.position)
    )
    return query if cohort is None else query.where(CohortRow.number == cohort)


def read_frozen_rules(connection: Connection) -> dict[int, Mapping[str, Any]]:
    """The rules that each cohort has frozen, by its number."""
    rows = connection.execute(select(CohortRow.number, CohortRow.frozen))
    return {row.number: json.loads(row.frozen)["rules"] for row in rows}


def _prices_paid(connection: Connection, cohort: int | None) -> dict[int, float]:
    """The average price of each purchase, of the side's own share; summed here, where nothing overflows."""
    bought = _purchases(cohort).with_only_columns(FillRow.id).order_by(None)
    levels = select(FillLevelRow.fill_id, FillLevelRow.price, FillLevelRow.shares).where(
        col(FillLevelRow.fill_id).in_(bought)
    )
    paid: dict[int, int] = defaultdict(int)
    shares: dict[int, int] = defaultdict(int)
    for fill, price, bought_shares in connection.execute(levels).all():
        paid[fill] += price * bought_shares
        shares[fill] += bought_shares
    return {fill: paid[fill] / (shares[fill] * ONE) for fill in paid}


BEFORE, AFTER = aliased(ForecastRow, name="before"), aliased(ForecastRow, name="after")
ASKED_TWICE = and_(
    AFTER.turn_id == BEFORE.turn_id,
    AFTER.market_id == BEFORE.market_id,
    AFTER.stage == "final",
)
FORECAST_PAIRS = (
    join(BEFORE, AFTER, ASKED_TWICE)
    .join(TurnRow, clause(and_(BEFORE.turn_id == TurnRow.id, col(TurnRow.status).in_(USABLE_STATUSES))))
    .join(EntrantRow)
    .join(RoundRow)
    .join(CohortRow)
    .join(SnapshotItemRow, item_of(BEFORE.market_id))
    .join(QuoteRow)
)


@dataclass(frozen=True, slots=True)
class ForecastPairs:
    """One row per market asked both ways in a turn; probabilities and prices in millionths."""

    before: Ints
    after: Ints
    price: Ints
    outcome: Ints
    market: Ints


def read_forecast_pairs(connection: Connection, agent: str) -> ForecastPairs:
    """The pairs of an agent, over all its cohorts; markets without a mid are left out."""
    query = (
        select(BEFORE.market_id, BEFORE.probability, AFTER.probability, QuoteRow.mid)
        .select_from(FORECAST_PAIRS)
        .where(BEFORE.stage == "blind", EntrantRow.name == agent, col(QuoteRow.mid).is_not(None))
        .order_by(CohortRow.number, RoundRow.number, SnapshotItemRow.position)
    )
    rows = connection.execute(query).all()
    names, market = factorize([row[0] for row in rows])
    ended = newest_rows(connection, ResolutionRow, names, "version", "payout")
    outcome = [OUTCOMES.get(ended[name].payout, NO_SCORE) if name in ended else OPEN for name in names]
    before, after, price = (int_column([row[k] for row in rows]) for k in (1, 2, 3))
    return ForecastPairs(before, after, price, int_column(outcome)[market], market)
