"""Which markets a round shows."""

import hashlib
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markets.millionths import ONE
from markets.model import Level, Listing, Market, MarketId, Quote
from markets.universe import (
    Stratum,
    Universe,
    draw,
    expected_ends_a_month,
    passes,
    stratum,
    sure_ends_a_month,
)

NOW = datetime(2026, 1, 4, tzinfo=UTC)
DAY = timedelta(days=1)


ALL: tuple[Stratum, ...] = ("price", "horizon", "category")


def a_rule(
    show: int = 40,
    per_event: int = 2,
    days: int = 60,
    min_volume: int = 10_000,
    cents: int = 5,
    **others: Any,
) -> Universe:
    return Universe(
        show=show,
        per_event=per_event,
        closes_within=days * 86_400,
        min_volume=min_volume * ONE,
        max_spread=cents * 10_000,
        **others,
    )


def a_listing(
    name: str = "a",
    event: str = "e",
    opens: timedelta = -DAY,
    closes: timedelta = 7 * DAY,
    volume: int = 20_000,
    bid: int | None = 400_000,
    ask: int | None = 420_000,
    mid: int | None = 410_000,
    category: str = "any",
    asks: tuple[Level, ...] = (),
    bids: tuple[Level, ...] = (),
) -> Listing:
    market = Market(MarketId(f"test:{name}"), event, "?", "", category, NOW + opens, NOW + closes)
    quote = Quote(market.id, NOW, bid, ask, mid, volume=volume * ONE, asks=asks, bids=bids)
    return Listing(market, quote)


def a_price(name: str = "a", mid: int = 410_000, **others: Any) -> Listing:
    """Return a market of which only a price is known."""
    return a_listing(name, bid=None, ask=None, mid=mid, **others)


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
        a_price(),
    ],
    ids=["not-open", "closed", "late", "thin", "no-bid", "no-ask", "wide", "crossed", "unquoted", "priced"],
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


ASKS = (Level(420_000, 500 * ONE), Level(430_000, 1_000 * ONE))  # $210 and $430 for YES
BIDS = (Level(400_000, 1_000 * ONE),)  # $600 for NO, at 60 cents
BOOK = a_listing(asks=ASKS, bids=BIDS)


@pytest.mark.parametrize(
    ("rule", "fit", "unfit"),
    [
        (a_rule(closes_after=86_400), a_listing(closes=DAY), a_listing(closes=DAY - timedelta(seconds=1))),
        (a_rule(min_price=410_000), a_listing(), a_listing(mid=409_999)),
        (a_rule(max_price=410_000), a_listing(), a_listing(mid=410_001)),
        (a_rule(categories=("Sport",)), a_listing(category="sport"), a_listing(category="sports")),
        (a_rule(not_categories=("Sport",)), a_listing(category="sports"), a_listing(category="SPORT")),
        (a_rule(min_depth=600 * ONE), BOOK, a_listing(asks=ASKS[:1], bids=BIDS)),
        (a_rule(min_depth=600 * ONE), BOOK, a_listing(asks=ASKS)),
        (a_rule(price_only=True), a_price(), a_listing(bid=None)),
        (a_rule(price_only=True, cents=0), a_price(), a_listing()),
        (a_rule(price_only=True, min_depth=10**6 * ONE), a_price(), BOOK),
        (a_rule(price_only=True, max_price=400_000), a_price(mid=400_000), a_price(mid=400_001)),
    ],
    ids=[
        "soonest", "min-price", "max-price", "category", "not-category", "depth", "one-sided-book",
        "price-only", "no-spread-known", "no-depth-known", "price-only-in-band",
    ],
)  # fmt: skip
def test_each_key_of_the_rule_decides(rule: Universe, fit: Listing, unfit: Listing) -> None:
    assert passes(fit, rule, NOW)
    assert not passes(unfit, rule, NOW)


def test_without_a_book_depth_is_not_known_and_does_not_matter() -> None:
    assert passes(a_listing(), a_rule(min_depth=10**6 * ONE), NOW)


def test_a_quote_without_a_mid_is_not_shown() -> None:
    assert shown(a_listing(mid=None)) == []


@pytest.mark.parametrize(
    ("listing", "named"),
    [
        (a_listing(mid=99_999, closes=7 * DAY), "price 0, horizon 0, category any"),
        (a_listing(mid=100_000, closes=7 * DAY + timedelta(seconds=1)), "price 1, horizon 1, category any"),
        (a_listing(mid=500_000, closes=30 * DAY, category="Sport"), "price 2, horizon 1, category sport"),
        (a_listing(mid=899_999, closes=90 * DAY), "price 3, horizon 2, category any"),
        (a_listing(mid=900_000, closes=91 * DAY), "price 4, horizon 3, category any"),
    ],
)
def test_a_stratum_is_named_by_bands_and_category(listing: Listing, named: str) -> None:
    assert stratum(listing, ALL, NOW) == named
    assert stratum(listing, ("category", "price"), NOW) == named.replace(named.split(", ")[1] + ", ", "")
    assert stratum(listing, (), NOW) == ""


