"""A person's decision on how a market ended."""

import re
from collections.abc import Iterator

from arena.cli.markets import asked, named
from arena.cli.options import Options
from arena.cli.output import exact, minute, typed
from arena.cohorts.schedule import TICK
from arena.errors import ArenaError
from arena.record.model.cohort import REHEARSAL
from arena.record.queries.markets import BEGINNING, read_newest_instant
from arena.record.schema.database import Connection
from arena.record.write.operations import end_incidents, read_jobs
from arena.rounds.settled_by_hand import HandSettlement, settle_by_hand
from markets.millionths import ONE, millionths
from markets.model import Resolution

LONGEST_REASON = 500
PAYOUTS: dict[str, int | None] = {"50-50": ONE // 2, "refund": None}
"""Payouts that have a name."""
_SHARE = re.compile(r"[01](\.[0-9]{1,6})?")


def settle_market(chosen: Options, market: str, payout: str | None, because: str, withdraw: bool) -> None:
    """Write a person's decision on how a market ended into the record, and answer with it."""
    reason = check_reason(because)
    if withdraw == (payout is not None):
        words = "give either --payout or --withdraw"
        raise ArenaError("no_payout", words, "a YES share pays 0 to 1, 50-50, or refund", status=64)
    paid = None if payout is None else read_payout(payout)

    with chosen.writing() as record:
        resolution = record.write_unfenced(_decide, market, paid, reason, withdraw)
        about = f"{resolution.market_id}@"
        end_incidents(record.engine, "market_unsettled", resolution.known_at, about=about)

    data = {
        "market": resolution.market_id,
        "version": resolution.version,
        "known_at": resolution.known_at,
        "payout": exact(resolution.payout),
        "refund": resolution.payout is None,
        "withdrawn": resolution.withdrawn,
        "because": resolution.reason,
        "source": resolution.source,
    }
    chosen.answer(data, decision_page, resolution)


def _decide(
    connection: Connection, name: str, payout: int | None, reason: str, withdrawn: bool
) -> Resolution:
    """Find the market, and write the decision in the same transaction."""
    at = asked(connection, None)
    if REHEARSAL in read_jobs(connection):  # its time is not this machine's
        at = read_newest_instant(connection, BEGINNING) + TICK
    market = named(connection, name, at).listing.market.id
    return settle_by_hand(connection, HandSettlement(market, payout, reason, withdrawn), at)


def check_reason(text: str) -> str:
    """Return a reason on one line; an empty one, or one that can't be shown, is an error."""
    reason = " ".join(text.split())
    if not reason:
        raise ArenaError("no_reason", "the reason is empty", "say why: --because REASON", status=64)
    if len(reason) > LONGEST_REASON or not reason.isprintable():
        words = f"the reason has to be printable, and at most {LONGEST_REASON} characters long"
        raise ArenaError("bad_reason", words, "shorten it", status=64)
    return reason


def read_payout(text: str) -> int | None:
    """Return what a YES share pays, in millionths; None for a refund.

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


def decision_page(resolution: Resolution) -> Iterator[str]:
    """Yield what was decided, and what happens next."""
    market = resolution.market_id
    payout = resolution.payout
    if resolution.withdrawn:
        yield f"{market}: the decision is withdrawn; shares are refunded until it is settled anew."
    elif payout is None:
        yield f"{market} is settled by hand: everyone gets back what shares cost."
    else:
        no = exact(ONE - payout)
        yield f"{market} is settled by hand: a YES share pays ${exact(payout):g}, a NO share ${no:g}."
    yield f"Version {resolution.version}, known from {minute(resolution.known_at)} UTC: {resolution.reason}"
    yield f"Cohorts that go on are paid when they are settled next. Next: {typed(f'show market {market}')}"
