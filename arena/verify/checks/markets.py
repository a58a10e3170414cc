"""Markets, their pages and quotes against the times at which somebody looked.

Stored prices one by one. Of nothing else is there as much, so that here a little haste pays.

The hash of a price is taken over JSON with an object for each level of the book. Where books are stored as
the arena writes them, those texts are made from the stored ones; else, and where one doesn't fit, by objects.

Snapshots and the places in them, which have to fit together and be as they were sealed.

How markets ended, as far as that can be right or wrong by itself.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby, islice, repeat
from operator import itemgetter
from typing import Any

from sqlalchemy import bindparam, exists, func

from arena.record.schema.cohort import CohortRow, RoundRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.typed import clause, col, column_of, joined, select
from arena.record.schema.world import (
    MarketRow,
    MarketVersionRow,
    QuarantineRow,
    QuoteRow,
    ResolutionRow,
    SyncRow,
)
from arena.verify.cohort import ONE, CheckedCohort, ListedPlace, frozen_of
from arena.verify.differences import Found, Row, RowDifference, check_numbers
from arena.verify.hashes import check_hash, hash_of, json_of, without
from arena.verify.reader import BATCH, RecordReader, RowPart, RowsQuery, all_columns, rows_of, rows_query

PLAYED_STAMPS = ("simulated", "replay")
"""Where no time passes, and a venue tells the whole story every time."""
SAW = "a snapshot or a sync saw it then"
PAGE = RowPart(MarketVersionRow, "id", "market_id", "version")
PAGES = rows_query(
    MarketVersionRow, PAGE, order=(MarketVersionRow.market_id, MarketVersionRow.version), again=True
)
OTHER_PAGE = rows_query(
    joined(MarketRow, MarketVersionRow),
    MarketRow,
    RowPart(MarketVersionRow, "id", "at"),
    where=clause(MarketVersionRow.version == 1) & clause(MarketVersionRow.at != MarketRow.first_seen_at),
)
PAGELESS = rows_of(MarketRow, ~exists(select(1).where(MarketVersionRow.market_id == MarketRow.id)))


def _from_then(column: Any, in_it: Any) -> tuple[Any, RowsQuery, RowsQuery]:
    """Rows first seen at a time of no snapshot with them and of no sync; and when they may have been."""
    column = column_of(column)
    source, own = (
        SnapshotItemRow.__table__.join(SnapshotRow, clause(SnapshotRow.id == SnapshotItemRow.snapshot_id)),
        column.table,
    )
    there = exists(select(1).select_from(source).where(in_it, SnapshotRow.taken_at == column).correlate(own))
    snapshots = select().select_from(source.join(own, clause(in_it))).where(own.c.id == bindparam("id"))
    first = RowsQuery(
        snapshots.order_by(SnapshotRow.taken_at).limit(1), RowPart(SnapshotRow, "taken_at"), again=True
    )
    unsynced = (
        select()
        .select_from(own.outerjoin(SyncRow, clause(SyncRow.at == column)))
        .where(col(SyncRow.id).is_(None))
    )
    return column, RowsQuery(unsynced.where(~there).order_by(own.c.id), all_columns(own)), first


FROM_THEN = (
    _from_then(MarketRow.first_seen_at, SnapshotItemRow.market_id == MarketRow.id),
    _from_then(
        MarketVersionRow.at,
        (SnapshotItemRow.market_id == MarketVersionRow.market_id)
        & (SnapshotItemRow.version_id == MarketVersionRow.id),
    ),
)
FIRST = rows_query(SyncRow, RowPart(SyncRow, "at"), order=[SyncRow.at], again=True, limit=1)
LAST = select(func.max(SyncRow.at)).scalar_subquery()
THERE = exists(
    select(1).where(SnapshotItemRow.quote_id == QuoteRow.id, SnapshotItemRow.quoted_at == QuoteRow.at)
)
EARLIER = exists(
    select(1).where(SnapshotItemRow.quote_id == QuoteRow.id, col(SnapshotItemRow.quoted_at) < QuoteRow.at)
)
FOLLOWED = exists(
    select(1)
    .select_from(SnapshotItemRow.__table__.join(MarketRow, clause(MarketRow.id == SnapshotItemRow.market_id)))
    .where(SnapshotItemRow.market_id == QuoteRow.market_id, MarketRow.first_seen_at <= QuoteRow.at)
)
"""Of markets in snapshots prices are read in between too, once they were first seen."""
UNSEEN = rows_of(QuoteRow, LAST.is_(None) | (QuoteRow.at > LAST), ~THERE, EARLIER | ~FOLLOWED)
"""Quotes newer than the last sync that were in no snapshot when they were true, nor read in between."""
TRUE = rows_query(
    SnapshotItemRow,
    RowPart(SnapshotItemRow, "quoted_at"),
    where=clause(SnapshotItemRow.quote_id == bindparam("id")) & col(SnapshotItemRow.quoted_at).is_not(None),
    order=[SnapshotItemRow.quoted_at],
    again=True,
    limit=1,
)


def check_markets(facts: RecordReader) -> Found:
    """Markets, pages and quotes from times at which nobody saw them, and pages that were lost."""
    for column, odd, first in FROM_THEN:
        for row in facts.rows(odd):
            seen = [*facts.rows(first, id=row["id"]), *facts.rows(FIRST)]
            at = min((at for times in seen for at in times.values()), default=None)
            yield row.differs(column.name, at, SAW)
    for row in facts.rows(UNSEEN):
        then = next((item["quoted_at"] for item in facts.rows(TRUE, id=row["id"])), None)
        why = "a snapshot saw it then" if then else "neither a snapshot nor a sync saw it"
        yield row.differs("at", then, why)
    for _, rows in groupby(facts.rows(PAGES), key=itemgetter("market_id")):
        yield from check_numbers(rows, "version", 1)
    for row, page in facts.read(OTHER_PAGE):
        yield row.differs("first_seen_at", page and page["at"], "its first page was seen then")
    for row in facts.rows(PAGELESS):
        yield row.differs("id", "that of a page", "a market was seen because it had one")


ADDED = {
    "liquidity": '"liquidity":%d,',
    "open_interest": '"open_interest":%d,',
    "volume_24h": ',"volume_24h":%d',
}
"""Figures that a price has only where they were asked for: the hash of one without them is taken so."""
PRICES = rows_of(QuoteRow, QuoteRow.id > bindparam("after"))


def check_prices(facts: RecordReader) -> Found:
    """Prices whose hash is not theirs."""
    lines, market = facts.lines(PRICES, after=facts.after(QuoteRow)), cache(json_of)
    while batch := list(islice(lines, BATCH)):
        for line, text in zip(batch, _sealed_texts(batch, market), strict=True):
            if not text or hash_of(text) != line[-1]:
                row = PRICES.own.row(line)
                yield from check_hash(row, _content(row), "it seals what the row says")


def _sealed_texts(batch: Sequence[Any], market: Callable[[str], str]) -> Iterator[str]:
    """What is sealed of prices, made from what is stored; empty where a book is written in another way.

    No two books come to the same text: they have no quotes, braces or lines but those that all have, so that
    each step here can be taken back.
    """
    _, markets, _, *figures, books, day, liquidity, interest, _ = zip(*batch, strict=True)
    text, count = "\n".join(("", *books, "")), len(batch)
    signs = {"\n": count + 1, '\n{"asks":[': count, "]}\n": count, '"': 4 * count, "{": count, "}": count}
    if any(text.count(sign) != there for sign, there in signs.items()):
        yield from repeat("", count)
        return
    text = text.replace(",", ',"shares":').replace('],"shares":[', '},{"price":')
    sides = text.replace("[[", '[{"price":').replace("]]", "}]").split("\n")[1:-1]
    told = (["null" if x is None else x for x in column] for column in figures)
    added = (
        ["" if x is None else form % x for x in column]
        for form, column in zip(ADDED.values(), (liquidity, interest, day), strict=True)
    )
    for name, side, bid, ask, mid, last, volume, liquid, held, traded in zip(
        markets, sides, *told, *added, strict=True
    ):
        asks, there, bids = side.partition('],"shares":"bids":[')
        yield there and (
            f'{{"ask":{ask},{asks[1:]}],"bid":{bid},"bids":[{bids[:-1]},"last":{last},{liquid}'
            f'"market_id":{market(name)},"mid":{mid},{held}"volume":{volume}{traded}}}'
        )


def _content(row: Row) -> dict[str, Any]:
    """The same as an object."""
    untold = [name for name in ADDED if row[name] is None]
    return without(row, "id", "at", "book", "hash", *untold) | _book(row["book"])


def _book(text: str) -> dict[str, Any]:
    """Both sides as the hash has them; whatever else the text says, or says twice, so that it can't fit."""
    try:
        pairs = json.loads(text, object_pairs_hook=tuple)
        book = dict(pairs)
        sides = {side: [{"price": p, "shares": s} for p, s in book[side]] for side in ("bids", "asks")}
    except (KeyError, TypeError, ValueError, RecursionError):
        return {"book": text}
    return sides if isinstance(pairs, tuple) and len(pairs) == len(sides) else {"book": text}


