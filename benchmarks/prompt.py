"""What does it cost to build the standard prompt for 500 markets? Against a plain loop over the same strings.

python -m benchmarks.prompt
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from agents import text
from agents.answers.parse import parse_answer
from agents.demo.models import answer
from agents.model import Message, View
from agents.prompts import prompt
from agents.prompts.prompt import PromptPart, render
from agents.registry import HOME, prompt_text
from agents.text import tokens_of
from benchmarks.measure import Timed, options, report, row, timed
from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Quote, Snapshot
from portfolio.model import Holdings, Lot, Mark, Side
from portfolio.rules import REALISTIC

MARKETS, MOST_WORDS = 500, 250
SENTENCE = """the market resolves to Yes if an official source says so before 30 June 2026 (UTC), such as
https://example.org/news, otherwise it resolves to No."""
WORDS = [word.replace("such", "such\n") for word in SENTENCE.split()]
BET = prompt_text("bet", HOME)


@dataclass(frozen=True, slots=True)
class Case:
    """Something that is built or read, and how fast it should be, as a part of the reference's speed."""

    what: str
    build: Callable[[], object]
    wanted: float


def a_view() -> View:
    """500 markets with rules of up to 250 words, longer than what venues have on average; 20 are held."""
    rng = random.Random("prompts")
    now = datetime(2026, 1, 4, tzinfo=UTC)
    listings = tuple(_listing(number, now, rng) for number in range(MARKETS))
    lots: dict[tuple[MarketId, Side], Lot] = {
        (listing.market.id, "YES"): Lot(100 * ONE, 40 * ONE) for listing in listings[:20]
    }
    mark = Mark(now, 9_000 * ONE, 820 * ONE, 800 * ONE, 800 * ONE, 0, 0, 0)
    return View(Snapshot(now, listings), Holdings(cash=9_000 * ONE, lots=lots), mark, REALISTIC, seed=1)


def _listing(number: int, now: datetime, rng: random.Random) -> Listing:
    id = MarketId(f"example:{number}")
    rules = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(MOST_WORDS)))
    closes = now + timedelta(days=1 + number % 60)
    market = Market(id, id, f"Will {number} happen?", rules, "Weather", now, closes, fee_rate=20_000)
    bid = rng.randrange(10, 980) * 1_000
    return Listing(market, Quote(id, now, bid, bid + 10_000, bid + 5_000))


def joined(view: View) -> str:
    """The same strings in a plain loop: no account, no parts, no cuts, and no guard but the bars."""
    pages = []
    for number, listing in enumerate(view.snapshot.shown, 1):
        market, quote = listing.market, listing.quote
        if quote is not None and quote.mid is not None and quote.bid is not None and quote.ask is not None:
            mid, bid, ask, fee = (n / 1e6 for n in (quote.mid, quote.bid, quote.ask, market.fee_rate))
            lines = [f"| {line}" for line in f"{market.question}\n\n{market.rules}".splitlines()]
            pages.append(f"### m{number}\nCloses: {market.closes_at:%Y-%m-%d %H:%M} UTC\n"
                         f"Price: YES {mid:g} (bid {bid:g}, ask {ask:g})\nFee rate: {fee:.0%}")  # fmt: skip
            pages += lines
    return "\n".join(pages)


def cold(build: Callable[[], object]) -> Callable[[], object]:
    """The same with nothing kept of the round's texts, as the first agent of a round finds it."""

    def once() -> object:
        prompt._page_facts.cache_clear()
        text.tidy_lines.cache_clear()
        return build()

    return once


def by_cpu(work: Callable[[], object], repeat: int) -> Timed:
    """The time of a work that waits for nothing: other programs on the machine don't count."""
    cpu = timed(work, repeat=repeat).cpu
    return Timed(cpu, cpu)


def cases(view: View) -> list[Case]:
    third = tokens_of(render(BET, view).messages) // 3
    part = PromptPart(1, 5, tuple(listing.market.id for listing in view.snapshot.shown[:100]))
    reply = answer("sharp", [*render(BET, view).messages, Message("assistant", "?")], 1)
    return [
        Case("500 markets, the first agent of a round", cold(lambda: render(BET, view)), 0.2),
        Case("500 markets, every other agent", lambda: render(BET, view), 0.4),
        Case("cut to a third, the first agent", cold(lambda: render(BET, view, tokens=third)), 0.08),
        Case("cut to a third, every other agent", lambda: render(BET, view, tokens=third), 0.15),
        Case("a part with 100 of them", lambda: render(BET, view, part=part), 1.5),
        Case("an answer with 500 forecasts, read", lambda: parse_answer(reply, view), 0.5),
    ]


def main() -> None:
    settings = options(__doc__).parse_args()
    view = a_view()
    reference = by_cpu(lambda: joined(view), 50)
    rows, notes = [], [f"the prompt has {len(render(BET, view).messages[-1].content):,} characters"]
    for case in cases(view):
        took = by_cpu(case.build, 20)
        rows.append(row(case.what, took, "a plain loop", reference.per_second, case.wanted))
        notes.append(f"{case.what}: {took.cpu * 1_000:.1f} ms of CPU")
    report(rows, settings.json, notes)


if __name__ == "__main__":
    main()
