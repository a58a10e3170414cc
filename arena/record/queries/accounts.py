"""Each entrant's money: its ledger, its holdings, its trades, its newest mark, and its worth over time.

Ledgers are read whole, or only as far as they are new: what was folded before is remembered. Of a curve the
instants are picked first, no more than are drawn, and the marks are then looked up one by one.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, func
from sqlmodel import and_, or_

from agents.model import USABLE_STATUSES
from arena.record.model.columns import AccountSummary
from arena.record.model.trades import Trade
from arena.record.queries.cohorts import IS_TRADING, PLACE, item_of, read_snapshot
from arena.record.queries.forecasts import read_frozen_rules
from arena.record.queries.settlements import LAST_MARK, read_owed
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.dialects import UtcTime
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.newest import PLAYED_SETTINGS
from arena.record.schema.turn import AttemptRow, CallRow, FillRow, ForecastRow, TurnRow
from arena.record.schema.typed import (
    IDS,
    Condition,
    clause,
    col,
    column_of,
    columns_of,
    count,
    joined,
    read_grouped_nouns,
    read_nouns,
    select,
    select_noun,
)
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from arena.record.write.listings import PAGE_FIELDS
from markets.millionths import ONE
from markets.model import Market, MarketId, Snapshot
from portfolio.ledger import fold
from portfolio.model import Entry, Holdings
from portfolio.rules import BOOK, DEPTH_UNKNOWN, UNLIMITED


def read_accounts(connection: Connection, cohort: int | None = None) -> list[AccountSummary]:
    """Every entrant of every cohort, in line-up order, with its money, its calls and its turns."""
    turns: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    ways = (TurnRow.entrant_id, TurnRow.status)
    for row in connection.execute(select(*ways, func.count().label("turns")).group_by(*ways)):
        turns[row.entrant_id][row.status] = row.turns
    sales = select(TurnRow.entrant_id, func.count()).select_from(joined(TurnRow, FillRow))
    sales = sales.where(FillRow.action == "sell").group_by(TurnRow.entrant_id)
    costs, sold = _call_costs(connection), dict(connection.execute(sales).all())
    depths, tools = read_depths(connection), _tools(connection)
    retried = dict(connection.execute(RETRIED).all())
    return [
        AccountSummary(
            agent=one.agent,
            kind=one.kind,
            cohort=one.cohort,
            bankroll=one.given,
            total=one.total,
            cost=costs.get(one.entrant_id, 0),
            turns=sum(turns[one.entrant_id].values()),
            malformed=turns[one.entrant_id]["malformed"] + turns[one.entrant_id]["declined"],
            failed=turns[one.entrant_id]["failed"],
            late=turns[one.entrant_id]["late"],
            retried=retried.get(one.entrant_id, 0),
            sold=sold.get(one.entrant_id, 0),
            depth=depths.get((one.cohort, one.agent), ""),
            tools=tools.get(one.entrant_id, ()),
            invested=one.invested,
        )
        for one in read_account_equity(connection, cohort)
    ]


def _tools(connection: Connection) -> dict[int, tuple[str, ...]]:
    """The tools of each entrant that has any."""
    query = select(EntrantRow.id, PLAYED_SETTINGS).where(PLAYED_SETTINGS.element.contains('"tools"'))
    settings = {key: json.loads(text) for key, text in connection.execute(query)}
    return {key: tuple(its["tools"]) for key, its in settings.items() if its.get("tools")}


def read_depths(connection: Connection) -> dict[tuple[int, str], str]:
    """What has to be said of money, by cohort and agent: of fills of any size, or at an unknown volume."""
    rules = read_frozen_rules(connection)
    capped = {number for number, each in rules.items() if "max_of_volume" in each}
    unlimited = {number for number, each in rules.items() if each.get("fill", BOOK) != BOOK} - capped
    # As an expression, so that a snapshot's few markets are looked through, not a market's many snapshots.
    filled = func.coalesce(SnapshotItemRow.market_id, "") == FillRow.market_id
    line_up, named = joined(EntrantRow, CohortRow), (CohortRow.number, EntrantRow.name)
    unknown = (
        select(*named)
        .select_from(
            joined(QuoteRow, SnapshotItemRow)
            .join(RoundRow, clause(RoundRow.snapshot_id == SnapshotItemRow.snapshot_id))
            .join(TurnRow, clause(TurnRow.round_id == RoundRow.id))
            .join(FillRow, filled & clause(FillRow.turn_id == TurnRow.id))
            .join(line_up, clause(TurnRow.entrant_id == EntrantRow.id))
        )
        .where(col(QuoteRow.volume).is_(None), col(CohortRow.number).in_(capped))
        .distinct()
    )
    return dict.fromkeys(connection.execute(unknown) if capped else (), DEPTH_UNKNOWN) | {
        (number, name): UNLIMITED
        for number, name in connection.execute(select(*named).select_from(line_up))
        if number in unlimited
    }


def read_cohort_depths(connection: Connection) -> dict[int, str]:
    """The same by cohort: of any of its agents."""
    return {number: words for (number, _), words in read_depths(connection).items()}


TRIES = select(AttemptRow.round_id, AttemptRow.entrant_id, func.max(AttemptRow.number).label("failures"))
TRIED = TRIES.group_by(AttemptRow.round_id, AttemptRow.entrant_id).subquery()
RETRIED = (
    select(TurnRow.entrant_id, func.count())
    .join(TRIED, (TRIED.c.round_id == TurnRow.round_id) & (TRIED.c.entrant_id == TurnRow.entrant_id))
    .where(or_(TurnRow.status != "failed", TRIED.c.failures > 1))
    .group_by(TurnRow.entrant_id)
)
"""Turns that were tried again after they had failed."""


def _call_costs(connection: Connection) -> dict[int, int | None]:
    """What all attempts cost together; None where one of them is unknown, which is not 0."""
    known = count(CallRow.id) == count(CallRow.cost)
    query = select(CallRow.entrant_id, func.sum(CallRow.cost).label("cost"), known.label("known"))
    rows = connection.execute(query.group_by(CallRow.entrant_id))
    return {row.entrant_id: int(row.cost) if row.known else None for row in rows}


COHORT_ID: BindParameter[int] = bindparam("cohort_id")
ENTRY_COLUMNS = columns_of(EntryRow, Entry.__dataclass_fields__)
LEDGERS = (
    select(EntrantRow.name, *ENTRY_COLUMNS)
    .select_from(joined(EntrantRow, EntryRow))
    .where(EntrantRow.cohort_id == COHORT_ID)
    .order_by(EntrantRow.position, EntryRow.number)
)
LEDGER_OF_ONE = LEDGERS.where(EntrantRow.name == bindparam("agent"))
NEWER_ENTRIES = (
    select(EntryRow.entrant_id, *ENTRY_COLUMNS)
    .where(col(EntryRow.entrant_id).in_(IDS), EntryRow.number > bindparam("known"))
    .order_by(EntryRow.entrant_id, EntryRow.number)
)
NEWEST_NUMBER = select(func.max(EntryRow.number)).where(EntryRow.entrant_id == EntrantRow.id)
LEDGER_HEADS = (
    select(EntrantRow.name, EntrantRow.id, NEWEST_NUMBER.scalar_subquery())
    .where(EntrantRow.cohort_id == COHORT_ID)
    .order_by(EntrantRow.position)
)


def read_ledgers(connection: Connection, cohort_id: int, agent: str | None = None) -> dict[str, list[Entry]]:
    """Every entrant's ledger, in line-up order, or that of one."""
    wanted = LEDGERS if agent is None else LEDGER_OF_ONE
    rows = connection.execute(wanted, {"cohort_id": cohort_id, "agent": agent})
    return dict(read_grouped_nouns(Entry, rows))