def check_snapshot(cohort: CheckedCohort, row: Row, places: Sequence[ListedPlace]) -> Found:
    """A snapshot that is not as it was sealed, or with places that don't fit together."""
    content = without(row, "id", "cohort_id", "catalogue", "hash") | {"cohort": cohort.row["number"]}
    content["items"] = [[x.market_id, x.page_hash, x.quote_hash, x.quoted_at, x.shown] for x in places]
    yield from check_hash(row, content, "it seals the snapshot and each snapshot_item in it")
    if [x.position for x in places] != list(range(len(places))):
        yield from check_numbers([x.item for x in places], "position", 0)
    for x in places:
        if x.page_market != x.market_id and x.page_market is not None:
            yield _of_another(x.item, "version_id", x.page_market)
        quoted = x.quoted_at
        fits = quoted is None if x.quote_id is None else quoted is not None and quoted >= (x.quote_at or "")
        if not fits or (x.quote_market != x.market_id and x.quote_market is not None):
            yield from check_quoted(x.item, x.quote_market, x.quote_at)
        if x.shown not in (0, 1):
            yield x.item.differs("shown", "0 or 1", "a market is on offer or it is not")


def check_quoted(row: Row, market: str | None, quote_at: str | None) -> Found:
    """A row with another market's quote, or with one before its time; or with a time for none."""
    if market is not None and market != row["market_id"]:
        yield _of_another(row, "quote_id", market)
    if quote_at is not None and row["quoted_at"] is not None and row["quoted_at"] < quote_at:
        why = "a price is true from when it was first seen"
        yield row.differs("quoted_at", f"{quote_at} or later", why)
    if (row["quote_id"] is None) != (row["quoted_at"] is None):
        yield row.differs("quoted_at", "a time for a quote", "each comes with the other")


