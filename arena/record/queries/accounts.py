"""Each entrant's money: its ledger, its holdings, its newest mark, and its worth over time.

Ledgers are read whole, or only as far as they are new: what was folded before is remembered. Of a curve the
instants are picked first, no more than are drawn, and the marks are then looked up one by one.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, func
from sqlmodel import or_

from arena.record.model.columns import AccountSummary
from arena.record.queries.cohorts import COHORT_ID, PLACE, read_of_cohorts, read_snapshot
from arena.record.queries.forecasts import read_frozen_rules
from arena.record.queries.settlements import LAST_MARK, read_owed
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.newest import PLAYED_SETTINGS
from arena.record.schema.turn import AttemptRow, CallRow, FillRow, TurnRow
from arena.record.schema.typed import (
    IDS,
    Condition,
    clause,
    col,
    columns_of,
    count,
    joined,
    read_objects,
    read_objects_by_key,
    select,
    select_fields,
    total,
)
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from arena.record.write.listings import PAGE_FIELDS
from markets.model import Market, MarketId, Snapshot
from portfolio.ledger import fold
from portfolio.model import Entry, Holdings
from portfolio.rules import BOOK, DEPTH_UNKNOWN, UNLIMITED


def read_accounts(connection: Connection, cohort: int | None = None) -> list[AccountSummary]:
    """Return every entrant of every cohort, in line-up order, with its money, its calls and its turns."""
    turns = _count_turns(connection)
    costs = _read_costs(connection)
    retried = dict(connection.execute(RETRIED).all())
    sold = dict(connection.execute(SALES).all())
    depths = read_depths(connection)
    tools = _read_tools(connection)
    rules = read_frozen_rules(connection)

    accounts = []
    for account in read_account_equity(connection, cohort):
        entrant_id = account.entrant_id
        own_turns = turns[entrant_id]
        has_money = rules[account.cohort].get("money", True)
        accounts.append(
            AccountSummary(
                agent=account.agent,
                kind=account.kind,
                cohort=account.cohort,
                bankroll=account.given,
                total=account.total if has_money else None,
                cost=costs.get(entrant_id, 0),
                turns=sum(own_turns.values()),
                malformed=own_turns["malformed"] + own_turns["declined"],
                failed=own_turns["failed"],
                late=own_turns["late"],
                retried=retried.get(entrant_id, 0),
                sold=sold.get(entrant_id, 0),
                depth=depths.get((account.cohort, account.agent), ""),
                tools=tools.get(entrant_id, ()),
                invested=account.invested if has_money else None,
            )
        )
    return accounts


LAST_FAILURES = (
    select(AttemptRow.round_id, AttemptRow.entrant_id, func.max(AttemptRow.number).label("failures"))
    .group_by(AttemptRow.round_id, AttemptRow.entrant_id)
    .subquery()
)
OF_TURN = (LAST_FAILURES.c.round_id == TurnRow.round_id) & (LAST_FAILURES.c.entrant_id == TurnRow.entrant_id)
RETRIED = (
    select(TurnRow.entrant_id, func.count())
    .join(LAST_FAILURES, OF_TURN)
    .where(or_(TurnRow.status != "failed", LAST_FAILURES.c.failures > 1))
    .group_by(TurnRow.entrant_id)
)
"""How many turns of each entrant were tried again after they had failed."""
SALES = (
    select(TurnRow.entrant_id, func.count())
    .from_joined(TurnRow, FillRow)
    .where(FillRow.action == "sell")
    .group_by(TurnRow.entrant_id)
)


TURN_COUNTS = select(TurnRow.entrant_id, TurnRow.status, func.count()).group_by(
    TurnRow.entrant_id, TurnRow.status
)


def _count_turns(connection: Connection) -> dict[int, dict[str, int]]:
    """Return the counts of each entrant's turns by status."""
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for entrant_id, status, turns in connection.execute(TURN_COUNTS):
        counts[entrant_id][status] = turns
    return counts


UNKNOWN_COSTS = count(CallRow.id) - count(CallRow.cost)
COSTS = select(CallRow.entrant_id, total(CallRow.cost), UNKNOWN_COSTS).group_by(CallRow.entrant_id)