def read_entries_after(connection: Connection, known: Mapping[int, int]) -> dict[int, list[Entry]]:
    """The entries of entrants, by id, that come after those up to a number."""
    wanted = {"ids": list(known), "known": min(known.values(), default=0)}
    entries = read_grouped_nouns(Entry, connection.execute(NEWER_ENTRIES, wanted))
    return {
        entrant_id: [entry for entry in entries[entrant_id] if entry.number > last]
        for entrant_id, last in known.items()
    }


def read_ledger_heads(connection: Connection, cohort_id: int) -> dict[str, tuple[int, int]]:
    """The id of every entrant and the number of its newest entry, in line-up order."""
    rows = connection.execute(LEDGER_HEADS, {"cohort_id": cohort_id}).all()
    return {name: (entrant_id, number) for name, entrant_id, number in rows if number is not None}


BEFORE_ANY_ENTRY = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class FoldedAccount:
    """An account, the time of the last entry folded into it, and the entries that come next.

    These are `sealed` if this process has written them: their hashes are its own.
    """

    account: Holdings = field(default_factory=Holdings)
    newest: datetime = BEFORE_ANY_ENTRY
    news: list[Entry] = field(default_factory=list)
    sealed: bool = True

    @property
    def number(self) -> int:
        """That of the last entry known."""
        return self.news[-1].number if self.news else self.account.number

    def add(self, entries: Sequence[Entry]) -> None:
        """More entries; those that leave a gap are not added, and will be read."""
        if entries and entries[0].number == self.number + 1:
            self.news.extend(entries)

    def up_to_date(self) -> Holdings:
        """The account with all that is known of its ledger."""
        if self.news:
            self.account = fold(self.news, self.account, sealed=self.sealed)
            self.newest, self.news, self.sealed = self.news[-1].at, [], True
        return self.account


