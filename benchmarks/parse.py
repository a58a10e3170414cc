"""What reading an answer costs: 500 forecasts, 20 bets and 20 sales, against json.loads of the same text.

python -m benchmarks.parse
"""

import json
import random
from datetime import UTC, datetime, timedelta

from agents.answers.parse import parse_answer
from agents.model import Decision, View
from benchmarks.measure import Measurement, options, report, row, timed
from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Quote, Snapshot
from portfolio.model import Holdings, Mark
from portfolio.rules import REALISTIC

NOW = datetime(2026, 1, 4, tzinfo=UTC)
MARKETS, WISHES = 500, 20
RUNS = 100  # short ones: the best of them was not interrupted
SLOWEST = 0.05
"""A twentieth of json.loads's speed: about 5 ms where json.loads takes a quarter of one."""


def a_listing(number: int) -> Listing:
    market = MarketId(f"bench:{number}")
    page = Market(market, f"e{number}", "Does it?", "If so.", "made up", NOW, NOW + timedelta(days=9))
    return Listing(page, Quote(market, NOW, 490_000, 510_000, 500_000))


def a_view() -> View:
    """500 markets and an account."""
    snapshot = Snapshot(NOW, tuple(a_listing(number) for number in range(MARKETS)))
    cash = 10_000 * ONE
    return View(snapshot, Holdings(cash=cash), Mark(NOW, cash, 0, 0, 0, 0, 0, 0), REALISTIC, seed=1)


def an_answer() -> str:
    """One as models give it: a probability for every market with a few words why, some bets and sales."""
    rng = random.Random("bench/parse")
    markets = [f"m{number}" for number in range(1, MARKETS + 1)]
    why = "two polls since May agree on it, and the base rate is low"
    wished = rng.sample(markets, 2 * WISHES)
    answer = {
        "forecasts": [{"market": m, "probability": rng.randint(1, 99) / 100, "reason": why} for m in markets],
        "bets": [{"market": m, "side": "YES", "amount": 120.5, "reason": why} for m in wished[:WISHES]],
        "sales": [{"market": m, "side": "NO", "fraction": "50%", "reason": why} for m in wished[WISHES:]],
    }
    return json.dumps(answer)


def compared(what: str, text: str, plain: str, view: View, rejected: int = 0) -> Measurement:
    """Reading this text against json.loads of what is plain JSON in it."""
    read = parse_answer(text, view)
    assert isinstance(read, Decision)
    assert len(read.rejections) == rejected
    ours = timed(lambda: parse_answer(text, view), repeat=RUNS)
    reference = timed(lambda: json.loads(plain), repeat=RUNS)
    return row(f"{what}: {ours.wall * 1000:.1f} ms", ours, "json.loads", reference.per_second, SLOWEST)


def main() -> None:
    as_json = options(__doc__).parse_args().json
    view, answer = a_view(), an_answer()
    wrapped = (
        f"<think>{'Let me see. ' * 2_000}{answer}</think>\nHere it is:\n```json\n{answer}\n```\nGood luck!"
    )
    as_text = json.dumps(json.loads(answer, parse_float=str))
    unknown = answer.replace('"m', '"x')
    report(
        [
            compared("500 forecasts, bare", answer, answer, view),
            compared("behind a long thought, in prose and a fence", wrapped, answer, view),
            compared("every number as text", as_text, as_text, view),
            compared(
                "nothing but unknown markets", unknown.replace('"xarket"', '"market"'), answer, view, 540
            ),
        ],
        as_json,
    )


if __name__ == "__main__":
    main()