def _read_costs(connection: Connection) -> dict[int, int | None]:
    """Return the cost of each entrant's calls; None if one is unknown, which is not 0."""
    costs: dict[int, int | None] = {}
    for entrant_id, cost, unknown_costs in connection.execute(COSTS):
        costs[entrant_id] = None if unknown_costs else cost
    return costs


SETTINGS_WITH_TOOLS = select(EntrantRow.id, PLAYED_SETTINGS).where(
    PLAYED_SETTINGS.element.contains('"tools"')
)


def _read_tools(connection: Connection) -> dict[int, tuple[str, ...]]:
    """Return the tools of each entrant that has any."""
    tools: dict[int, tuple[str, ...]] = {}
    for entrant_id, settings in connection.execute(SETTINGS_WITH_TOOLS):
        names = json.loads(settings).get("tools")
        if names:
            tools[entrant_id] = tuple(names)
    return tools


# An expression, so that SQLite scans a snapshot's few markets, not a market's many snapshots.
IS_FILLED = func.coalesce(SnapshotItemRow.market_id, "") == FillRow.market_id
QUOTES_OF_FILLS = (
    joined(QuoteRow, SnapshotItemRow)
    .join(RoundRow, clause(RoundRow.snapshot_id == SnapshotItemRow.snapshot_id))
    .join(TurnRow)
    .join(FillRow, IS_FILLED & clause(FillRow.turn_id == TurnRow.id))
    .join(joined(EntrantRow, CohortRow), clause(TurnRow.entrant_id == EntrantRow.id))
)
FILLED_AT_UNKNOWN_VOLUME = (
    select(CohortRow.number, EntrantRow.name)
    .select_from(QUOTES_OF_FILLS)
    .where(col(QuoteRow.volume).is_(None), col(CohortRow.number).in_(IDS))
    .distinct()
)
LINE_UPS = (
    select(CohortRow.number, EntrantRow.name)
    .from_joined(EntrantRow, CohortRow)
    .where(col(CohortRow.number).in_(IDS))
)


def read_depths(connection: Connection) -> dict[tuple[int, str], str]:
    """Return remarks on the depth of the markets traded, by cohort and agent."""
    capped_cohorts = []
    unlimited_cohorts = []
    for number, rules in read_frozen_rules(connection).items():
        if "max_of_volume" in rules:
            capped_cohorts.append(number)
        elif rules.get("fill", BOOK) != BOOK:
            unlimited_cohorts.append(number)

    # These cohorts cap bets by a market's volume, which may have been unknown.
    depths: dict[tuple[int, str], str] = {}
    if capped_cohorts:
        for number, agent in connection.execute(FILLED_AT_UNKNOWN_VOLUME, {"ids": capped_cohorts}):
            depths[number, agent] = DEPTH_UNKNOWN

    for number, agent in connection.execute(LINE_UPS, {"ids": unlimited_cohorts}):
        depths[number, agent] = UNLIMITED
    return depths


def read_cohort_depths(connection: Connection) -> dict[int, str]:
    """Return the remark on the depth of markets that holds for a cohort, by its number."""
    return {number: words for (number, _), words in read_depths(connection).items()}


IS_AGENT = EntrantRow.name == bindparam("agent")
ENTRY_COLUMNS = columns_of(EntryRow, Entry.__dataclass_fields__)
LEDGERS = (
    select(EntrantRow.name, *ENTRY_COLUMNS)
    .from_joined(EntrantRow, EntryRow)
    .where(EntrantRow.cohort_id == COHORT_ID)
    .order_by(EntrantRow.position, EntryRow.number)
)
LEDGER_OF = LEDGERS.where(IS_AGENT)


def read_ledgers(connection: Connection, cohort_id: int, agent: str | None = None) -> dict[str, list[Entry]]:
    """Return the ledger of every entrant in line-up order, or of one."""
    if agent is None:
        rows = connection.execute(LEDGERS, {"cohort_id": cohort_id})
    else:
        rows = connection.execute(LEDGER_OF, {"cohort_id": cohort_id, "agent": agent})
    return dict(read_objects_by_key(Entry, rows))


