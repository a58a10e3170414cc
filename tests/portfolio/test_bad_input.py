"""Whatever an agent or a venue sends: a refusal in a short sentence, and nothing has changed."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from markets.hashes import digest
from markets.millionths import ONE
from markets.model import Level, Listing, MarketId, Quote, Snapshot
from portfolio.execute import execute
from portfolio.ledger import fold, open_account, post
from portfolio.model import Bet, Holdings, Rejection, Sale
from portfolio.rules import NAMED, REALISTIC, SEED, Rules
from portfolio.value import mark
from tests.builders import (
    NOW,
    RAIN,
    a_bet,
    a_book,
    a_listing,
    a_market,
    a_price,
    a_sale,
    a_snapshot,
    usd,
)

SUN = MarketId("sim:sun")
FILLS = ("mid", "quote", "book", "spread")
LONGEST = 160
"""Characters that a sentence may have: it must fit a line of a table."""

BOOK = a_book([("0.40", "1000"), ("0.39", "1000")], [("0.42", "1000"), ("0.43", "1000")])
OPEN = a_snapshot(BOOK, a_listing(market=SUN))


class Odd:
    """Something that is none of the things it could be."""

    def __repr__(self) -> str:
        return "odd" * 1_000


JUNK: list[Any] = [
    *(float("nan"), float("inf"), float("-inf"), -1, 0, -0.0, 10**36, 10**5000, -(10**5000), 0.5, 5e8),
    *(True, False, "500", "", "5" * 10_000, b"500", [500], [], {"amount": 500}, {500}, (500,)),
    *(Decimal(500), Decimal("nan"), Fraction(1, 2), 1j, Odd(), int),
]
"""Numbers that are no amounts, and things that are no numbers."""


def held() -> Holdings:
    """Return an account with $500 of YES in one market."""
    account = fold([open_account(usd(10_000), NOW)])
    fills, refused = execute([a_bet(500)], [], account, OPEN, SEED)
    assert refused == []
    return fold(post(fills, account, NOW, "fill:0"), account)


HELD = held()


def refused(
    bets: Sequence[Bet], sales: Sequence[Sale] = (), snapshot: Snapshot = OPEN, rules: Rules = REALISTIC
) -> list[Rejection]:
    """Return the refusals of a decision, after checking that it changed neither ledger nor holdings."""
    head = HELD.head
    seal = digest(HELD)
    fills, rejections = execute(bets, sales, HELD, snapshot, rules)
    assert fills == []
    after = fold(post(fills, HELD, NOW, "fill:1"), HELD)
    assert (HELD.head, digest(HELD), after.head, digest(after)) == (head, seal, head, seal)
    for rejection in rejections:
        assert isinstance(rejection, Rejection)
        assert 0 < len(rejection.message) <= LONGEST
        assert rejection.message.isprintable()
    return rejections


def codes(*given: Any, **more: Any) -> list[str]:
    """Return the codes of those refusals."""
    return [rejection.code for rejection in refused(*given, **more)]


@pytest.mark.parametrize("rules", NAMED.values(), ids=NAMED)
def test_no_field_of_a_bet_may_be_junk(rules: Rules) -> None:
    for junk in JUNK:
        assert codes([Bet(junk, "YES", usd(500))], rules=rules) == ["unknown_market"]
        assert codes([Bet(RAIN, junk, usd(500))], rules=rules) == ["unknown_side"]
        assert codes([Bet(RAIN, "YES", junk)], rules=rules) == ["bad_amount"]
        assert codes([Bet(RAIN, "YES", usd(500), junk)], rules=rules) == ["bad_limit"]
        assert codes([Bet(junk, junk, junk, junk)], rules=rules) == ["unknown_market"]


def test_no_field_of_a_sale_may_be_junk() -> None:
    for junk in JUNK:
        assert codes([], [Sale(junk, "YES")]) == ["unknown_market"]
        assert codes([], [Sale(RAIN, junk)]) == ["unknown_side"]
        assert codes([], [Sale(RAIN, "YES", shares=junk)]) == ["bad_shares"]
        assert codes([], [Sale(RAIN, "YES", fraction=junk)]) == ["bad_shares"]
        assert codes([], [Sale(RAIN, "YES", limit=junk)]) == ["bad_limit"]


def test_nothing_is_no_amount_but_it_is_no_limit_and_a_sale_of_all() -> None:
    nothing: Any = None
    assert codes([Bet(nothing, "YES", usd(500))]) == ["unknown_market"]
    assert codes([Bet(RAIN, nothing, usd(500))]) == ["unknown_side"]
    assert codes([Bet(RAIN, "YES", nothing)]) == ["bad_amount"]
    ((sold,), ()) = execute([], [Sale(RAIN, "YES", nothing, nothing, nothing)], HELD, OPEN, SEED)
    assert sold.shares == HELD.lots[RAIN, "YES"].shares


def test_a_limit_outside_the_prices_is_refused() -> None:
    for price in ("0", "1.000001", "1.01", "-0.4"):
        assert codes([a_bet(500, limit=price)], [a_sale(limit=price)]) == ["bad_limit"] * 2


def test_shares_that_were_never_held_are_refused() -> None:
    assert codes([], [a_sale(1, "NO"), a_sale(1, market=SUN)]) == ["not_held", "not_held"]
    assert codes([], [Sale(RAIN, "YES", 10**18)]) == ["over_held"]
    assert codes([], [a_sale(fraction="1"), a_sale(fraction="0.000001")]) == ["over_held"]


def test_good_wishes_stand_beside_bad_ones() -> None:
    bets = [a_bet(100), *(Bet(RAIN, "YES", junk) for junk in JUNK), a_bet(60, market=SUN)]
    alone, _ = execute([bets[0], bets[-1]], [], HELD, a_snapshot(BOOK, a_price("0.5", SUN)), SEED)
    fills, rejections = execute(bets, [], HELD, a_snapshot(BOOK, a_price("0.5", SUN)), SEED)
    assert fills == alone
    assert {rejection.code for rejection in rejections} == {"bad_amount"}
    assert len(rejections) == len(JUNK)


@pytest.mark.parametrize("rules", NAMED.values(), ids=NAMED)
def test_ten_thousand_wishes_are_each_answered(rules: Rules) -> None:
    many = 10_000
    answers = 1 if rules.merge else many
    tiny = [a_bet("0.01")] * many
    assert len(refused(tiny, rules=rules.model_copy(update={"min_bet": usd(1_000)}))) == answers
    assert (
        len(refused([Bet(MarketId(f"sim:{place}"), "YES", 1) for place in range(many)], rules=rules)) == many
    )
    assert len(refused([a_bet(10**6)] * many, rules=rules)) == answers
    assert len(refused([], [a_sale(fraction="1")] * many, rules=rules)) == 1
    both = [a_bet(10**6, side) for side in ("YES", "NO")] * (many // 2)
    assert len(refused(both, rules=rules)) == (2 if rules.merge else many)


def test_ten_thousand_bets_that_count_are_paid_for_by_the_cash() -> None:
    rules = SEED.model_copy(update={"min_bet": 0, "max_bet": ONE})
    fills, rejections = execute([a_bet(1)] * 10_000, [], HELD, OPEN, rules)
    assert (len(fills), len(rejections)) == (9_500, 500)
    assert sum(fill.amount for fill in fills) == HELD.cash
    merged, _ = execute([a_bet("0.20")] * 10_000, [], HELD, OPEN, REALISTIC)
    assert [fill.wanted for fill in merged] == [usd(2_000)]


def test_a_reason_may_be_anything() -> None:
    odd: Any = 5
    fills, rejections = execute([replace(a_bet(100), reason=odd)] * 2, [], HELD, OPEN, REALISTIC)
    assert ([fill.reason for fill in fills], rejections) == (["a int; a int"], [])


def quoted(**changes: Any) -> Snapshot:
    """Return the one market with a book, its quote changed."""
    assert BOOK.quote is not None
    return Snapshot(NOW, (replace(BOOK, quote=replace(BOOK.quote, **changes)),))


NAN: Any = float("nan")
IMPOSSIBLE: list[dict[str, Any]] = [
    {"bid": usd("1.01")},
    {"bid": -usd("0.01")},
    {"ask": usd("1.5")},
    {"ask": 0},
    {"bid": None},
    {"ask": None},
    {"mid": usd("0.9")},
    {"mid": True},
    {"bid": usd("0.45")},
    {"bid": 10**30},
    {"bid": -(10**30)},
    {"bid": 10**5000},
    {"bid": NAN},
    {"ask": NAN},
    {"mid": NAN},
    {"ask": float("inf")},
    {"asks": (Level(NAN, usd(10)),)},
    {"asks": (Level(usd("0.42"), NAN),)},
    {"market_id": SUN},
]


@pytest.mark.parametrize("fill", FILLS)
def test_an_impossible_quote_trades_nothing_under_any_rule(fill: str) -> None:
    rules = REALISTIC.model_copy(update={"fill": fill})
    for changes in IMPOSSIBLE:
        wishes: list[tuple[list[Bet], list[Sale]]] = [
            ([a_bet(500)], []),
            ([a_bet(500, "NO")], []),
            ([], [a_sale()]),
        ]
        for bets, sales in wishes:
            assert len(refused(bets, sales, quoted(**changes), rules)) == 1, changes


@pytest.mark.parametrize("side", ["bids", "asks"])
def test_a_book_with_an_impossible_level_trades_nothing(side: str) -> None:
    assert BOOK.quote is not None
    prices = [(usd("1.2"), usd(10)), (usd(1), usd(10)), (0, usd(10)), (-usd("0.1"), usd(10))]
    for level in (*prices, (usd("0.42"), 0), (usd("0.42"), -usd(10))):
        snapshot = quoted(**{side: (*getattr(BOOK.quote, side), Level(*level))})
        assert codes([a_bet(500)], [a_sale()], snapshot=snapshot)[0] in ("bad_price", "bad_book")
        assert len(refused([a_bet(500, "NO")], snapshot=snapshot)) == 1


def test_a_market_that_comes_twice_has_the_price_that_comes_first() -> None:
    twice = a_snapshot(a_price("0.40"), a_price("0.80"), held=[a_price("0.20")])
    for rules in (SEED, SEED.model_copy(update={"merge": True})):
        ((bought,), ()) = execute([a_bet(500)], [], HELD, twice, rules)
        assert bought.shares == usd(1_250)
    alone = a_snapshot(a_price("0.40"))
    assert mark(HELD, twice).value == mark(HELD, alone).value


def test_a_book_of_ten_thousand_levels_is_walked() -> None:
    bids = tuple(Level(usd("0.41") - place, usd(1)) for place in range(10_000))
    asks = tuple(Level(usd("0.42") + place, usd(1)) for place in range(10_000))
    quote = Quote(RAIN, NOW, bids[0].price, asks[0].price, usd("0.415"), bids=bids[::-1], asks=asks[::-1])
    snapshot = Snapshot(NOW, (Listing(a_market(), quote),))
    fills, rejections = execute([a_bet(2_000)], [a_sale(1_000)], HELD, snapshot, REALISTIC)
    assert rejections == []
    sold, bought = fills
    assert (len(sold.levels), sold.levels[0].price, sold.shares) == (1_000, usd("0.41"), usd(1_000))
    assert bought.levels[0].price == usd("0.42")
    assert bought.amount == sum(level.amount for level in bought.levels) == usd(2_000)
