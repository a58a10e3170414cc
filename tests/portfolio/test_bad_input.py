"""Whatever an agent or a venue sends: a refusal in a short sentence, and nothing has changed."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from markets.hashes import digest, quote_hash
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


JUNK: dict[str, Any] = {
    "nan": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "minus one": -1,
    "zero": 0,
    "minus zero": -0.0,
    "1e30 dollars": 10**36,
    "5,000 digits": 10**5000,
    "minus 5,000 digits": -(10**5000),
    "a fraction as float": 0.5,
    "dollars as float": 5e8,
    "true": True,
    "false": False,
    "text": "500",
    "no text": "",
    "long text": "5" * 10_000,
    "bytes": b"500",
    "a list": [500],
    "an empty list": [],
    "a dict": {"amount": 500},
    "a set": {500},
    "a tuple": (500,),
    "decimal": Decimal(500),
    "decimal nan": Decimal("nan"),
    "a ratio": Fraction(1, 2),
    "a complex number": 1j,
    "an object": Odd(),
    "a type": int,
}


def held() -> Holdings:
    """An account with $500 of YES in one market."""
    account = fold([open_account(usd(10_000), NOW)])
    fills, refused = execute([a_bet(500)], [], account, OPEN, SEED)
    assert refused == []
    return fold(post(fills, account, NOW, "fill:0"), account)


HELD = held()


def refused(
    bets: Sequence[Bet], sales: Sequence[Sale] = (), snapshot: Snapshot = OPEN, rules: Rules = REALISTIC
) -> list[Rejection]:
    """The refusals of a decision that brings nothing else: the hashes of ledger and holdings say so."""
    head, seal = HELD.head, digest(HELD)
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
    """The codes of those refusals."""
    return [rejection.code for rejection in refused(*given, **more)]


@pytest.mark.parametrize("rules", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
def test_no_field_of_a_bet_may_be_junk(junk: Any, rules: Rules) -> None:
    assert codes([Bet(junk, "YES", usd(500))], rules=rules) == ["unknown_market"]
    assert codes([Bet(RAIN, junk, usd(500))], rules=rules) == ["unknown_side"]
    assert codes([Bet(RAIN, "YES", junk)], rules=rules) == ["bad_amount"]
    assert codes([Bet(RAIN, "YES", usd(500), junk)], rules=rules) == ["bad_limit"]
    assert codes([Bet(junk, junk, junk, junk)], rules=rules) == ["unknown_market"]


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
def test_no_field_of_a_sale_may_be_junk(junk: Any) -> None:
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


@pytest.mark.parametrize("price", ["0", "1.000001", "1.01", "-0.4"])
def test_a_limit_outside_the_prices_is_refused(price: str) -> None:
    assert codes([a_bet(500, limit=price)], [a_sale(limit=price)]) == ["bad_limit"] * 2


def test_shares_that_were_never_held_are_refused_with_their_numbers() -> None:
    assert codes([], [a_sale(1, "NO"), a_sale(1, market=SUN)]) == ["not_held", "not_held"]
    lot = HELD.lots[RAIN, "YES"].shares
    (over,) = refused([], [Sale(RAIN, "YES", lot + 1)])
    assert over.code == "over_held"
    assert over.message == "1,219.512196 YES shares are to be sold, over the 1,219.512195 held"
    assert codes([], [Sale(RAIN, "YES", 10**18)]) == ["over_held"]
    assert codes([], [a_sale(fraction="1"), a_sale(fraction="0.000001")]) == ["over_held"]


def test_good_wishes_stand_beside_bad_ones() -> None:
    bets = [a_bet(100), *(Bet(RAIN, "YES", junk) for junk in JUNK.values()), a_bet(60, market=SUN)]
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
    """The one market with a book, its quote changed."""
    assert BOOK.quote is not None
    return Snapshot(NOW, (replace(BOOK, quote=replace(BOOK.quote, **changes)),))


WHOLE: dict[str, dict[str, Any]] = {
    "a bid above a dollar": {"bid": usd("1.01")},
    "a bid below nothing": {"bid": -usd("0.01")},
    "an ask above a dollar": {"ask": usd("1.5")},
    "an ask of nothing": {"ask": 0},
    "no bid": {"bid": None},
    "no ask": {"ask": None},
    "a mid far off": {"mid": usd("0.9")},
    "a mid of true": {"mid": True},
    "a crossed quote": {"bid": usd("0.45")},
    "an absurd bid": {"bid": 10**30},
    "a bid far below": {"bid": -(10**30)},
}


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("changes", WHOLE.values(), ids=WHOLE)
def test_an_impossible_quote_trades_nothing_under_any_rule(changes: dict[str, Any], fill: str) -> None:
    rules = REALISTIC.model_copy(update={"fill": fill})
    for side in ("YES", "NO"):
        (bet,) = refused([a_bet(500, side)], snapshot=quoted(**changes), rules=rules)
        assert any(figure.isdigit() for figure in bet.message) or "True" in bet.message
    assert len(refused([], [a_sale()], snapshot=quoted(**changes), rules=rules)) == 1


LEVELS: dict[str, tuple[int, int]] = {
    "above a dollar": (usd("1.2"), usd(10)),
    "at a dollar": (usd(1), usd(10)),
    "at nothing": (0, usd(10)),
    "below nothing": (-usd("0.1"), usd(10)),
    "without shares": (usd("0.42"), 0),
    "with less than no shares": (usd("0.42"), -usd(10)),
}


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize("side", ["bids", "asks"])
def test_a_book_with_an_impossible_level_trades_nothing(side: str, level: tuple[int, int]) -> None:
    assert BOOK.quote is not None
    spoilt = (*getattr(BOOK.quote, side), Level(*level))
    snapshot = quoted(**{side: spoilt})
    assert codes([a_bet(500)], [a_sale()], snapshot=snapshot)[0] in ("bad_price", "bad_book")
    assert len(refused([a_bet(500, "NO")], snapshot=snapshot)) == 1


NAN: Any = float("nan")
NOT_PRICES: dict[str, dict[str, Any]] = {
    "a bid that is no number": {"bid": NAN},
    "an ask that is no number": {"ask": NAN},
    "a mid that is no number": {"mid": NAN},
    "an infinite ask": {"ask": float("inf")},
    "a level's price that is no number": {"asks": (Level(NAN, usd(10)),)},
    "a level's shares that are no number": {"asks": (Level(usd("0.42"), NAN),)},
    "a bid of 5,000 digits": {"bid": 10**5000},
}


@pytest.mark.parametrize("changes", NOT_PRICES.values(), ids=NOT_PRICES)
def test_a_quote_that_breaks_its_types_trades_nothing(changes: dict[str, Any]) -> None:
    assert len(refused([a_bet(500)], snapshot=quoted(**changes))) == 1


def test_a_quote_of_another_market_trades_nothing() -> None:
    assert len(refused([a_bet(500)], snapshot=quoted(market_id=SUN))) == 1


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


def test_a_book_that_is_eaten_up_has_nothing_more_to_give() -> None:
    rules = REALISTIC.model_copy(update={"merge": False, "min_bet": 0})
    small = a_snapshot(a_book([("0.40", "10")], [("0.42", "10")]))
    fills, rejections = execute([a_bet(100), a_bet(100)], [], HELD, small, rules)
    assert [fill.amount for fill in fills] == [usd("4.20")]
    assert [(x.code, x.message) for x in rejections] == [
        ("unfilled", "$100.00 was not spent: the book is exhausted")
    ]


def test_all_fills_of_a_decision_name_the_quote_of_the_snapshot() -> None:
    assert BOOK.quote is not None
    rules = REALISTIC.model_copy(update={"merge": False, "min_bet": 0})
    fills, _ = execute([a_bet(100), a_bet(100), a_bet(50, "NO")], [a_sale(100)], HELD, OPEN, rules)
    assert len(fills) == 4
    assert {fill.quote_hash for fill in fills} == {quote_hash(BOOK.quote)}
    assert BOOK.quote is not None
    bids = {level.price: level.shares for level in BOOK.quote.bids}
    for fill in fills:
        if (fill.action == "sell") == (fill.side == "YES"):
            for level in fill.levels:
                bids[level.price if fill.side == "YES" else ONE - level.price] -= level.shares
    assert all(shares >= 0 for shares in bids.values())
