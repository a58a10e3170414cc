"""Settling a market by hand if its venue never says how it ended, and withdrawing that.

A decision is a version of the market's end, like any that a venue tells: sealed with the others, paid by the
next settlement, and corrected by the next version. The venue's own later word is such a version.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from arena.cohorts.schedule import TICK
from arena.errors import ArenaError
from arena.record.model.benchmark import FORECASTBENCH
from arena.record.model.cohort import REHEARSAL
from arena.record.queries.cohorts import read_cohorts, read_resolutions
from arena.record.queries.markets import (
    BEGINNING,
    find_market,
    read_listings_as_of,
    read_newest_instant,
    read_wanted_instant,
)
from arena.record.schema.cohort import SnapshotItemRow, SnapshotRow
from arena.record.schema.database import Connection
from arena.record.schema.statements import batches
from arena.record.schema.typed import IDS, col, func, joined, select
from arena.record.schema.world import SightingRow, SyncRow
from arena.record.write.operations import read_jobs
from arena.record.write.resolutions import insert_resolutions, read_forms
from arena.record.write.sync import markets_gone_since
from arena.rounds.settlement import LATEST, pay_ended_cohorts
from markets.distributions import form_of, read_outcome
from markets.millionths import ONE, millionths
from markets.model import DECIDED, WITHDRAWN, MarketId, Resolution

LONGEST_REASON = 500
PAYOUTS: dict[str, int | None] = {"50-50": ONE // 2, "refund": None}
"""Payouts that have a name."""
CALLED_OFF = "called off"
"""What a question came to that has no answer."""
_SHARE = re.compile(r"[01](\.[0-9]{1,6})?")


@dataclass(frozen=True, slots=True)
class HandSettlement:
    """What a person decides: what a YES share pays, None for a refund; or that a decision is `withdrawn`.

    Of a question that isn't of yes or no, `outcome` is what it came to, as text.
    """

    market_id: MarketId
    payout: int | None
    because: str
    withdrawn: bool = False
    outcome: str = ""


def settle_named_market(
    connection: Connection, name: str, decided: HandSettlement, now: datetime
) -> Resolution:
    """Find a market by its name, and write its settlement in the same transaction."""
    at = read_wanted_instant(connection, None, now)
    if REHEARSAL in read_jobs(connection):  # the record's time is a pretended one, not this machine's
        at = read_newest_instant(connection, BEGINNING) + TICK
    market = find_market(connection, name, at).listing.market.id
    return settle_by_hand(connection, replace(decided, market_id=market), at)


def check_reason(text: str) -> str:
    """Return a reason on one line; raise `ArenaError` if it is empty or can't be shown."""
    reason = " ".join(text.split())
    if not reason:
        raise ArenaError("no_reason", "the reason is empty", "say why: --because REASON", status=64)
    if len(reason) > LONGEST_REASON or not reason.isprintable():
        words = f"the reason has to be printable, and at most {LONGEST_REASON} characters long"
        raise ArenaError("bad_reason", words, "shorten it", status=64)
    return reason


def read_payout(text: str) -> int | None:
    """Return the payout of a YES share in millionths; None for a refund.

    >>> read_payout("0.25"), read_payout("50-50"), read_payout("refund")
    (250000, 500000, None)
    """
    name = text.strip().casefold()
    if name in PAYOUTS:
        return PAYOUTS[name]
    share = millionths(name) if _SHARE.fullmatch(name) else -1
    if not 0 <= share <= ONE:
        message = f"{text!r} is not what a YES share can pay"
        raise ArenaError("bad_payout", message, "give 0 to 1, such as 0.5; 50-50; or refund", status=64)
    return share


def settle_by_hand(connection: Connection, decision: HandSettlement, at: datetime) -> Resolution:
    """Write a settlement, and pay it to ended cohorts; the others are paid when they are next settled.

    Raise `ArenaError` where a person can't decide: in a world that is not live, on a market that is open, or
    on one whose venue has said how it ended.
    """
    market = decision.market_id
    _check_is_live(connection, market)

    known_ends = read_resolutions(connection, [market], LATEST)
    possible_ends = [end for end in known_ends if end.possible]
    newest = max(possible_ends, key=lambda end: end.version, default=None)
    answer = _read_answer(connection, decision)
    _check_may_settle(decision, answer, newest)
    if newest is None and market not in read_closed_since(connection, [market], at):
        hint = "arena run --sync reads the venue again; a market can be settled once it has closed"
        raise ArenaError("not_closed", f"{market} is open", hint)

    # The decision is the next version of the market's end.
    version = 1
    known_at = at
    if newest is not None:
        version = newest.version + 1
        known_at = max(newest.known_at, at)

    payout = decision.payout
    source = f"{DECIDED}{decision.because}"
    if decision.withdrawn:
        payout = None
        source = f"{WITHDRAWN}{decision.because}"

    resolution = Resolution(market, version, known_at, payout, source, answer)
    insert_resolutions(connection, [resolution], at)
    pay_ended_cohorts(connection, at)
    return resolution


