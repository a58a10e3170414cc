"""The sentences of a prompt that depend on the rules, on the part that is asked, and on what was cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markets.model import MarketId
from portfolio.money import dollars, worth
from portfolio.rules import Rules


@dataclass(frozen=True, slots=True)
class Part:
    """One of several parts in which a question is asked: its markets, of those on offer.

    `committed` is what the answers to earlier parts have bet.
    """

    number: int
    parts: int
    markets: tuple[MarketId, ...]
    committed: int = 0


def minute(at: datetime) -> str:
    """A time as prompts write it: 2026-01-04 12:00 UTC."""
    return f"{at.isoformat(' ', 'minutes')[:16]} UTC"


def these(ids: Sequence[str]) -> str:
    """How many markets are asked about, and which.

    >>> these(["m1", "m2", "m3"]), these(["m1", "m3"]), these([])
    ('3 of them, m1 to m3', '2 of them: m1, m3', 'there are none')
    """
    if not ids:
        return "there are none"
    first, last = int(ids[0][1:]), int(ids[-1][1:])
    if last - first + 1 == len(ids):
        return f"{len(ids)} of them, {ids[0]} to {ids[-1]}"
    return f"{len(ids)} of them: {', '.join(ids)}"


def part_line(part: Part | None, on_offer: int) -> str:
    """That a question is only a part of one, where it is."""
    if part is None or part.parts == 1:
        return ""
    return (
        f"Part {part.number} of {part.parts}: of the {on_offer} markets on offer, this part is about "
        f"{len(part.markets)}. You are asked about the others separately."
    )


def cut_line(longest: int | None) -> str:
    """That texts were cut, where they were."""
    if longest is None:
        return ""
    return f"Long texts are cut to their first {longest:,} characters so that all fit: [cut: …] says where."


def fixed(rules: Rules) -> bool:
    """Whether the largest bet is measured by the cash at the start, whatever was bet since."""
    return rules.base == "start" or rules.cap == "decision"


def most(cash: int, committed: int, rules: Rules) -> int:
    """The most that can still be bet at once."""
    left = max(cash - committed, 0)
    cap = worth(cash if fixed(rules) else left, rules.max_bet)
    return max(min(cap - committed if rules.cap == "decision" else cap, left), 0)


def prices_line(rules: Rules, prices: bool) -> str:
    """At which prices orders are filled, and which markets take none."""
    refused = (
        f"Where bid and ask are more than {dollars(rules.max_spread)} apart, or only one is there, no order "
        "is taken."
    )
    if not prices:
        return f"Prices are not shown to you, but every bet and sale is made at the market's price. {refused}"
    if rules.fill == "mid":
        return f"You buy and sell at the YES price shown, whatever the size. {refused}"
    return (
        "You buy at the ask and sell at the bid, so you pay the spread. Large orders get worse prices, by up "
        f"to {dollars(rules.worst_price)} a share; what is left then is not filled. {refused}"
    )


def fee_line(rules: Rules) -> str:
    """What is charged."""
    if rules.fee == "none":
        return "There are no fees."
    return "Where a market has a fee rate, the fee is rate × shares × price × (1 − price), part of your bet."