@dataclass(frozen=True, slots=True)
class AccountCache:
    """What is known of every entrant's account, by its id."""

    known: dict[int, FoldedAccount] = field(default_factory=dict)

    def wrote(self, ledgers: Mapping[int, Sequence[Entry]]) -> None:
        """Entries that are now in the record."""
        for entrant_id, entries in ledgers.items():
            self.known.setdefault(entrant_id, FoldedAccount()).add(entries)

    def behind(self, heads: Mapping[int, int]) -> dict[int, int]:
        """Which of these entrants, given with their last numbers, are not known whole, and up to where."""
        accounts = {entrant_id: self.known.setdefault(entrant_id, FoldedAccount()) for entrant_id in heads}
        return {
            entrant_id: accounts[entrant_id].account.number
            for entrant_id, last in heads.items()
            if accounts[entrant_id].number != last
        }

    def read(self, ledgers: Mapping[int, Sequence[Entry]]) -> None:
        """Entries as they are in the record, in place of what is not folded yet."""
        for entrant_id, entries in ledgers.items():
            known = self.known[entrant_id]
            known.news, known.sealed = list(entries), False

    def holdings(self, ids: Iterable[int]) -> tuple[dict[int, Holdings], datetime]:
        """These accounts, and the time of the newest entry in them."""
        accounts = {entrant_id: self.known[entrant_id].up_to_date() for entrant_id in ids}
        return accounts, max(
            (self.known[entrant_id].newest for entrant_id in accounts), default=BEFORE_ANY_ENTRY
        )


@dataclass(frozen=True, slots=True)
class MarkedCohort:
    """A cohort at its newest mark: every ledger until then, and the snapshot that it was valued at."""

    at: datetime
    snapshot: Snapshot
    ledgers: Mapping[str, list[Entry]]
    questions: Mapping[MarketId, str]


def read_marked_cohort(
    connection: Connection, cohort_id: int, agent: str | None = None
) -> MarkedCohort | None:
    """A cohort at its newest mark, with all ledgers or one; None before the first mark."""
    newest = select(func.max(MarkRow.at)).select_from(joined(MarkRow, EntrantRow))
    at = connection.scalar(newest.where(*_entrants_of(cohort_id, agent)))
    stored = None if at is None else read_snapshot(connection, cohort_id, at)
    if at is None or stored is None:
        return None
    entries = read_ledgers(connection, cohort_id, agent).items()
    until = {name: [entry for entry in rows if entry.at <= at] for name, rows in entries}
    traded = select(EntryRow.market_id).select_from(joined(EntryRow, EntrantRow))
    traded = traded.where(*_entrants_of(cohort_id, agent))
    pages = select(MarketVersionRow.market_id, MarketVersionRow.question)
    pages = pages.where(col(MarketVersionRow.market_id).in_(traded))
    rows = connection.execute(pages.order_by(MarketVersionRow.market_id, MarketVersionRow.version)).all()
    return MarkedCohort(at, stored[1], until, {MarketId(market): question for market, question in rows})


def _entrants_of(cohort_id: int, agent: str | None) -> list[Condition]:
    """All entrants of a cohort, or one."""
    named = [] if agent is None else [EntrantRow.name == agent]
    return [EntrantRow.cohort_id == cohort_id, *named]


