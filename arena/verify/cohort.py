"""What cohorts have frozen, read from their text without the code that wrote it.

A cohort while it is checked: what it froze, its line-up, its rounds, and what its snapshots list; a round
with what it was shown, and its turns one at a time; fills with all that they stand on.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

from sqlalchemy import bindparam

from arena.record.schema.cohort import EntrantRow, ReplacementRow, RoundRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.turn import (
    AttemptRow,
    FillLevelRow,
    FillRow,
    ForecastRow,
    RejectionRow,
    SecondQuoteRow,
    TurnRow,
)
from arena.record.schema.typed import clause, joined
from arena.record.schema.world import MarketVersionRow, QuoteRow
from arena.verify.differences import Row
from arena.verify.hashes import json_in
from arena.verify.reader import (
    RecordReader,
    RowPart,
    RowsByParent,
    RowsQuery,
    all_columns,
    moment,
    rows_of,
    rows_query,
    written,
)

ONE = 1_000_000
MOST_ROUNDS = 100_000
"""So many rounds of a cohort are looked for at most."""
SUNDAY = datetime.fromisoformat("1970-01-04T00:00:00+00:00")


@dataclass(frozen=True, slots=True)
class FrozenCohort:
    """A cohort as it was frozen. Limits of bets in millionths, ages and intervals in seconds."""

    number: int
    starts_at: str
    rounds: int
    every: int
    bankroll: int
    evidence: str
    stamp: str
    per_market: int
    prompts: tuple[str, ...]
    entrants: tuple[tuple[int, str, str, str], ...]
    fill: str
    fee: str
    cap: str
    base: str
    merge: bool
    extremes: bool
    min_bet: int
    max_bet: int
    worst_price: int
    max_spread: int
    max_gap: int
    max_quote_age: int
    max_of_volume: int | None = None
    max_of_volume_cohort: int | None = None
    fill_at: str = "snapshot"
    offset: int | None = None

    def decides_at(self, number: int) -> str | None:
        """When a round is decided; None where that is no time at all."""
        start = moment(self.starts_at)
        try:
            every = timedelta(seconds=self.every)
            if start and number > 1 and self.offset is not None and every:
                start -= (start - SUNDAY - timedelta(seconds=self.offset)) % every
            return written(start + (number - 1) * every) if start else None
        except OverflowError:
            return None

    def times(self) -> dict[str, int]:
        """When each round is decided."""
        numbers = range(1, min(self.rounds, MOST_ROUNDS) + 1)
        return {at: number for number in numbers if (at := self.decides_at(number)) is not None}

    def most(self, base: int) -> int:
        """The most that one bet may be, or all bets of a decision where those are capped together."""
        return max(0, min(base, base * self.max_bet // ONE))


def _kinds(*names: str) -> dict[str, type]:
    of_all = {field.name: field.type for field in fields(FrozenCohort)}
    return {name: int if of_all[name] == int | None else cast("type", of_all[name]) for name in names}


OWN = _kinds("number", "starts_at", "rounds", "every", "bankroll", "evidence", "stamp")
PARTS = {"rules": dict, "prompts": dict, "entrants": list, "guard": dict}
GUARD = _kinds("per_market")
RULES = _kinds("fill", "fee", "cap", "base", "merge", "extremes", "min_bet", "max_bet", "worst_price")
LIMITS = _kinds("max_spread", "max_gap", "max_quote_age")
DEPTH, WHOSE_PRICES = _kinds("max_of_volume", "max_of_volume_cohort"), _kinds("fill_at")
"""Rules that cohorts of earlier versions, and those with other rules of fills, are without."""
LINE_UP = {"position": int, "name": str, "kind": str, "settings": dict}


def frozen_of(text: str) -> FrozenCohort | None:
    """The cohort behind its frozen text; None when the text is not that of a cohort."""
    shape = json_in(text)
    timed = OWN | ({"offset": int} if isinstance(shape, dict) and "offset" in shape else {})
    own, parts = _shaped(shape, timed), _shaped(shape, PARTS)
    if own is None or parts is None or moment(own["starts_at"]) is None:
        return None
    limits = RULES | LIMITS
    for optional in (DEPTH, WHOSE_PRICES):
        limits |= optional if optional.keys() & parts["rules"].keys() else {}
    rules, guard = _shaped(parts["rules"], limits), _shaped(parts["guard"], GUARD)
    line_up = [_shaped(entrant, LINE_UP) for entrant in parts["entrants"]]
    prompts = tuple(prompt_hash for prompt_hash in parts["prompts"].values() if isinstance(prompt_hash, str))
    if rules is None or guard is None or len(prompts) < len(parts["prompts"]):
        return None
    entrants = [(e["position"], e["name"], e["kind"], _json(e["settings"])) for e in line_up if e]
    if not all(line_up):
        return None
    return FrozenCohort(**own, **rules, **guard, prompts=prompts, entrants=tuple(entrants))


def _shaped(value: Any, kinds: Mapping[str, type]) -> dict[str, Any] | None:
    """Some fields of an object, where they are all there and of their kinds."""
    if not isinstance(value, dict) or any(type(value.get(name)) is not kind for name, kind in kinds.items()):
        return None
    return {name: value[name] for name in kinds}


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


SnapshotItem = tuple[dict[str, Any], Row | None, Row | None]
"""A place in a snapshot: the item, the market's page and its quote."""

