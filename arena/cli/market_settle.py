"""`arena admin settle`: settles a market by hand."""

from arena.cli.options import Options
from arena.cli.output import attributes, command_line, from_millionths, minute_text, plain
from arena.cli.page import Page
from arena.clock import now
from arena.errors import ArenaError
from arena.record.write.operations import end_incidents
from arena.rounds.settled_by_hand import (
    CALLED_OFF,
    HandSettlement,
    check_reason,
    read_payout,
    settle_named_market,
)
from markets.millionths import ONE
from markets.model import MarketId, Resolution


def settle_market(
    chosen: Options, market: str, payout: str | None, outcome: str | None, because: str, withdraw: bool
) -> None:
    """Write a manual settlement of a market into the record, and print it."""
    reason = check_reason(because)
    if [payout is not None, bool(outcome), withdraw].count(True) != 1:
        message = "give one of --payout, --outcome and --withdraw"
        hint = "a YES share pays 0 to 1, 50-50, or refund; a question comes to an option, a number or a date"
        raise ArenaError("no_payout", message, hint, status=64)
    yes_payout = None if payout is None else read_payout(payout)
    decided = HandSettlement(MarketId(market), yes_payout, reason, withdraw, outcome or "")

    with chosen.writing() as record:
        resolution = record.write_unfenced(settle_named_market, market, decided, now())
        about = f"{resolution.market_id}@"
        end_incidents(record.engine, "market_unsettled", resolution.known_at, about=about)

    data = attributes(resolution, "version", "known_at", "withdrawn", "source", "answer")
    data |= {"market": resolution.market_id, "because": resolution.reason}
    data |= {
        "payout": from_millionths(resolution.payout),
        "refund": resolution.payout is None and not outcome,
    }
    chosen.print_answer(data, decision_page, resolution, bool(outcome))


def decision_page(resolution: Resolution, is_question: bool) -> Page:
    """Yield the settlement and what happens next; only questions of yes or no pay anything."""
    market = resolution.market_id
    payout = resolution.payout
    if resolution.withdrawn:
        yield f"{market}: the decision is withdrawn; shares are refunded until it is settled anew."
    elif is_question:
        yield f"{market} is settled by hand: {plain(resolution.answer) or CALLED_OFF}."
    elif payout is None:
        yield f"{market} is settled by hand: everyone gets back what shares cost."
    else:
        no = from_millionths(ONE - payout)
        yield (
            f"{market} is settled by hand: a YES share pays ${from_millionths(payout):g}, a NO share ${no:g}."
        )

    yield (
        f"Version {resolution.version}, known from {minute_text(resolution.known_at)} UTC: "
        f"{resolution.reason}"
    )
    if not is_question:
        yield "Cohorts that go on are paid when they are settled next."
    yield f"Next: {command_line(f'show market {market}')}"
