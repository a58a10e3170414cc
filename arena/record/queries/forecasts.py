"""Forecasts and bets as columns for the scores, in a few queries whatever the size.

Every forecast of every market that a turn was shown, every accepted bet with the two readings of its stake,
and forecasts in pairs, from before and after the prices were shown. No row is made into an object.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf, nan
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam

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
from arena.record.queries.cohorts import IS_ASKED_FOR, read_hiding, read_of_cohorts
from arena.record.queries.holdout import read_hidden_ends
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.newest import PLAYED_SETTINGS
from arena.record.schema.turn import FillLevelRow, FillRow, ForecastRow, SecondQuoteRow, TurnRow
from arena.record.schema.typed import clause, col, joined, select
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from markets.hashes import canonical
from markets.millionths import ONE

PLACED_TURNS = joined(TurnRow, EntrantRow, RoundRow, CohortRow)
LINE_UP_ORDER = (CohortRow.number, RoundRow.number, EntrantRow.position)
WAS_SHOWN = col(TurnRow.status).in_((*DECIDED_STATUSES, "failed", "late"))
"""The condition that a turn was shown markets. Who is out, or waits for a key, was shown nothing."""

OUTCOMES: dict[int | None, int] = {ONE: 1, 0: 0}
"""The outcome by what a share of YES paid; whatever else it paid has no score."""


@dataclass(frozen=True, slots=True)
class MarketEnds:
    """How each of some markets ended by the newest version of its resolution: as `ForecastColumns` has it.

    `known` is since when the first version could be known, in seconds since 1970.
    """

    outcome: Ints
    payout: Floats
    known: Floats


PAYOUTS = select(ResolutionRow.market_id, ResolutionRow.payout, ResolutionRow.known_at).order_by(
    ResolutionRow.version
)


def read_ends(connection: Connection, markets: tuple[str, ...]) -> MarketEnds:
    """Return how these markets ended, counting held-out ones as open."""
    index_of = {market: index for index, market in enumerate(markets)}
    outcome = [OPEN] * len(markets)
    payout = [nan] * len(markets)
    known_since = [inf] * len(markets)

    hidden = read_hidden_ends(connection)
    for market, paid, known_at in connection.execute(PAYOUTS):
        index = index_of.get(market)
        if index is None or market in hidden:
            continue

        # Versions come in order: the newest one's payout stays, and the time of the first.
        outcome[index] = OUTCOMES.get(paid, NO_SCORE)
        payout[index] = nan if paid is None else paid / ONE
        if known_since[index] == inf:
            known_since[index] = known_at.timestamp()

    return MarketEnds(
        outcome=int_column(outcome),
        payout=np.array(payout, dtype=np.float64),
        known=np.array(known_since, dtype=np.float64),
    )


def transpose(rows: Any, width: int) -> list[Any]:
    """Return rows as columns, which are empty if there is no row."""
    return list(zip(*rows, strict=True)) if rows else [()] * width


def int_column(values: Any) -> Ints:
    """Return a column of whole numbers."""
    return np.array(values, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class LineUpEntry:
    """An entrant of a cohort, its kind and settings as one text: twins have the same.

    Whose agent it is is no part of that text, and nothing where the config doesn't say.
    """

    cohort: int
    name: str
    settings: str
    owner: str = ""


LINE_UPS = (
    select(CohortRow.number, EntrantRow.name, EntrantRow.kind, PLAYED_SETTINGS)
    .join(CohortRow, EntrantRow.cohort_id == CohortRow.id)
    .order_by(CohortRow.number, EntrantRow.position)
)


def read_line_ups(connection: Connection, cohort: int | None = None) -> list[LineUpEntry]:
    """Return every entrant, cohort by cohort in line-up order."""
    entries = []
    for number, name, kind, settings in read_of_cohorts(connection, LINE_UPS, cohort):
        owner, without_owner = _split_owner(str(settings))
        entries.append(LineUpEntry(number, name, f"{kind} {without_owner}", owner))
    return entries


def _split_owner(settings: str) -> tuple[str, str]:
    """Return the owner named in frozen settings, if any, and their text without it.

    >>> _split_owner('{"model":"a/b","owner":"ann"}'), _split_owner('{"p":0.5}')
    (('ann', '{"model":"a/b"}'), ('', '{"p":0.5}'))
    """
    if '"owner"' not in settings:
        return "", settings
    values = json.loads(settings)
    return str(values.pop("owner", "")), canonical(values)


def read_forecast_columns(connection: Connection, cohort: int | None = None) -> ForecastColumns:
    """Return the forecast of every played turn on every market shown, with the price then.

    Where a turn has second quotes, the price is theirs. A skip is taken as agreement with the mid, or as
    even odds from an entrant that saw no prices. A turn that is malformed, declined, failed or late has said
    nothing, whatever was read from it. Rounds that are hidden for now are left out.
    """
    turns = read_shown_turns(connection, cohort)
    items = _read_shown_items(connection, cohort)
    turn, item = turn_market_pairs(turns.snapshot, items.snapshot)

    pairs = TurnMarketPairs(turns.id, turn, items.markets, items.market[item])
    mid = items.mid[item]
    quoted = items.quoted[item]
    _put_second_prices(connection, cohort, pairs, mid, quoted)

    ends = read_ends(connection, pairs.markets)
    closes = items.closes[item]
    stated = _stated_probabilities(connection, cohort, pairs)
    forecast_of_skip = np.where(turns.blind[turn], ONE // 2, mid)
    return ForecastColumns(
        agents=turns.agents,
        markets=items.markets,
        events=items.events,
        stories=items.stories,
        categories=items.categories,
        agent=turns.agent[turn],
        cohort=turns.cohort[turn],
        round=turns.round[turn],
        at=turns.at[turn],
        released=turns.released[turn],
        market=pairs.market,
        event=items.event[item],
        story=items.story[item],
        category=items.category[item],
        closes=closes,
        mid=mid,
        quoted=quoted,
        priced=items.priced[item],
        forecast=np.where(stated >= 0, stated, forecast_of_skip),
        stated=stated >= 0,
        outcome=ends.outcome[pairs.market],
        payout=ends.payout[pairs.market],
        known=np.maximum(ends.known[pairs.market], closes),
    )


@dataclass(frozen=True, slots=True)
class TurnColumns:
    """One row for each turn; `blind` where the agent saw no prices."""

    agents: tuple[str, ...]
    id: Ints
    agent: Ints
    cohort: Ints
    round: Ints
    at: Ints
    snapshot: Ints
    blind: Flags
    released: Ints


SHOWN_TURNS = (
    select(TurnRow.id, EntrantRow.name, EntrantRow.id, CohortRow.number, RoundRow.number, RoundRow.at)
    .add_columns(RoundRow.snapshot_id)
    .select_from(PLACED_TURNS)
    .where(WAS_SHOWN, col(RoundRow.id).not_in(bindparam("hidden", expanding=True)))
    .order_by(*LINE_UP_ORDER)
)


def read_shown_turns(connection: Connection, cohort: int | None) -> TurnColumns:
    """Return the turns that were shown markets."""
    hiding = read_hiding(connection)
    rows = read_of_cohorts(connection, SHOWN_TURNS, cohort, hidden=list(hiding.ids))
    columns = transpose(rows.all(), 7)
    ids, names, entrants, cohorts, rounds, times, snapshots = columns

    agents, agent = factorize(names)
    blind_entrants, released_at = _read_blind_and_released(connection)
    is_blind = []
    for entrant, cohort_number, round_number in zip(entrants, cohorts, rounds, strict=True):
        is_hidden_round = round_number <= hiding.counts.get(cohort_number, 0)
        is_blind.append(is_hidden_round or entrant in blind_entrants)

    return TurnColumns(
        agents=agents,
        id=int_column(ids),
        agent=agent,
        cohort=int_column(cohorts),
        round=int_column(rounds),
        at=seconds_column(times),
        snapshot=int_column(snapshots),
        blind=np.array(is_blind, dtype=np.bool_),
        released=int_column([released_at.get(entrant, UNKNOWN) for entrant in entrants]),
    )


ENTRANT_SETTINGS = select(EntrantRow.id, PLAYED_SETTINGS)


def _read_blind_and_released(connection: Connection) -> tuple[set[int], dict[int, int]]:
    """Return the entrants that see no prices, and the release of each one's model."""
    blind_entrants = set[int]()
    released_at = {}
    for entrant_id, text in connection.execute(ENTRANT_SETTINGS):
        settings = json.loads(text)
        if settings.get("prices") == "hidden":
            blind_entrants.add(entrant_id)
        if settings.get("released"):
            day = datetime.fromisoformat(settings["released"])
            released_at[entrant_id] = _second(day.replace(tzinfo=UTC))
    return blind_entrants, released_at