PAGE = RowPart(MarketVersionRow, "id", "market_id", "closes_at", "tick", "fee_rate", "min_shares", "hash")
BOOK = all_columns(QuoteRow)


OF_COHORT: Any = bindparam("cohort")
ENTRANTS = rows_of(EntrantRow, EntrantRow.cohort_id == OF_COHORT)
REPLACEMENTS = rows_query(
    joined(EntrantRow, ReplacementRow),
    ReplacementRow,
    where=EntrantRow.cohort_id == OF_COHORT,
    order=(ReplacementRow.entrant_id, ReplacementRow.round),
)
AFTER = SnapshotRow.id > bindparam("after")
SNAPSHOTS = rows_of(SnapshotRow, SnapshotRow.cohort_id == OF_COHORT, AFTER, order=[SnapshotRow.at])
ROUNDS = rows_of(RoundRow, RoundRow.cohort_id == OF_COHORT, order=[RoundRow.number])


def _listed(source: Any, first: Any, where: Any, *parts: RowPart, again: bool) -> RowsQuery:
    """Places in snapshots with the pages and quotes that were seen there, in order."""
    pages = source.outerjoin(MarketVersionRow, clause(MarketVersionRow.id == SnapshotItemRow.version_id))
    quotes = pages.outerjoin(QuoteRow, clause(QuoteRow.id == SnapshotItemRow.quote_id))
    order = first, SnapshotItemRow.position
    return rows_query(quotes, SnapshotItemRow, *parts, where=where, order=order, again=again)


PLACE = (
    RowPart(MarketVersionRow, "market_id", "hash"),
    RowPart(QuoteRow, "market_id", "at", "bid", "ask", "mid", "last", "hash"),
    RowPart(SnapshotRow, "at"),
)
"""What `ListedPlace` has of them: no books."""
PLACED, ITS_ID = joined(SnapshotRow, SnapshotItemRow), SnapshotItemRow.snapshot_id == bindparam("snapshot")
NEW = clause(SnapshotRow.cohort_id == OF_COHORT) & AFTER
LISTED = _listed(PLACED, SnapshotRow.at, NEW, *PLACE, again=False)
LISTED_ONCE = _listed(PLACED, SnapshotRow.at, ITS_ID, *PLACE, again=True)
LISTING = _listed(SnapshotItemRow.__table__, SnapshotItemRow.snapshot_id, ITS_ID, PAGE, BOOK, again=True)