def _check_is_live(connection: Connection, market: MarketId) -> None:
    """Raise `ArenaError` for a market that only its simulated or recorded world can resolve."""
    if market.startswith(f"{FORECASTBENCH}:"):
        message = f"{market} is a question of a benchmark, whose files resolve it"
        raise ArenaError("not_live", message, "arena study forecastbench board --fetch reads them")

    stamps = _read_stamps(connection, market)
    if stamps != {"live"}:
        world = "recorded" if "replay" in stamps else "simulated"
        message = f"{market} is from a {world} season, whose world alone says how its markets end"
        raise ArenaError("not_live", message, "only markets of a live venue are settled by hand")


def _read_answer(connection: Connection, decision: HandSettlement) -> str:
    """Return a question's outcome as the record stores it; empty if called off, or of yes or no.

    Raise `ArenaError` if the market has no such outcome.
    """
    if decision.withdrawn:
        return ""

    market = decision.market_id
    form = read_forms(connection, [market]).get(market)
    if form is None:
        if decision.outcome:
            message = f"{market} is a market of yes or no, which pays"
            raise ArenaError("bad_outcome", message, "give --payout: 0 to 1, 50-50, or refund")
        return ""

    outcome = decision.outcome.strip()
    if not outcome:
        message = f"no share of {market} is paid: its question is not of yes or no"
        raise ArenaError("bad_payout", message, f'give --outcome: what it came to, or "{CALLED_OFF}"')
    try:
        return read_outcome(form_of(form), outcome)
    except ValueError as error:
        if outcome.casefold() == CALLED_OFF:
            return ""
        message = f"{market} can't have come to {outcome[:40]!r}: {error}"
        raise ArenaError("bad_outcome", message, f'arena show market ID; or "{CALLED_OFF}"') from error


def _check_may_settle(decision: HandSettlement, answer: str, newest: Resolution | None) -> None:
    """Raise `ArenaError` if the market's newest resolution rules out a settlement by hand."""
    market = decision.market_id
    if newest is not None and not newest.by_hand:  # the venue has said how it ended
        message = f"{market} was settled by its venue ({newest.source or 'without a source'})"
        raise ArenaError("settled", message, "a venue's word is corrected by the venue alone")

    if newest is None or newest.withdrawn:
        if decision.withdrawn:
            raise ArenaError("no_decision", f"{market} has no decision to withdraw", "arena show market ID")
        return

    is_same = (newest.payout, newest.answer) == (decision.payout, answer)
    if is_same and not decision.withdrawn:
        message = f"{market} is settled so already, since {newest.known_at:%Y-%m-%d %H:%M} UTC"
        raise ArenaError("unchanged", message, "nothing was changed")


LAST_LOOKS = (
    select(SnapshotItemRow.market_id, func.max(SnapshotRow.taken_at).label("at"))
    .select_from(joined(SnapshotItemRow, SnapshotRow))
    .where(col(SnapshotItemRow.market_id).in_(IDS))
    .group_by(SnapshotItemRow.market_id)
)
"""When a snapshot last held each market, with a price or without."""
PRICE_DELAY = timedelta(hours=1)
"""How much older than a look at a market its newest price may be, while it is open."""


def read_closed_since(
    connection: Connection, ids: Sequence[MarketId], now: datetime
) -> dict[MarketId, datetime]:
    """Return the closing time of each of these markets that, as far as is known, can't be traded any more.

    A market is closed once its closing time has passed, or once it was looked at and had no price any more:
    a venue may close it early. It is closed since the later of its closing time and its newest price. What
    never had a price is open until its closing time.
    """
    looks = {}
    for batch in batches(ids):
        looks.update(dict(connection.execute(LAST_LOOKS, {"ids": batch}).all()))

    # What the newest catalogues no longer list was last looked at when they were read.
    gone = set(markets_gone_since(connection, BEGINNING))
    last_sync = connection.scalar(select(func.max(SyncRow.at)))

    closed = {}
    for listing in read_listings_as_of(connection, ids, now):
        market = listing.market
        priced_at = market.opens_at if listing.quote is None else listing.quote.at
        looked_at = looks.get(market.id, priced_at)
        if market.id in gone and last_sync is not None:
            looked_at = max(looked_at, last_sync)

        if market.closes_at <= now:
            closed[market.id] = max(market.closes_at, priced_at)
        elif listing.quote is not None and looked_at - priced_at > PRICE_DELAY:
            closed[market.id] = priced_at
    return closed


def _read_stamps(connection: Connection, market: MarketId) -> set[str]:
    """Return the stamps of a market, from the cohorts and catalogues that contain it."""
    snapshots = select(SnapshotRow.cohort_id).select_from(joined(SnapshotItemRow, SnapshotRow))
    cohort_ids = set(connection.scalars(snapshots.distinct().where(SnapshotItemRow.market_id == market)))
    stamps = {stored.cohort.stamp for stored in read_cohorts(connection) if stored.id in cohort_ids}

    syncs = select(SyncRow.stamp).select_from(joined(SightingRow, SyncRow))
    return stamps.union(connection.scalars(syncs.distinct().where(SightingRow.market_id == market)))