def _of_another(row: Row, column: str, market: str) -> RowDifference:
    return row.differs(column, f"one of {row['market_id']}", f"that is one of {market}")


RESOLUTIONS = rows_of(ResolutionRow)
COHORT_TEXTS = rows_query(CohortRow, RowPart(CohortRow, "id", "frozen"), again=True)
LISTED_BY = rows_query(
    joined(SnapshotItemRow, SnapshotRow),
    RowPart(SnapshotRow, "cohort_id"),
    where=SnapshotItemRow.market_id == bindparam("market"),
    again=True,
)
LISTED_BEFORE = exists(
    select(1)
    .select_from(joined(SnapshotItemRow, SnapshotRow))
    .where(
        SnapshotItemRow.market_id == ResolutionRow.market_id,
        SnapshotRow.cohort_id == RoundRow.cohort_id,
        SnapshotRow.at < RoundRow.at,
    )
)
PASSED_ROUNDS = rows_query(
    ResolutionRow.__table__.join(
        RoundRow.__table__,
        clause((RoundRow.at >= ResolutionRow.known_at) & (RoundRow.at < ResolutionRow.learnt_at)),
    ),
    ResolutionRow,
    RowPart(RoundRow, "cohort_id", "at"),
    where=clause(ResolutionRow.version == 1) & LISTED_BEFORE,
    order=(ResolutionRow.id, RoundRow.at),
    again=True,
)
"""Rounds that began between when an end could be known and when it was learnt, of cohorts that asked for it.

Of corrections that is not looked at: how long these are asked for, the config says, not the record.
"""
OUTAGES = rows_query(QuarantineRow, QuarantineRow, where=QuarantineRow.kind == "page", again=True)
"""Venues that gave no answer, each from the first time until the last."""
TOLD_THEN = "a simulated or recorded venue tells every end as soon as it is known"


def check_learnt(facts: RecordReader) -> Found:
    """Find ends of simulated or recorded markets that were learnt before they were known, or too late.

    Each round asks how the markets ended that its cohort has seen. An end that was learnt later than at the
    first round after it was known was hidden from that round, or read at a time that the season had not
    reached.
    """
    stamps = {row["id"]: _stamp_of(row) for row in facts.rows(COHORT_TEXTS)}
    if not any(stamp in PLAYED_STAMPS for stamp in stamps.values()):
        return
    for row in facts.rows(RESOLUTIONS):
        if row["learnt_at"] < row["known_at"]:
            places = facts.rows(LISTED_BY, market=row["market_id"])
            cohorts = {place["cohort_id"] for place in places}
            if cohorts and all(stamps.get(cohort) in PLAYED_STAMPS for cohort in cohorts):
                yield row.differs("learnt_at", f"{row['known_at']} or later", TOLD_THEN)
    outages = list(facts.rows(OUTAGES))
    seen = set[int]()
    for row, passed in facts.read(PASSED_ROUNDS):
        if passed is None or row["id"] in seen or stamps.get(passed["cohort_id"]) not in PLAYED_STAMPS:
            continue
        if not _was_away(row["market_id"], passed["at"], outages):
            seen.add(row["id"])
            yield row.differs("learnt_at", f"{passed['at']} or earlier", TOLD_THEN)


def _stamp_of(row: Row) -> str | None:
    frozen = frozen_of(row["frozen"])
    return None if frozen is None else frozen.stamp


def _was_away(market: str, at: str, outages: Sequence[Row]) -> bool:
    """Return whether the venue of a market may have given no answer at an instant."""
    venue = market.partition(":")[0]
    return any(row["venue"] == venue and row["first_seen_at"] <= at <= row["last_seen_at"] for row in outages)


def check_resolutions(facts: RecordReader) -> Found:
    """Payouts that no share can have, and versions that nobody counts."""
    yield from check_learnt(facts)
    for row in facts.rows(RESOLUTIONS):
        if row["payout"] is not None and not 0 <= row["payout"] <= ONE:
            why = "a share pays 0 to 1"
            yield row.differs("payout", f"0 to {ONE}, or nothing", why)
        if row["version"] < 1:
            yield row.differs("version", "1 or more", "versions are counted from 1")