@dataclass(frozen=True, slots=True)
class CheckedCohort:
    """A cohort: entrants by id, rounds in order; `frozen` is None where it can't be read.

    `replacements` are the settings that entrants took later, by their ids, in the order of rounds.
    """

    row: Row
    frozen: FrozenCohort | None
    entrants: dict[int, Row]
    rounds: tuple[Row, ...]
    replacements: dict[int, list[Row]]

    @property
    def id(self) -> int:
        """The id of its row."""
        return int(self.row["id"])

    def newest_replacement(self, entrant: int, number: int) -> Row | None:
        """What replaced an entrant's frozen settings last, by a round; None where nothing did."""
        rows = reversed(self.replacements.get(entrant, ()))
        return next((row for row in rows if row["round"] <= number), None)


def read_cohort(facts: RecordReader, row: Row) -> CheckedCohort:
    """The cohort of a row."""
    cohort_id = row["id"]
    entrants = {entrant["id"]: entrant for entrant in facts.rows(ENTRANTS, cohort=cohort_id)}
    replacements: dict[int, list[Row]] = {}
    for replacement in facts.rows(REPLACEMENTS, cohort=cohort_id):
        replacements.setdefault(replacement["entrant_id"], []).append(replacement)
    rounds = tuple(facts.rows(ROUNDS, cohort=cohort_id))
    return CheckedCohort(row, frozen_of(row["frozen"]), entrants, rounds, replacements)


class ListedPlace(NamedTuple):
    """A place in a snapshot, what is needed of the market's page and its quote, and when the snapshot was."""

    snapshot_id: int
    position: int
    market_id: str
    version_id: int
    quote_id: int | None
    quoted_at: str | None
    shown: int
    page_market: str | None
    page_hash: str | None
    quote_market: str | None
    quote_at: str | None
    bid: int | None
    ask: int | None
    mid: int | None
    last: int | None
    quote_hash: str | None
    at: str

    @property
    def item(self) -> Row:
        """The place alone."""
        return LISTED.own.row(self[:7])


def read_places(facts: RecordReader, query: RowsQuery, **values: int) -> Iterator[tuple[str, ListedPlace]]:
    """Places in snapshots, with the time of their snapshot."""
    make = ListedPlace._make
    return ((line[-1], make(line)) for line in facts.lines(query, **values) if line[-1] is not None)


def read_listing(facts: RecordReader, snapshot_id: int) -> tuple[SnapshotItem, ...]:
    """What one snapshot lists, with the books."""
    return tuple((item, page, price) for item, page, price in facts.read(LISTING, snapshot=snapshot_id))


OF_THE_ROUND: Any = bindparam("round")
TURNS = rows_of(TurnRow, TurnRow.round_id == OF_THE_ROUND, order=[TurnRow.entrant_id])
FAILURES = rows_query(
    AttemptRow, RowPart(AttemptRow, "entrant_id"), where=AttemptRow.round_id == OF_THE_ROUND, again=True
)


def _of_turns(source: Any, row: Any, *more: RowPart, first: Sequence[Any] = ()) -> RowsQuery:
    """The rows of a table that belong to a round's turns, by entrant."""
    order = (TurnRow.entrant_id, *first, *row.__table__.primary_key.columns)
    where = TurnRow.round_id == OF_THE_ROUND
    return rows_query(source, row, RowPart(TurnRow, "entrant_id"), *more, where=where, order=order)


FORECASTS = _of_turns(joined(TurnRow, ForecastRow), ForecastRow)
REJECTIONS = _of_turns(joined(TurnRow, RejectionRow), RejectionRow)
FILLS = _of_turns(joined(TurnRow, FillRow), FillRow, first=[FillRow.position])
SECOND = _of_turns(
    joined(TurnRow, SecondQuoteRow).outerjoin(
        QuoteRow.__table__, clause(QuoteRow.id == SecondQuoteRow.quote_id)
    ),
    SecondQuoteRow,
    BOOK,
)
LEVELS = _of_turns(joined(TurnRow, FillRow, FillLevelRow), FillLevelRow, first=[FillRow.position])