@dataclass(frozen=True, slots=True)
class ShownItems:
    """One row for each market in each snapshot, with places in the tuples of names."""

    markets: tuple[str, ...]
    events: tuple[str, ...]
    stories: tuple[str, ...]
    categories: tuple[str, ...]
    snapshot: Ints
    market: Ints
    event: Ints
    story: Ints
    category: Ints
    closes: Ints
    mid: Ints
    quoted: Flags
    priced: Flags


SHOWN_ITEMS = (
    joined(SnapshotItemRow, MarketVersionRow)
    .join(RoundRow, clause(RoundRow.snapshot_id == SnapshotItemRow.snapshot_id))
    .join(CohortRow)
    .outerjoin(QuoteRow)
)
PAGE_COLUMNS = (
    MarketVersionRow.event_id,
    MarketVersionRow.story,
    MarketVersionRow.category,
    MarketVersionRow.closes_at,
)
PRICE_COLUMNS = (QuoteRow.bid, QuoteRow.ask, QuoteRow.mid)
SHOWN_MARKETS = (
    select(SnapshotItemRow.snapshot_id, SnapshotItemRow.market_id, *PAGE_COLUMNS)
    .add_columns(SnapshotItemRow.quote_id)
    .add_columns(CohortRow.number, RoundRow.at, SnapshotItemRow.quoted_at, *PRICE_COLUMNS)
    .select_from(SHOWN_ITEMS)
    .where(SnapshotItemRow.shown == 1, MarketVersionRow.form == "")
    .order_by(CohortRow.number, RoundRow.number, SnapshotItemRow.position)
)