ENTRIES_AFTER = (
    select(EntryRow.entrant_id, *ENTRY_COLUMNS)
    .where(col(EntryRow.entrant_id).in_(IDS), EntryRow.number > bindparam("first"))
    .order_by(EntryRow.entrant_id, EntryRow.number)
)


def read_entries_after(connection: Connection, last_numbers: Mapping[int, int]) -> dict[int, list[Entry]]:
    """Return the entries of entrants, by id, that come after those up to a number."""
    # One query for all: entries that an entrant has already, but another lacks, are left out below.
    lowest = min(last_numbers.values(), default=0)
    rows = connection.execute(ENTRIES_AFTER, {"ids": list(last_numbers), "first": lowest})
    entries = read_objects_by_key(Entry, rows)

    later = {}
    for entrant_id, last_number in last_numbers.items():
        later[entrant_id] = [entry for entry in entries[entrant_id] if entry.number > last_number]
    return later


NEWEST_NUMBER = select(func.max(EntryRow.number)).where(EntryRow.entrant_id == EntrantRow.id)
LEDGER_HEADS = (
    select(EntrantRow.name, EntrantRow.id, NEWEST_NUMBER.scalar_subquery().label("number"))
    .where(EntrantRow.cohort_id == COHORT_ID)
    .order_by(EntrantRow.position)
)


NAMES: BindParameter[Any] = bindparam("names", expanding=True)
LEDGER_HEADS_OF = LEDGER_HEADS.where(col(EntrantRow.name).in_(NAMES))


def read_ledger_heads(
    connection: Connection, cohort_id: int, names: Collection[str] | None = None
) -> dict[str, tuple[int, int]]:
    """Return the id of every entrant, or of those named, and the number of its newest entry.

    They are in line-up order.
    """
    query = LEDGER_HEADS
    values: dict[str, Any] = {"cohort_id": cohort_id}
    if names is not None:
        query = LEDGER_HEADS_OF
        values["names"] = list(names)

    heads = {}
    for name, entrant_id, last_number in connection.execute(query, values):
        if last_number is not None:  # an entrant without an entry has no ledger yet
            heads[name] = (entrant_id, last_number)
    return heads


BEFORE_ANY_ENTRY = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class FoldedAccount:
    """An account, the time of the last entry folded into it, and the entries that come next.

    These are `sealed` if this process has written them: their hashes are its own.
    """

    account: Holdings = field(default_factory=Holdings)
    folded_until: datetime = BEFORE_ANY_ENTRY
    unfolded: list[Entry] = field(default_factory=list)
    sealed: bool = True

    @property
    def last_number(self) -> int:
        """Return the number of the last entry that is known."""
        return self.unfolded[-1].number if self.unfolded else self.account.number

    def append(self, entries: Sequence[Entry]) -> None:
        """Append entries; those that leave a gap are not appended, and will be read."""
        if entries and entries[0].number == self.last_number + 1:
            self.unfolded.extend(entries)

    def fold_all(self) -> Holdings:
        """Fold all known entries into the account, and return it."""
        if self.unfolded:
            self.account = fold(self.unfolded, self.account, sealed=self.sealed)
            self.folded_until = self.unfolded[-1].at
            self.unfolded = []
            self.sealed = True
        return self.account