@dataclass(frozen=True, slots=True)
class CheckedRound:
    """A round of a cohort: its snapshot, None where that is missing, and the places in it."""

    cohort: CheckedCohort
    round: Row
    snapshot: Row | None
    places: tuple[SnapshotItem, ...]
    by_market: dict[str, SnapshotItem]

    @property
    def seen_at(self) -> str:
        """When the snapshot was looked at."""
        return str((self.snapshot and self.snapshot["taken_at"]) or self.round["at"])


@dataclass(frozen=True, slots=True)
class CheckedTurn:
    """A turn and what belongs to it; each fill with its levels, each second quote with its prices."""

    row: Row
    forecasts: list[Row]
    rejections: list[Row]
    second: list[tuple[Row, Row | None]]
    fills: list[tuple[Row, tuple[Row, ...]]]
    failed_before: bool


def read_round(facts: RecordReader, cohort: CheckedCohort, round_row: Row) -> CheckedRound:
    """A round as it was shown."""
    places = read_listing(facts, round_row["snapshot_id"])
    by_market = {place[0]["market_id"]: place for place in places}
    return CheckedRound(
        cohort, round_row, facts.find(SnapshotRow, round_row["snapshot_id"]), places, by_market
    )


def read_turns(facts: RecordReader, round_row: Row) -> Iterator[CheckedTurn]:
    """The turns of a round, entrant by entrant."""
    round_id = round_row["id"]
    forecasts, rejections, second, fills, levels = (
        RowsByParent(
            (turn["entrant_id"], (row, *prices) if prices else row)
            for row, turn, *prices in facts.read(query, round=round_id)
            if turn is not None
        )
        for query in (FORECASTS, REJECTIONS, SECOND, FILLS, LEVELS)
    )
    failed = {row["entrant_id"] for row in facts.rows(FAILURES, round=round_id)}
    for row in facts.rows(TURNS, round=round_id):
        who, parts = row["entrant_id"], dict[int, list[Row]]()
        for level in levels.of(who):
            parts.setdefault(level["fill_id"], []).append(level)
        deals = [(fill, tuple(parts.get(fill["id"], ()))) for fill in fills.of(who)]
        yield CheckedTurn(row, forecasts.of(who), rejections.of(who), second.of(who), deals, who in failed)


@dataclass(frozen=True, slots=True)
class CheckedFill:
    """A fill, its levels, and what it stands on. `listed` and `frozen` are None where they are missing.

    `seen_at` is when the prices were looked at: those of the snapshot, or the turn's second ones. `first` is
    the quote of the snapshot, in either case. A turn that had failed is filled at the worse of both: `other`
    is what it was not filled at.
    """

    fill: Row
    levels: tuple[Row, ...]
    turn: Row
    round: Row
    seen_at: str
    listed: SnapshotItem | None
    first: Row | None
    frozen: FrozenCohort | None
    other: SnapshotItem | None = None

    @property
    def buys(self) -> bool:
        """Whether it is a purchase."""
        return bool(self.fill["action"] == "buy")


def checked_fills(shown: CheckedRound, turn: CheckedTurn) -> list[CheckedFill]:
    """The fills of a turn, in order."""
    first, listed, seen_at = shown.by_market, shown.by_market, shown.seen_at
    if turn.second:
        seen_at = turn.second[0][0]["taken_at"]
        again = {row["market_id"]: (row, quote) for row, quote in turn.second}
        listed = {
            market: (item | {"quoted_at": again[market][0]["quoted_at"]}, page, again[market][1])
            for market, (item, page, _) in listed.items()
            if market in again
        }
    found = []
    for fill, levels in turn.fills:
        here, before, at = listed.get(fill["market_id"]), first.get(fill["market_id"]), seen_at
        other = before if turn.second and turn.failed_before else None
        quotes = [each and each[2] and each[2]["hash"] for each in (here, other)]
        if quotes[0] and fill["quote_hash"] == quotes[1] != quotes[0]:
            here, other, at = other, here, shown.seen_at
        quote = before[2] if before else None
        found.append(
            CheckedFill(fill, levels, turn.row, shown.round, at, here, quote, shown.cohort.frozen, other)
        )
    return found