IS_LAST_MARK = (MarkRow.entrant_id == EntrantRow.id) & (MarkRow.at == LAST_MARK)
DEPOSITED = (
    select(EntryRow.cash)
    .where(EntryRow.entrant_id == EntrantRow.id, EntryRow.number == 1, EntryRow.kind == "deposit")
    .correlate(EntrantRow.__table__)
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class AccountEquity:
    """An account: what it was given, what it is worth and how much of that is in open positions.

    All is in millionths, and None before its first mark.
    """

    entrant_id: int
    cohort: int
    agent: str
    kind: str
    given: int
    total: int | None
    invested: int | None


ACCOUNT_EQUITY = (
    select_noun(
        AccountEquity,
        **PLACE,
        entrant_id=EntrantRow.id,
        given=func.coalesce(DEPOSITED, 0),
        total=MarkRow.cash + MarkRow.value,
        invested=MarkRow.value,
    )
    .select_from(joined(EntrantRow, CohortRow).outerjoin(MarkRow, clause(IS_LAST_MARK)))
    .order_by(CohortRow.number, EntrantRow.position)
)


def read_account_equity(connection: Connection, cohort: int | None = None) -> list[AccountEquity]:
    """All accounts or those of a cohort, the oldest cohort first, in line-up order."""
    wanted = ACCOUNT_EQUITY.where(IS_TRADING if cohort is None else CohortRow.number == cohort)
    owed = read_owed(connection)
    return [
        one
        if one.total is None or not (more := owed.get(one.entrant_id))
        else replace(one, total=one.total + more)
        for one in read_nouns(AccountEquity, connection.execute(wanted))
    ]


def read_profits(connection: Connection) -> dict[int, dict[str, int]]:
    """What each entrant of a cohort has made by its newest mark, by the cohort's number."""
    profits: dict[int, dict[str, int]] = defaultdict(dict)
    for one in read_account_equity(connection):
        if one.total is not None:
            profits[one.cohort][one.agent] = one.total - one.given
    return profits


EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_AT: BindParameter[datetime] = bindparam("first", type_=UtcTime())
LAST_AT: BindParameter[datetime] = bindparam("last", type_=UtcTime())
MOST_POINTS: BindParameter[int] = bindparam("most")
CURVE_TIMES: BindParameter[Sequence[datetime]] = bindparam("times", expanding=True)


@dataclass(frozen=True, slots=True)
class EquityPoint:
    """An account at one instant, in millionths: cash with open positions at mid."""

    agent: str
    at: datetime
    total: int


CURVE_LINE_UP = (
    select(EntrantRow.id, EntrantRow.name, EntrantRow.cohort_id)
    .join(CohortRow, EntrantRow.cohort_id == CohortRow.id)
    .where(CohortRow.number == bindparam("number"))
    .order_by(EntrantRow.position)
)
NEWEST_MARK_TIME = (
    select(MarkRow.at)
    .where(MarkRow.entrant_id == bindparam("entrant_id"))
    .order_by(col(MarkRow.at).desc())
    .limit(1)
)
NUMBERED_SNAPSHOTS = (
    select(
        SnapshotRow.at,
        (func.row_number().over(order_by=column_of(SnapshotRow.at)) - 1).label("place"),
        func.count().over().label("count"),
    )
    .where(
        SnapshotRow.cohort_id == bindparam("cohort_id"), SnapshotRow.at >= FIRST_AT, SnapshotRow.at <= LAST_AT
    )
    .subquery()
)
CURVE_STEP = (NUMBERED_SNAPSHOTS.c.place * (MOST_POINTS - 1)) // (NUMBERED_SNAPSHOTS.c.count - 1)
STEP_BEFORE = ((NUMBERED_SNAPSHOTS.c.place - 1) * (MOST_POINTS - 1)) // (NUMBERED_SNAPSHOTS.c.count - 1)
PICKED_TIMES = (
    select(NUMBERED_SNAPSHOTS.c.at)
    .where(
        or_(
            NUMBERED_SNAPSHOTS.c.place == 0,
            NUMBERED_SNAPSHOTS.c.count <= MOST_POINTS,
            CURVE_STEP > STEP_BEFORE,
        )
    )
    .order_by(NUMBERED_SNAPSHOTS.c.at)
)
"""Of the instants between two, `most` evenly by their place, the first and the last one among them."""
PICKED_MARKS = select(MarkRow.entrant_id, MarkRow.at, MarkRow.cash + MarkRow.value).where(
    col(MarkRow.entrant_id).in_(IDS), col(MarkRow.at).in_(CURVE_TIMES)
)


def read_equity_curves(
    connection: Connection, cohort: int, points: int = 2_000, back: timedelta | None = None
) -> list[EquityPoint]:
    """A cohort's accounts by time and in line-up order, so many points in all.

    `back` is how far to go from the newest mark; from the first one on without it.
    """
    line_up = connection.execute(CURVE_LINE_UP, {"number": cohort}).all()
    newest = connection.scalar(NEWEST_MARK_TIME, {"entrant_id": line_up[0].id}) if line_up else None
    if newest is None:
        return []
    first = EARLIEST if back is None else newest - back
    some = {
        "cohort_id": line_up[0].cohort_id, "first": first, "last": newest,
        "most": max(points // len(line_up), 2),
    }  # fmt: skip
    times = list(connection.scalars(PICKED_TIMES, some))
    place = {row.id: (number, row.name) for number, row in enumerate(line_up)}
    rows = connection.execute(PICKED_MARKS, {"ids": list(place), "times": times})
    found = [(at, *place[entrant], total) for entrant, at, total in rows]
    return [EquityPoint(agent=name, at=at, total=total) for at, _, name, total in sorted(found)]


FORECAST_OF_FILL = and_(
    ForecastRow.turn_id == TurnRow.id,
    ForecastRow.market_id == FillRow.market_id,
    ForecastRow.stage == "final",
    col(TurnRow.status).in_(USABLE_STATUSES),
)
TRADED_FILLS = (
    joined(FillRow, TurnRow, RoundRow, EntrantRow)
    .outerjoin(SnapshotItemRow, item_of(FillRow.market_id))
    .outerjoin(QuoteRow)
    .outerjoin(ForecastRow, clause(FORECAST_OF_FILL))
)
PRICE_COLUMNS = (QuoteRow.bid, QuoteRow.ask, QuoteRow.mid, QuoteRow.last)
FILL_COLUMNS = (
    FillRow.market_id,
    FillRow.side,
    FillRow.action,
    FillRow.shares,
    FillRow.amount,
    FillRow.fee,
    FillRow.base,
)

TimedTrade = tuple[datetime, Trade]
"""A trade and the time of its round."""


def read_trades(connection: Connection, cohort_id: int, until: datetime) -> dict[str, list[TimedTrade]]:
    """The trades of every entrant of a cohort up to a time, in the order in which they were made."""
    query = (
        select(EntrantRow.name, RoundRow.at, *FILL_COLUMNS, *PRICE_COLUMNS, ForecastRow.probability)
        .select_from(TRADED_FILLS)
        .where(RoundRow.cohort_id == cohort_id, RoundRow.at <= until)
        .order_by(RoundRow.at, FillRow.position)
    )
    trades: dict[str, list[TimedTrade]] = defaultdict(list)
    for row in connection.execute(query):
        trades[row.name].append((row.at, _trade(row)))
    return trades


def _trade(row: Any) -> Trade:
    """Without a mid: halfway between bid and ask, else the last trade, else what was paid."""
    buy, yes = row.action == "buy", row.side == "YES"
    gross = row.amount - row.fee if buy else row.amount + row.fee
    between = row.last if row.bid is None or row.ask is None else (row.bid + row.ask) // 2
    mid = between if row.mid is None else row.mid
    if mid is None:
        paid = gross * ONE // row.shares
        mid = paid if yes else ONE - paid
    return Trade(row.market_id, yes, buy, row.shares, gross, row.fee, mid, row.probability, row.base)


def read_payouts(connection: Connection, markets: Collection[str]) -> dict[tuple[str, int], int | None]:
    """What a YES share paid by each version of how these markets ended; None for a refund."""
    rows = connection.execute(
        select(ResolutionRow.market_id, ResolutionRow.version, ResolutionRow.payout)
        .where(col(ResolutionRow.market_id).in_(markets))
        .order_by(ResolutionRow.market_id, ResolutionRow.version)
    )
    return {(row.market_id, row.version): row.payout for row in rows}


def read_equity_by_mark(connection: Connection, cohort_id: int) -> dict[str, list[int]]:
    """What every entrant's account came to, mark by mark."""
    rows = connection.execute(
        select(EntrantRow.name, MarkRow.cash, MarkRow.value)
        .select_from(joined(MarkRow, EntrantRow))
        .where(EntrantRow.cohort_id == cohort_id)
        .order_by(MarkRow.at)
    )
    equity: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        equity[row.name].append(row.cash + row.value)
    return equity


def read_newest_pages(connection: Connection, markets: Collection[str] | None = None) -> list[Market]:
    """The newest page of these markets, or of all that were ever on offer to a cohort."""
    offered = select(SnapshotItemRow.market_id).distinct()
    wanted = col(MarketVersionRow.market_id).in_(offered if markets is None else markets)
    newest = select(func.max(MarketVersionRow.id)).where(wanted).group_by(MarketVersionRow.market_id)
    pages = select(col(MarketVersionRow.market_id).label("id"), *columns_of(MarketVersionRow, PAGE_FIELDS))
    rows = connection.execute(
        pages.where(col(MarketVersionRow.id).in_(newest)).order_by(MarketVersionRow.market_id)
    )
    return read_nouns(Market, rows)