def _read_shown_items(connection: Connection, cohort: int | None) -> ShownItems:
    """Return the markets of yes or no that were shown."""
    columns = transpose(read_of_cohorts(connection, SHOWN_MARKETS, cohort).all(), 13)
    snapshots, ids, event_ids, own_stories, category_names, closes, quote_ids, *prices = columns
    *_, mids = prices

    markets, market = factorize(ids)
    events, event = factorize(event_ids)
    # A market without a story has its event for one.
    pairs = zip(own_stories, event_ids, strict=True)
    stories, story = factorize([own_story or event_id for own_story, event_id in pairs])
    categories, category = factorize(category_names)
    return ShownItems(
        markets=markets,
        events=events,
        stories=stories,
        categories=categories,
        snapshot=int_column(snapshots),
        market=market,
        event=event,
        story=story,
        category=category,
        closes=seconds_column(closes),
        mid=int_column([ONE // 2 if mid is None else mid for mid in mids]),
        quoted=_quoted_column(connection, prices),
        priced=np.array([quote_id is not None for quote_id in quote_ids], dtype=np.bool_),
    )


def _quoted_column(connection: Connection, columns: Sequence[Any]) -> Flags:
    """Return a mask of the prices that count for scores, by each cohort's rules for trading prices.

    The columns are the number of the cohort, when the price was looked at and was found, bid, ask and mid.
    """
    rules = read_frozen_rules(connection)
    flags = []
    for cohort, at, quoted_at, bid, ask, mid in zip(*columns, strict=True):
        limits = rules[cohort]
        is_quoted = mid is not None and quoted_at is not None
        if is_quoted:
            is_quoted = 0 <= (at - quoted_at).total_seconds() <= limits["max_quote_age"]
        if is_quoted and (bid is None or ask is None):
            is_quoted = bid is ask  # neither side is known: the price has no spread
        elif is_quoted:
            is_quoted = 0 <= ask - bid <= limits["max_spread"]
        flags.append(is_quoted)
    return np.array(flags, dtype=np.bool_)


def turn_market_pairs(snapshot_of_turn: Ints, snapshot_of_item: Ints) -> tuple[Ints, Ints]:
    """Return every turn with every item of its snapshot, as places among the turns and the items."""
    by_snapshot = np.argsort(snapshot_of_item, kind="stable")
    first = np.searchsorted(snapshot_of_item, snapshot_of_turn, side="left", sorter=by_snapshot)
    end = np.searchsorted(snapshot_of_item, snapshot_of_turn, side="right", sorter=by_snapshot)
    item_count = end - first

    # One row for each pair; in `within` the rows of each turn are counted from 0.
    turn = np.repeat(np.arange(snapshot_of_turn.size), item_count)
    first_row_of_turn = np.cumsum(item_count) - item_count
    within = np.arange(turn.size) - np.repeat(first_row_of_turn, item_count)
    item = by_snapshot[first[turn] + within]
    return turn, item


@dataclass(frozen=True, slots=True)
class TurnMarketPairs:
    """Every turn, by its id, with every market that it was shown: the places of both, one row a pair."""

    ids: Ints
    turn: Ints
    markets: tuple[str, ...]
    market: Ints

    def rows(self, ids: Sequence[int], names: Sequence[str]) -> tuple[Ints, Flags]:
        """Return the rows of pairs of turn ids and markets, and a mask of the pairs that have one.

        What a turn was not shown has no row, and neither has a turn that is left out here.
        """
        if not ids or not self.turn.size:
            return int_column([]), np.zeros(len(ids), dtype=np.bool_)

        unknown = len(self.markets)
        market_index = {name: index for index, name in enumerate(self.markets)}
        market = int_column([market_index.get(name, unknown) for name in names])

        # A search gives a place for an id that is missing too, so whatever it finds is compared.
        by_id = np.argsort(self.ids)
        found_id = np.searchsorted(self.ids, int_column(ids), sorter=by_id)
        turn = by_id[found_id.clip(max=self.ids.size - 1)]
        has_turn = self.ids[turn] == int_column(ids)

        # A pair as one number: the place of the turn, then that of the market, or one past the last.
        wanted_pairs = turn * (unknown + 1) + market
        own_pairs = self.turn * (unknown + 1) + self.market
        by_pair = np.argsort(own_pairs)
        found_pair = np.searchsorted(own_pairs, wanted_pairs, sorter=by_pair)
        row = by_pair[found_pair.clip(max=self.turn.size - 1)]
        has_row = has_turn & (own_pairs[row] == wanted_pairs)
        return row[has_row], has_row


STATED_FORECASTS = (
    select(ForecastRow.turn_id, ForecastRow.market_id, ForecastRow.probability)
    .select_from(PLACED_TURNS.join(ForecastRow))
    .where(ForecastRow.stage == "final", col(TurnRow.status).in_(USABLE_STATUSES))
)


def _stated_probabilities(connection: Connection, cohort: int | None, pairs: TurnMarketPairs) -> Ints:
    """Return the stated probability of each pair of turn and market in millionths; -1 if there is none."""
    stated = read_of_cohorts(connection, STATED_FORECASTS, cohort)
    turn_ids, markets, stated_chances = transpose(stated.all(), 3)

    probabilities = np.full(pairs.turn.size, -1, dtype=np.int64)
    rows, has_row = pairs.rows(turn_ids, markets)
    probabilities[rows] = int_column(stated_chances)[has_row]
    return probabilities


SECOND_QUOTES = (
    select(SecondQuoteRow.turn_id, SecondQuoteRow.market_id, CohortRow.number, SecondQuoteRow.taken_at)
    .add_columns(SecondQuoteRow.quoted_at, *PRICE_COLUMNS)
    .select_from(PLACED_TURNS.join(SecondQuoteRow).outerjoin(QuoteRow))
)


def _put_second_prices(
    connection: Connection, cohort: int | None, pairs: TurnMarketPairs, mid: Ints, quoted: Flags
) -> None:
    """Replace prices by second prices where there are any, and the mask of prices that count."""
    second_quotes = read_of_cohorts(connection, SECOND_QUOTES, cohort)
    turn_ids, markets, *prices = transpose(second_quotes.all(), 8)
    rows, has_row = pairs.rows(turn_ids, markets)
    if not rows.size:
        return

    quoted[rows] = _quoted_column(connection, prices)[has_row]
    second_mid = int_column([-1 if price is None else price for price in prices[-1]])[has_row]
    # Where there was no second price, the first one stays.
    mid[rows] = np.where(second_mid >= 0, second_mid, mid[rows])


def seconds_column(times: Any) -> Ints:
    """Return instants as whole seconds since 1970."""
    return int_column([_second(at) for at in times])


def _second(at: datetime) -> int:
    return int(at.timestamp() // 1)


PURCHASES = (
    select(FillRow.id, EntrantRow.name, CohortRow.number, RoundRow.number, FillRow.market_id)
    .add_columns(FillRow.side, FillRow.wanted, FillRow.base)
    .select_from(PLACED_TURNS.join(FillRow))
    .where(FillRow.action == "buy")
    .order_by(*LINE_UP_ORDER, FillRow.position)
)
PURCHASES_OF_COHORT = PURCHASES.where(IS_ASKED_FOR)


def read_bet_columns(connection: Connection, cohort: int | None = None) -> BetColumns:
    """Return every accepted bet with its two readings, including bets sold later."""
    if cohort is None:
        purchases = connection.execute(PURCHASES)
    else:
        purchases = connection.execute(PURCHASES_OF_COHORT, {"cohort": cohort})
    columns = transpose(purchases.all(), 8)
    ids, names, cohorts, rounds, market_ids, sides, amounts, bases = columns
    agents, agent = factorize(names)
    markets, market = factorize(market_ids)

    rules = read_frozen_rules(connection)
    max_bets = int_column([rules[number]["max_bet"] for number in cohorts])
    confidences = confidence(int_column(amounts), int_column(bases), max_bets)

    is_yes = np.array([side == "YES" for side in sides], dtype=np.bool_)
    price_of_fill = _average_prices(connection, cohort)
    own_price = np.array([price_of_fill[fill] for fill in ids], dtype=np.float64)
    price = np.where(is_yes, own_price, 1 - own_price)
    return BetColumns(
        agents=agents,
        markets=markets,
        agent=agent,
        cohort=int_column(cohorts),
        round=int_column(rounds),
        market=market,
        yes=is_yes,
        implied=implied_belief(is_yes, confidences),
        anchored=anchored_belief(is_yes, confidences, price),
        price=price,
        amount=int_column(amounts),
        outcome=read_ends(connection, markets).outcome[market],
    )


FROZEN_COHORTS = select(CohortRow.number, CohortRow.frozen)


def read_frozen_rules(connection: Connection) -> dict[int, Mapping[str, Any]]:
    """Return the rules that each cohort has frozen, by its number."""
    return {number: json.loads(frozen)["rules"] for number, frozen in connection.execute(FROZEN_COHORTS)}


PURCHASE_IDS = select(FillRow.id).select_from(PLACED_TURNS.join(FillRow)).where(FillRow.action == "buy")
LEVELS = select(FillLevelRow.fill_id, FillLevelRow.price, FillLevelRow.shares)
PAID_LEVELS = LEVELS.where(col(FillLevelRow.fill_id).in_(PURCHASE_IDS))
PAID_LEVELS_OF_COHORT = LEVELS.where(col(FillLevelRow.fill_id).in_(PURCHASE_IDS.where(IS_ASKED_FOR)))


def _average_prices(connection: Connection, cohort: int | None) -> dict[int, float]:
    """Return the average price of each purchase, of the side's own share; summed here, without overflow."""
    if cohort is None:
        levels = connection.execute(PAID_LEVELS)
    else:
        levels = connection.execute(PAID_LEVELS_OF_COHORT, {"cohort": cohort})

    amounts: dict[int, int] = defaultdict(int)
    shares: dict[int, int] = defaultdict(int)
    for fill, price, bought_shares in levels:
        amounts[fill] += price * bought_shares
        shares[fill] += bought_shares
    return {fill: amounts[fill] / (shares[fill] * ONE) for fill in amounts}
