"""The sizes of fills against the cohort's rules, turn by turn."""

from collections.abc import Iterator, Sequence

from arena.store.tables import FILL
from arena.store.verify.deals import Deal
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import Frozen
from arena.store.verify.naming import compared, differs, numbered
from arena.store.verify.parts import Row


def check_sizes(facts: Facts, deals: Sequence[Deal]) -> Iterator[Difference]:
    """Fills with a wrong base, or outside the limits."""
    yield from numbered(facts, FILL, [deal.fill for deal in deals], "position", 0)
    for deal in deals:
        yield from _filled(facts, deal)
    if deals and (frozen := deals[0].frozen) is not None:
        yield from _bases(facts, deals, frozen)
        yield from _limits(facts, deals, frozen)


def _filled(facts: Facts, deal: Deal) -> Iterator[Difference]:
    fill, got = deal.fill, deal.fill["amount"] if deal.buys else deal.fill["shares"]
    if fill["action"] not in ("buy", "sell"):
        yield differs(facts, FILL, fill, "action", "buy or sell", "there is no other")
    if got > fill["wanted"]:
        yield differs(facts, FILL, fill, "wanted", f"{got} or more", "nobody gets more than is wanted")
    if (got < fill["wanted"]) != bool(fill["left"]):
        expected = "a reason" if got < fill["wanted"] else ""
        yield differs(facts, FILL, fill, "left", expected, "it tells what was left, where something was")


def _bases(facts: Facts, together: Sequence[Deal], frozen: Frozen) -> Iterator[Difference]:
    """The cash that caps are measured by: that before the turn, or as it runs through the bets."""
    cash = base = together[0].turn["cash"]
    if frozen.base == "running":
        base += sum(deal.fill["amount"] for deal in together if not deal.buys)
    for deal in together:
        expected = {"base": (base if deal.buys else cash, "it is the cash that the rules measure by")}
        yield from compared(facts, FILL, deal.fill, expected)
        if deal.buys and frozen.base == "running":
            base -= deal.fill["amount"]


def _limits(facts: Facts, together: Sequence[Deal], frozen: Frozen) -> Iterator[Difference]:
    bought = [deal.fill for deal in together if deal.buys]
    for fill in bought:
        least, most = frozen.min_bet, frozen.most(fill["base"])
        if fill["wanted"] < least or (frozen.cap == "bet" and fill["wanted"] > most):
            yield differs(facts, FILL, fill, "wanted", f"{least} to {most}", "so the limits were frozen")
    total, limit = sum(fill["wanted"] for fill in bought), _together(bought, frozen)
    if limit is not None and total > limit:
        why = f"all bets of the turn are {total}, and {limit} may be bet"
        yield differs(facts, FILL, bought[-1], "wanted", f"{total - limit} less", why)


def _together(bought: list[Row], frozen: Frozen) -> int | None:
    """The most that all bets of a turn may come to; None where nothing says so but each one's own cap."""
    if not bought or (frozen.cap != "decision" and frozen.base != "start"):
        return None
    cash = int(bought[0]["base"])
    return frozen.most(cash) if frozen.cap == "decision" else cash
