"""A person's decision on how a market ended."""

from collections.abc import Iterator

from arena.cli.options import Options
from arena.cli.output import attributes, exact, minute, typed
from arena.clock import now
from arena.errors import ArenaError
from arena.record.write.operations import end_incidents
from arena.rounds.settled_by_hand import check_reason, read_payout, settle_named_market
from markets.millionths import ONE
from markets.model import Resolution


def settle_market(chosen: Options, market: str, payout: str | None, because: str, withdraw: bool) -> None:
    """Write a person's decision on how a market ended into the record, and answer with it."""
    reason = check_reason(because)
    if withdraw == (payout is not None):
        words = "give either --payout or --withdraw"
        raise ArenaError("no_payout", words, "a YES share pays 0 to 1, 50-50, or refund", status=64)
    paid = None if payout is None else read_payout(payout)

    with chosen.writing() as record:
        resolution = record.write_unfenced(settle_named_market, market, paid, reason, withdraw, now())
        about = f"{resolution.market_id}@"
        end_incidents(record.engine, "market_unsettled", resolution.known_at, about=about)

    data = attributes(resolution, "version", "known_at", "withdrawn", "source")
    data |= {"market": resolution.market_id, "because": resolution.reason}
    data |= {"payout": exact(resolution.payout), "refund": resolution.payout is None}
    chosen.answer(data, decision_page, resolution)


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
