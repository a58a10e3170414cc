"""Which markets a round shows."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markets.millionths import ONE
from markets.model import Listing, Market, MarketId, Quote
from markets.universe import Universe, draw

NOW = datetime(2026, 1, 4, tzinfo=UTC)
DAY = timedelta(days=1)


def a_rule(
    show: int = 40, per_event: int = 2, days: int = 60, min_volume: int = 10_000, cents: int = 5
) -> Universe:
    return Universe(
        show=show,
        per_event=per_event,
        closes_within=days * 86_400,
        min_volume=min_volume * ONE,
        max_spread=cents * 10_000,
    )


def a_listing(
    name: str = "a",
    event: str = "e",
    opens: timedelta = -DAY,
    closes: timedelta = 7 * DAY,
    volume: int = 20_000,
    bid: int | None = 400_000,
    ask: int | None = 420_000,
) -> Listing:
    market = Market(MarketId(f"test:{name}"), event, "?", "", "any", NOW + opens, NOW + closes)
    return Listing(market, Quote(market.id, NOW, bid, ask, 410_000, volume=volume * ONE))


def shown(*listings: Listing, rule: Universe | None = None) -> list[Listing]:
    return draw(listings, rule or a_rule(), seed=7, at=NOW)


def test_an_open_market_with_a_close_quote_is_shown() -> None:
    assert shown(a_listing()) == [a_listing()]


@pytest.mark.parametrize(
    "unfit",
    [
        a_listing(opens=timedelta(seconds=1)),
        a_listing(closes=timedelta(0)),
        a_listing(closes=60 * DAY + timedelta(seconds=1)),
        a_listing(volume=9_999),
        a_listing(bid=None),
        a_listing(ask=None),
        a_listing(bid=400_000, ask=450_001),
        a_listing(bid=420_000, ask=400_000),
        Listing(a_listing().market, None),
    ],
    ids=["not-open", "closed", "too-late", "thin", "no-bid", "no-ask", "wide", "crossed", "unquoted"],
)
def test_an_unfit_market_is_not_shown(unfit: Listing) -> None:
    assert shown(unfit) == []


@pytest.mark.parametrize(
    "fit",
    [
        a_listing(opens=timedelta(0)),
        a_listing(closes=timedelta(seconds=1)),
        a_listing(closes=60 * DAY),
        a_listing(volume=10_000),
        a_listing(bid=400_000, ask=450_000),
        a_listing(bid=400_000, ask=400_000),
    ],
    ids=["just-open", "last-second", "last-day", "volume", "spread", "locked"],
)
def test_the_edges_belong_to_the_rule(fit: Listing) -> None:
    assert shown(fit) == [fit]


def test_an_event_shows_no_more_than_its_share() -> None:
    crowd = [a_listing(str(n), "one") for n in range(5)] + [a_listing("other", "two")]
    assert Counter(x.market.event_id for x in shown(*crowd)) == {"one": 2, "two": 1}


def test_seeds_draw_differently_and_every_market_gets_its_turn() -> None:
    crowd = [a_listing(str(n), str(n)) for n in range(10)]
    turns = Counter(
        x.market.id for seed in range(400) for x in draw(crowd, a_rule(show=3), seed=seed, at=NOW)
    )
    assert len(turns) == 10
    assert all(80 < n < 160 for n in turns.values())  # 120 each, give or take four standard deviations


@st.composite
def crowds(drawn: st.DrawFn) -> list[Listing]:
    count = drawn(st.integers(0, 25))
    return [
        a_listing(
            str(n),
            event=drawn(st.sampled_from("abcdef")),
            opens=drawn(st.sampled_from([-DAY, DAY])),
            closes=drawn(st.integers(2, 90)) * DAY,
            volume=drawn(st.integers(0, 40_000)),
            ask=drawn(st.sampled_from([None, 410_000, 450_000, 480_000])),
        )
        for n in range(count)
    ]


@given(crowds(), st.randoms(use_true_random=False), st.integers(), st.integers(0, 8), st.integers(0, 3))
def test_the_draw_ignores_the_order_of_the_listings(
    crowd: list[Listing], rng: Random, seed: int, show: int, per_event: int
) -> None:
    rule = a_rule(show=show, per_event=per_event)
    shuffled = list(crowd)
    rng.shuffle(shuffled)
    assert draw(shuffled, rule, seed, NOW) == draw(crowd, rule, seed, NOW)


@given(crowds(), st.integers(), st.integers(0, 8), st.integers(1, 3))
def test_the_draw_shows_as_many_as_the_rule_lets_it(
    crowd: list[Listing], seed: int, show: int, per_event: int
) -> None:
    fit = [x for x in crowd if draw([x], a_rule(), seed, NOW)]
    room = sum(min(n, per_event) for n in Counter(x.market.event_id for x in fit).values())
    drawn = draw(crowd, a_rule(show=show, per_event=per_event), seed, NOW)
    assert len(drawn) == min(show, room)
    assert all(x in fit for x in drawn)
    assert len({x.market.id for x in drawn}) == len(drawn)
    assert drawn == sorted(drawn, key=lambda x: (x.market.event_id, x.market.id))


@given(crowds(), st.integers())
def test_one_market_more_pushes_out_one_at_most(crowd: list[Listing], seed: int) -> None:
    rule = a_rule(show=6, per_event=2)
    before = {x.market.id for x in draw(crowd, rule, seed, NOW)}
    after = {x.market.id for x in draw([*crowd, a_listing("new", "a")], rule, seed, NOW)}
    assert len(after - before) <= 1
