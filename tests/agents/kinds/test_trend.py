"""The two baselines for series: how often it moved so far before, and where its steps lead."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from random import Random
from statistics import NormalDist, mean, stdev

import pytest

from agents.kinds import naive, trend
from agents.model import Given, KindSettings
from markets.millionths import ONE
from markets.model import Listing
from markets.templates import AskingRule, SeriesQuestion, market_of, questions_on
from tests.agents.minds import a_view, nobody
from tests.builders import a_listing, result_of
from tests.series import DAY, a_series

FIRST = date(2026, 1, 1)
ASKED = date(2026, 3, 1)


def a_listing_of(values: list[float], template: str = "rise", shown: int = 100) -> Listing:
    """Return a question about a series that has a value for each day until the one before it is asked."""
    start = ASKED - len(values) * DAY
    rows = [(str(start + n * DAY), f"{value:.6f}", str(start + n * DAY)) for n, value in enumerate(values)]
    series = a_series(*rows)
    rule = AskingRule((template,), (7,), wait=30, shown=shown)
    [question] = questions_on(series, ASKED, rule)
    assert isinstance(question, SeriesQuestion)
    return Listing(market_of(question, series, rule), None)


def stated(kind: object, settings: KindSettings, *listings: Listing) -> list[float]:
    decide = kind.agent(settings, Given())  # type: ignore[attr-defined]
    decision = result_of(decide(a_view(*listings), nobody))
    assert [forecast.market_id for forecast in decision.forecasts] == [x.market.id for x in listings]
    return [forecast.probability for forecast in decision.forecasts]


def test_naive_counts_earlier_windows_of_the_same_length() -> None:
    # Of the windows of 8 days (from the day before to a week later), with nine values one has ended: it rose.
    rising = a_listing_of([1, 2, 3, 4, 5, 6, 7, 8, 9])
    few = a_listing_of([1, 2, 3])
    assert stated(naive, naive.Settings(), rising, few) == [0.666666, 0.5]


@pytest.mark.parametrize("template", ["rise", "rise-0.5", "rise-2pct", "fall", "above-103", "below-98.5"])
@pytest.mark.parametrize("seed", range(4))
def test_naive_and_trend_agree_with_a_second_hand(template: str, seed: int) -> None:
    chance = Random(seed)
    values = [100.0]
    for _ in range(59):
        values.append(round(values[-1] + chance.gauss(0.1, 1), 6))
    base = values[-1]
    days = 8
    way, _, figure = template.partition("-")
    amount = float(figure.removesuffix("pct") or 0)
    limit = {"rise": base + amount, "fall": base - amount}.get(way, amount)
    if template.endswith("pct"):
        limit = base * (1 + amount / 100)
    up = template.startswith(("rise", "above"))

    moves = [values[i + days] - values[i] for i in range(len(values) - days)]
    wanted = sum(move > limit - base if up else move < limit - base for move in moves)
    listing = a_listing_of(values, template)
    assert stated(naive, naive.Settings(), listing) == [
        pytest.approx((wanted + 1) / (len(moves) + 2), abs=2e-6)
    ]

    steps = [b - a for a, b in pairwise(values)]
    law = NormalDist(base + days * mean(steps), stdev(steps) * days**0.5)
    expected = 1 - law.cdf(limit) if up else law.cdf(limit)
    assert stated(trend, trend.Settings(), listing) == [
        pytest.approx(min(max(expected, 0.01), 0.99), abs=1e-4)
    ]


def test_naive_goes_by_rates_first_and_by_a_price_before_all() -> None:
    listing = a_listing_of([1, 2, 3, 4, 5, 6, 7, 8, 9])
    rates = naive.Settings(rates={"series": {7: 0.25}})
    assert stated(naive, rates, listing, a_listing(market="sim:rain", mid="0.40")) == [0.25, 0.4]


def test_trend_of_a_line_is_sure_within_bounds_and_without_values_it_knows_nothing() -> None:
    line = a_listing_of([float(n) for n in range(20)])
    flat = a_listing_of([5.0] * 20)
    unknown = a_listing(market="sim:rain", mid="0.40")
    assert stated(trend, trend.Settings(), line, flat, unknown) == [0.99, 0.01, 0.5]
    assert stated(trend, trend.Settings(), a_listing_of([1.0, 2.0])) == [0.5]
    assert trend.LIKELY[1] * ONE == 990_000


def test_only_what_is_shown_counts() -> None:
    """A baseline sees no more than any agent: with fewer values shown it says something else."""
    chance = Random(1)
    values = [chance.gauss(0, 1) for _ in range(60)]
    long = a_listing_of(values)
    short = a_listing_of(values, shown=12)
    assert stated(trend, trend.Settings(), long) != stated(trend, trend.Settings(), short)
    assert stated(trend, trend.Settings(), short) == stated(
        trend, trend.Settings(), a_listing_of(values[-12:])
    )


def test_gaps_between_values_count_as_their_days() -> None:
    rows = [
        ("2026-01-01", "1", "2026-01-01"),
        ("2026-01-05", "5", "2026-01-05"),
        ("2026-01-06", "6", "2026-01-06"),
    ]
    series = a_series(*rows)
    rule = AskingRule(("rise-5",), (7,), wait=30, shown=9)
    [question] = questions_on(series, date(2026, 1, 8), rule)
    assert isinstance(question, SeriesQuestion)
    market = market_of(question, series, rule)
    assert trend.chance_if_continued(market) == 990_000
    assert market.closes_at - market.opens_at == timedelta(days=7)
    assert market.opens_at == datetime(2026, 1, 8, tzinfo=UTC)
