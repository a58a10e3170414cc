"""How much may be traded where a fill rule knows no depth: a part of the volume, and what the book has."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markets.millionths import ONE
from markets.model import Listing, Resolution, Snapshot
from markets.simulation.settings import Settings, instant_of, seeded_chance
from markets.simulation.world import build_world
from portfolio.execute import execute
from portfolio.ledger import fold, post, settle
from portfolio.model import Bet, Holdings, Lot, Sale, Side
from portfolio.rules import NAMED, REALISTIC, REFERENCE, REPLAY, SEED, Rules, changed_rules
from portfolio.sizing import quarter_kelly
from portfolio.whatif import WhatIfStep
from portfolio.whatif import replay as play_again
from tests.builders import NOW, RAIN, a_listing, a_quote, a_snapshot, an_account, usd

VOLUME = usd(100_000)
FREE = {"min_bet": 0, "max_bet": 10**6}
CAPPED = [
    changed_rules(REPLAY, FREE | {"merge": merge, "fill": fill, "base": base})
    for fill in ("mid", "quote", "spread")
    for merge, base in ((True, "start"), (False, "running"))
]
PARTED = changed_rules(REPLAY, {"merge": False})
DEEP = {
    "realistic": REALISTIC,
    **{fill: changed_rules(REALISTIC, {"fill": fill}) for fill in ("mid", "quote", "spread")},
    "replay": REPLAY,
    **{each.name: changed_rules(each, {"max_of_volume": 20_000}) for each in (SEED, REFERENCE)},
}
SIDE: st.SearchStrategy[Side] = st.sampled_from(("YES", "NO"))
BET = st.tuples(SIDE, st.integers(1, usd(5_000)))
SALE = st.tuples(SIDE, st.integers(1, 10**6))
ROUND = st.tuples(
    st.integers(5, 90), st.integers(0, 10**11), st.lists(BET, max_size=5), st.lists(SALE, max_size=3)
)


def listing(volume: str | None = "100000") -> Listing:
    return a_listing("0.40", "0.42", volume=volume)


@given(st.sampled_from(CAPPED), st.lists(ROUND, min_size=1, max_size=9), st.sampled_from([0, 20_000]))
def test_no_order_of_orders_moves_more_cash_than_the_volume_allows(
    rules: Rules,
    rounds: list[tuple[int, int, list[tuple[Side, int]], list[tuple[Side, int]]]],
    rate: int,
) -> None:
    account = replace(an_account(10**6), lots={(RAIN, "YES"): Lot(10**12, 10**11)})
    moved = 0
    for cents, volume, bets, sales in rounds:
        quote = replace(a_quote(f"0.{cents:02}", f"0.{cents + 2:02}"), volume=volume)
        snapshot = Snapshot(NOW, (replace(a_listing(fee_rate=rate), quote=quote),))
        fills, _ = execute(
            [Bet(RAIN, side, amount) for side, amount in bets],
            [Sale(RAIN, side, fraction=part) for side, part in sales],
            account,
            snapshot,
            rules,
        )
        here = sum(fill.amount for fill in fills)
        moved += here
        assert here <= volume // 50
        assert not here or moved <= volume // 10
        assert all(bool(fill.left) == (fill.wanted > (fill.amount if fill.action == "buy" else fill.shares))
                   for fill in fills)  # fmt: skip
        account = fold(post(fills, account, NOW, "fill:1"), account)
    assert account.traded.get(RAIN, 0) == moved


@given(st.sampled_from(CAPPED), st.lists(st.integers(usd(1), usd(3_000)), min_size=2, max_size=6), SIDE)
def test_a_bet_in_parts_buys_no_more_than_one_of_their_sum(
    rules: Rules, parts: list[int], side: Side
) -> None:
    snapshot = a_snapshot(listing())
    rich = an_account(10**6)
    (whole,), _ = execute([Bet(RAIN, side, sum(parts))], [], rich, snapshot, rules)
    split, _ = execute([Bet(RAIN, side, part) for part in parts], [], rich, snapshot, rules)
    assert whole.amount == min(sum(parts), VOLUME // 50) == sum(fill.amount for fill in split)
    assert sum(fill.shares for fill in split) <= whole.shares


@pytest.mark.parametrize("other", [Bet(RAIN, "NO", usd(3_000)), Sale(RAIN, "YES")])
def test_what_is_sold_or_bought_on_the_other_side_gives_no_room_back(other: Bet | Sale) -> None:
    rules = changed_rules(REPLAY, FREE)
    account = an_account(10**6)
    snapshot = a_snapshot(listing())
    for number in range(5):
        order = Bet(RAIN, "YES", usd(3_000)) if number % 2 == 0 else other
        bets, sales = ([order], []) if isinstance(order, Bet) else ([], [order])
        fills, _ = execute(bets, sales, account, snapshot, rules)
        account = fold(post(fills, account, NOW, f"fill:{number}"), account)
        assert sum(fill.amount for fill in fills) <= VOLUME // 50
    fills, refused = execute([Bet(RAIN, "YES", VOLUME)], [], account, snapshot, rules)
    assert account.traded[RAIN] + sum(fill.amount for fill in fills) == VOLUME // 10
    account = fold(post(fills, account, NOW, "fill:9"), account)
    _, refused = execute([Bet(RAIN, "YES", usd(100))], [], account, snapshot, rules)
    assert [each.code for each in refused] == ["no_depth"]


def test_the_thinner_side_of_a_book_limits_a_decision_too() -> None:
    deep = (("0.42", "9000"),)
    thin = (("0.40", "500"), ("0.30", "9000"))
    snapshot = a_snapshot(a_listing("0.40", "0.42", bids=thin, asks=deep, volume="1000000"))
    (fill,), _ = execute([Bet(RAIN, "YES", usd(500))], [], an_account(), snapshot, REPLAY)
    assert (fill.shares, fill.amount) == (usd(500), usd(210))  # as many as those who bid 40¢ want
    assert fill.left == (
        "$290.00 was not spent: a decision trades at most 2%, and a cohort 10%, of its volume of "
        "$1,000,000.00; a decision at most the 500 shares on the thinner side of its book"
    )
    parts, _ = execute([Bet(RAIN, "YES", usd(50))] * 7, [], an_account(), snapshot, PARTED)
    assert usd(500) - 9 <= sum(part.shares for part in parts) <= usd(500)
    held = replace(an_account(), lots={(RAIN, "NO"): Lot(usd(900), usd(500))})
    (sold, bought), _ = execute(
        [Bet(RAIN, "YES", usd(500))], [Sale(RAIN, "NO", shares=usd(400))], held, snapshot, REPLAY
    )
    assert (sold.shares, bought.shares) == (usd(400), usd(100))


@pytest.mark.parametrize(
    ("volume", "spent"), [(None, 2_500), ("0", 0), ("5000", 100), ("1000000", 2_500)],
    ids=["unknown", "none", "little", "much"],
)  # fmt: skip
def test_an_unknown_volume_is_no_volume_of_nothing(volume: str | None, spent: int) -> None:
    fills, refused = execute(
        [Bet(RAIN, "YES", usd(2_500))], [], an_account(), a_snapshot(listing(volume)), REPLAY
    )
    assert sum(fill.amount for fill in fills) == usd(spent)
    assert [each.code for each in refused] == ["no_depth"] * (not spent)


def test_prices_looked_at_again_are_traded_on_at_the_volume_that_was_known_first() -> None:
    bet = Bet(RAIN, "YES", usd(2_500))
    first = a_snapshot(listing("5000"))
    for again, spent in ((listing("1000000"), 100), (listing(None), 100)):
        (fill,), _ = execute([bet], [], an_account(), a_snapshot(again), REPLAY, first)
        assert fill.amount == usd(spent)
    assert again.quote is not None
    step = WhatIfStep(first, (bet,), again_at=NOW, second={RAIN: replace(again.quote, volume=usd(10**6))})
    ((fill,),) = play_again(usd(10_000), NOW, [step], REPLAY).fills
    assert fill.amount == usd(100)


def test_which_rules_are_deep() -> None:
    assert {name for name, rules in NAMED.items() if rules.unlimited} == {"seed", "reference"}
    assert not changed_rules(REALISTIC, {"fill": "mid"}).unlimited
    assert not changed_rules(SEED, {"max_of_volume": 10_000}).unlimited
    frozen = SEED.model_dump(mode="json")
    assert not frozen.keys() & {"max_of_volume", "max_of_volume_cohort"}, "as it was frozen before"
    assert Rules.model_validate(frozen) == SEED
    assert Holdings().traded == {}


def weeks(seed: int) -> tuple[list[Snapshot], list[Resolution]]:
    """Return what a made-up season offers week by week, and how its markets end."""
    settings = Settings(seed=seed, weeks=10, markets=150, events=60)
    chance = seeded_chance(seed)
    world = build_world(settings, chance)
    looks = [instant_of(settings.start + timedelta(weeks=week), 0) for week in range(settings.weeks)]
    offered = [
        [x for x in world.values() if x.market.opens_at <= at < x.market.closes_at - timedelta(weeks=1)]
        for at in looks
    ]
    shown = [
        Snapshot(at, tuple(x.listing(at) for x in lives)) for at, lives in zip(looks, offered, strict=True)
    ]
    return shown, [end for x in world.values() for end in x.resolutions(looks[-1] + timedelta(weeks=60))]


@pytest.mark.parametrize("seed", [1, 2, 3, 5, 11, 12])
def test_who_always_says_half_wins_and_loses_little_where_rules_have_depth(seed: int) -> None:
    """It bets on every long shot; with a limit in dollars alone it lost all, or won more than it had."""
    shown, ends = weeks(seed)
    for name, rules in DEEP.items():
        money = []
        for first in range(4):
            account = an_account(10_000)
            for number, snapshot in list(enumerate(shown))[first::4]:
                account = fold(settle(account, ends, snapshot.seen_at), account)
                beliefs = {listing.market.id: ONE // 2 for listing in snapshot.shown}
                bets = quarter_kelly(beliefs, account, snapshot, rules)
                fills, _ = execute(bets, [], account, snapshot, rules)
                account = fold(post(fills, account, snapshot.seen_at, f"fill:{number}"), account)
            account = fold(settle(account, ends, shown[-1].seen_at + timedelta(weeks=60)), account)
            money.append(account.cash)
        assert usd(20_000) <= sum(money) <= usd(60_000), (name, money)