def lot(name: str) -> bytes:
    return hashlib.sha256(f"7/{name}".encode()).digest()


def test_strata_take_turns_as_worked_out_by_hand() -> None:
    """Sport has a (its event e), b (e) and c; art has d; law has f (e). Two of an event, four in all."""
    crowd = [
        a_listing("a", "e", category="sport"),
        a_listing("b", "e", category="sport"),
        a_listing("c", "other", category="sport"),
        a_listing("d", "another", category="art"),
        a_listing("f", "e", category="law"),
    ]
    names = sorted(["sport", "art", "law"], key=lambda name: lot(f"stratum category {name}"))
    assert names == ["art", "sport", "law"]
    assert sorted("abc", key=lambda name: lot(f"test:{name}")) == ["c", "b", "a"]
    # art: d; sport: c; law: f; art is used up; sport: b; law is used up. a stays out: e is full.
    for show, drawn in ((1, "d"), (2, "cd"), (3, "cdf"), (4, "bcdf"), (5, "bcdf")):
        found = shown(*crowd, rule=a_rule(show=show, strata=("category",)))
        assert sorted(x.market.id for x in found) == [f"test:{name}" for name in drawn]


def test_when_there_are_more_strata_than_places_each_gets_its_turn() -> None:
    crowd = [a_listing(str(n), str(n), category=str(n // 3)) for n in range(30)]
    rule = a_rule(show=3, strata=("category",))
    turns = Counter(x.market.category for seed in range(400) for x in draw(crowd, rule, seed, NOW))
    assert len(turns) == 10
    assert all(80 < n < 160 for n in turns.values())  # 120 each, give or take four standard deviations


STRATA = st.lists(st.sampled_from(ALL), unique=True).map(tuple)


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
            mid=drawn(st.sampled_from([50_000, 410_000, 950_000])),
            category=drawn(st.sampled_from(["art", "law"])),
        )
        for n in range(count)
    ]


@given(
    crowds(), st.randoms(use_true_random=False), st.integers(), st.integers(0, 8), st.integers(0, 3), STRATA
)
def test_the_draw_ignores_the_order_of_the_listings(
    crowd: list[Listing], rng: Random, seed: int, show: int, per_event: int, strata: tuple[Stratum, ...]
) -> None:
    rule = a_rule(show=show, per_event=per_event, strata=strata)
    shuffled = list(crowd)
    rng.shuffle(shuffled)
    assert draw(shuffled, rule, seed, NOW) == draw(crowd, rule, seed, NOW)


@given(crowds(), st.integers(), st.integers(0, 8), st.integers(1, 3), STRATA)
def test_the_draw_shows_as_many_as_the_rule_lets_it(
    crowd: list[Listing], seed: int, show: int, per_event: int, strata: tuple[Stratum, ...]
) -> None:
    fit = [x for x in crowd if passes(x, a_rule(), NOW)]
    room = sum(min(n, per_event) for n in Counter(x.market.event_id for x in fit).values())
    drawn = draw(crowd, a_rule(show=show, per_event=per_event, strata=strata), seed, NOW)
    assert len(drawn) == min(show, room)
    assert all(x in fit for x in drawn)
    assert len({x.market.id for x in drawn}) == len(drawn)
    assert all(n <= per_event for n in Counter(x.market.event_id for x in drawn).values())
    assert drawn == sorted(drawn, key=lambda x: (x.market.event_id, x.market.id))


@given(crowds(), st.integers(), STRATA)
def test_every_stratum_is_shown_where_there_are_places_enough(
    crowd: list[Listing], seed: int, strata: tuple[Stratum, ...]
) -> None:
    there = Counter(stratum(x, strata, NOW) for x in crowd if passes(x, a_rule(), NOW))
    rule = a_rule(show=len(there) + 2, per_event=99, strata=strata)
    drawn = Counter(stratum(x, strata, NOW) for x in draw(crowd, rule, seed, NOW))
    assert drawn.keys() == there.keys()
    unsated = [n for name, n in drawn.items() if n < there[name]]
    assert all(n <= least + 1 for n in drawn.values() for least in unsated)


@given(crowds(), st.integers(), st.integers(0, 8), st.integers(1, 3), STRATA, st.data())
def test_a_market_that_is_not_drawn_might_as_well_not_be_there(
    crowd: list[Listing],
    seed: int,
    show: int,
    per_event: int,
    strata: tuple[Stratum, ...],
    data: st.DataObject,
) -> None:
    rule = a_rule(show=show, per_event=per_event, strata=strata)
    drawn = draw(crowd, rule, seed, NOW)
    kept = [x for x in crowd if x in drawn or data.draw(st.booleans())]
    assert draw(kept, rule, seed, NOW) == drawn


@given(crowds(), st.integers())
def test_one_market_more_pushes_out_one_at_most(crowd: list[Listing], seed: int) -> None:
    rule = a_rule(show=6, per_event=2)
    before = {x.market.id for x in draw(crowd, rule, seed, NOW)}
    after = {x.market.id for x in draw([*crowd, a_listing("new", "a")], rule, seed, NOW)}
    assert len(after - before) <= 1


def test_the_markets_of_one_story_have_the_room_of_an_event_where_the_rule_says_so() -> None:
    game = [
        a_listing(f"{event}-{n}", event=event) for event in ("spread", "total", "winner") for n in range(3)
    ]
    told = [replace(one, market=replace(one.market, story="the game")) for one in game]
    other = [a_listing("other", event="another")]
    by_events = a_rule(show=9, per_event=2)
    by_stories = by_events.model_copy(update={"per_story": 2})
    assert len(draw([*told, *other], by_events, 7, NOW)) == 7
    drawn = draw([*told, *other], by_stories, 7, NOW)
    assert Counter(one.market.story for one in drawn) == {"the game": 2, "": 1}
    assert draw([*game, *other], by_stories, 7, NOW) == draw([*game, *other], by_events, 7, NOW)
    assert "per_story" not in by_events.model_dump_json(), "a rule without it is written as it always was"


def test_those_that_close_soonest_come_first_and_the_lot_decides_ties() -> None:
    listings = [a_listing(f"m{n}", f"e{n}", closes=DAY * (n // 3 + 1)) for n in range(12)]
    rule = a_rule(show=5, order="soonest")
    found = {each.market.id for each in draw(listings, rule, seed=1, at=NOW)}
    assert {f"test:m{n}" for n in range(3)} < found < {f"test:m{n}" for n in range(6)}
    draws = (draw(listings, rule, seed, NOW) for seed in range(9))
    assert len({frozenset(each.market.id for each in drawn) for drawn in draws}) == 3


def test_a_rule_of_an_earlier_cohort_is_frozen_as_it_was() -> None:
    assert set(a_rule().model_dump()) == {
        "show", "per_event", "closes_within", "min_volume", "max_spread", "closes_after", "min_depth",
        "min_price", "max_price", "categories", "not_categories", "price_only", "strata",
    }  # fmt: skip
    named = a_rule(slugs=("a",), order="soonest", min_liquidity=5)
    assert named.model_dump().items() >= {"slugs": ("a",), "order": "soonest", "min_liquidity": 5}.items()
    assert Universe.model_validate_json(named.model_dump_json()) == named


def test_ends_a_month_are_those_that_close_and_are_shown() -> None:
    listings = [a_listing(f"m{n}", f"e{n}", closes=DAY * (n % 10 + 1)) for n in range(50)]
    soonest = a_rule(show=4, days=10, order="soonest")
    assert expected_ends_a_month(listings, soonest, NOW, DAY) == 4 * 30  # five close a day, four are shown
    assert expected_ends_a_month(listings, soonest.model_copy(update={"show": 9}), NOW, DAY) == pytest.approx(
        5 * 30
    )
    by_lot = a_rule(show=5, days=10)
    shown = 1 - 0.9**10  # each round shows one in ten, and a market is on offer for ten rounds
    assert expected_ends_a_month(listings, by_lot, NOW, DAY) == pytest.approx(150 * shown)
    for rule in (soonest, by_lot):  # of a tenth of them it is known that they are a tenth
        parts = expected_ends_a_month(listings[:10], rule, NOW, DAY, population=100)
        twice = [replace(x, market=replace(x.market, id=MarketId(f"{x.market.id}+"))) for x in listings]
        whole = expected_ends_a_month([*listings, *twice], rule.model_copy(update={"per_event": 9}), NOW, DAY)
        assert parts == pytest.approx(whole)
    assert sure_ends_a_month(soonest, DAY) == 12
    assert sure_ends_a_month(soonest, 20 * DAY) == 6


def test_a_market_without_a_price_is_drawn_where_there_is_no_market() -> None:
    listing = Listing(a_listing("unpriced").market, None)
    nameless = a_listing("no mid", bid=None, ask=None, mid=None)
    assert not passes(listing, a_rule(), NOW)
    assert "unpriced" not in a_rule().model_dump()

    rule = a_rule(min_volume=0, unpriced=True, price_only=True, strata=ALL)
    assert passes(listing, rule, NOW)
    assert passes(nameless, rule, NOW)
    assert not passes(listing, a_rule(unpriced=True, not_categories=("any",)), NOW)

    assert stratum(listing, ["price"], NOW) == stratum(nameless, ["price"], NOW) == "price none"
    assert shown(listing, a_price(volume=0), rule=rule) == [a_price(volume=0), listing]