@dataclass(frozen=True, slots=True)
class AccountCache:
    """The folded accounts of entrants, by id."""

    cached: dict[int, FoldedAccount] = field(default_factory=dict)

    def add_written(self, ledgers: Mapping[int, Sequence[Entry]]) -> None:
        """Add entries that this process has written."""
        for entrant_id, entries in ledgers.items():
            self.cached.setdefault(entrant_id, FoldedAccount()).append(entries)

    def outdated(self, last_numbers: Mapping[int, int]) -> dict[int, int]:
        """Return the entrants whose last known entry is not the last in the record, by its number.

        With each comes the number of the last entry that was folded, after which its ledger must be read.
        """
        folded_numbers = {}
        for entrant_id, last_number in last_numbers.items():
            cached = self.cached.setdefault(entrant_id, FoldedAccount())
            if cached.last_number != last_number:
                folded_numbers[entrant_id] = cached.account.number
        return folded_numbers

    def replace_unfolded(self, ledgers: Mapping[int, Sequence[Entry]]) -> None:
        """Replace the entries not folded yet by those in the record."""
        for entrant_id, entries in ledgers.items():
            cached = self.cached[entrant_id]
            cached.unfolded = list(entries)
            cached.sealed = False

    def holdings(self, entrant_ids: Iterable[int]) -> tuple[dict[int, Holdings], datetime]:
        """Return these accounts, and the time of the newest entry in them."""
        accounts = {}
        newest_entry_at = BEFORE_ANY_ENTRY
        for entrant_id in entrant_ids:
            cached = self.cached[entrant_id]
            accounts[entrant_id] = cached.fold_all()
            newest_entry_at = max(newest_entry_at, cached.folded_until)
        return accounts, newest_entry_at


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
    """Return a cohort at its newest mark, with all ledgers or one; None before the first mark."""
    is_wanted_entrant: list[Condition] = [EntrantRow.cohort_id == cohort_id]
    if agent is not None:
        is_wanted_entrant.append(EntrantRow.name == agent)

    newest_mark = select(func.max(MarkRow.at)).from_joined(MarkRow, EntrantRow).where(*is_wanted_entrant)
    at = connection.scalar(newest_mark)
    stored_snapshot = None if at is None else read_snapshot(connection, cohort_id, at)
    if at is None or stored_snapshot is None:
        return None

    ledgers = {}
    for name, entries in read_ledgers(connection, cohort_id, agent).items():
        ledgers[name] = [entry for entry in entries if entry.at <= at]

    # The newest version of a page comes last, so that its question counts.
    traded_markets = select(EntryRow.market_id).from_joined(EntryRow, EntrantRow).where(*is_wanted_entrant)
    pages = (
        select(MarketVersionRow.market_id, MarketVersionRow.question)
        .where(col(MarketVersionRow.market_id).in_(traded_markets))
        .order_by(MarketVersionRow.market_id, MarketVersionRow.version)
    )
    questions = {MarketId(market): question for market, question in connection.execute(pages)}
    _, snapshot = stored_snapshot
    return MarkedCohort(at, snapshot, ledgers, questions)


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
    select_fields(
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
    """Return all accounts or those of a cohort, the oldest cohort first, in line-up order."""
    owed = read_owed(connection)
    rows = read_of_cohorts(connection, ACCOUNT_EQUITY, cohort)

    accounts = []
    for account in read_objects(AccountEquity, rows):
        total = account.total
        if total is not None:
            total += owed.get(account.entrant_id, 0)
        accounts.append(replace(account, total=total))
    return accounts


def read_profits(connection: Connection) -> dict[int, dict[str, int]]:
    """Return the profits of each cohort's entrants by the newest mark, by the cohort's number."""
    profits: dict[int, dict[str, int]] = defaultdict(dict)
    for account in read_account_equity(connection):
        if account.total is not None:
            profits[account.cohort][account.agent] = account.total - account.given
    return profits


PAYOUTS = (
    select(ResolutionRow.market_id, ResolutionRow.version, ResolutionRow.payout)
    .where(col(ResolutionRow.market_id).in_(IDS))
    .order_by(ResolutionRow.market_id, ResolutionRow.version)
)


def read_payouts(connection: Connection, markets: Collection[str]) -> dict[tuple[str, int], int | None]:
    """Return what a YES share paid by each version of how these markets ended; None for a refund."""
    rows = connection.execute(PAYOUTS, {"ids": list(markets)})
    return {(market, version): payout for market, version, payout in rows}


def read_newest_pages(connection: Connection, markets: Collection[str] | None = None) -> list[Market]:
    """Return the newest page of these markets, or of all that were ever on offer to a cohort."""
    market_ids = select(SnapshotItemRow.market_id).distinct() if markets is None else markets
    newest_versions = (
        select(func.max(MarketVersionRow.id))
        .where(col(MarketVersionRow.market_id).in_(market_ids))
        .group_by(MarketVersionRow.market_id)
    )
    pages = (
        select(col(MarketVersionRow.market_id).label("id"), *columns_of(MarketVersionRow, PAGE_FIELDS))
        .where(col(MarketVersionRow.id).in_(newest_versions))
        .order_by(MarketVersionRow.market_id)
    )
    return read_objects(Market, connection.execute(pages))
