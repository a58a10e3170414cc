"""The four fill rules, fees, books and limits."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

import portfolio.fills
from markets.hashes import quote_hash
from markets.millionths import ONE
from markets.model import Level, Listing
from portfolio.execute import execute
from portfolio.matching import Offers, OrderMatch, SnapshotOffers, WorseOffers
from portfolio.model import Action, Rejection, Side
from portfolio.quotes import side_quote
from portfolio.rules import REALISTIC, Rules
from tests.builders import (
    NOW,
    RAIN,
    a_bet,
    a_book,
    a_listing,
    a_market,
    a_price,
    a_quote,
    a_snapshot,
    an_account,
    match_listing,
    quote_of,
    usd,
)

MID, QUOTE, SPREAD, BOOK = (
    REALISTIC.model_copy(update={"fill": name}) for name in ("mid", "quote", "spread", "book")
)

BIDS = [("0.39", "200"), ("0.40", "100"), ("0.38", "1000")]
ASKS = [("0.44", "1000"), ("0.42", "100"), ("0.43", "200")]


def done(result: OrderMatch | Rejection) -> OrderMatch:
    """Return the fill, after checking that it wasn't refused."""
    assert isinstance(result, OrderMatch), result
    return result


def refused(result: OrderMatch | Rejection) -> str:
    """Return the code and the sentence of a refusal."""
    assert isinstance(result, Rejection), result
    return f"{result.code}: {result.message}"


def test_mid_buys_and_sells_at_the_mid() -> None:
    listing = a_listing("0.39", "0.41")
    assert done(match_listing("buy", usd(500), "YES", listing, MID)).shares == usd(1_250)
    assert done(match_listing("sell", usd(1_250), "YES", listing, MID)).amount == usd(500)
    assert done(match_listing("buy", usd(600), "NO", listing, MID)).shares == usd(1_000)


def test_quote_buys_at_the_ask_and_sells_at_the_bid() -> None:
    listing = a_listing("0.40", "0.50")
    assert done(match_listing("buy", usd(500), "YES", listing, QUOTE)).shares == usd(1_000)
    assert done(match_listing("sell", usd(1_000), "YES", listing, QUOTE)).amount == usd(400)
    assert done(match_listing("buy", usd(600), "NO", listing, QUOTE)).shares == usd(1_000)
    assert done(match_listing("sell", usd(1_000), "NO", listing, QUOTE)).amount == usd(500)


@pytest.mark.parametrize(("tick", "price"), [("0.001", "0.41"), ("0.01", "0.41"), ("0.05", "0.45")])
def test_spread_is_a_tick_or_a_cent_from_the_mid(tick: str, price: str) -> None:
    listing = a_price("0.40", tick=usd(tick))
    (level,) = done(match_listing("buy", usd(500), "YES", listing, SPREAD)).levels
    assert level.price == usd(price)
    (level,) = done(match_listing("buy", usd(500), "NO", listing, SPREAD)).levels
    assert level.price == ONE - usd("0.40") + usd(price) - usd("0.40")
    (level,) = done(match_listing("sell", usd(100), "YES", listing, SPREAD)).levels
    assert level.price == 2 * usd("0.40") - usd(price)


def test_past_the_worst_price_the_money_stays_and_the_fill_says_why() -> None:
    book = a_book([("0.40", "100")], [("0.42", "100"), ("0.45", "100"), ("0.46", "900")])
    bought = done(match_listing("buy", usd(500), "YES", book, BOOK))
    assert bought.amount == usd(87)
    assert bought.left == "$413.00 was not spent: the next price is $0.46, and the rules go to $0.45"


def test_a_tighter_limit_of_the_agent_counts_and_a_looser_one_does_not() -> None:
    book = a_book([("0.40", "100")], [("0.42", "100"), ("0.44", "100"), ("0.46", "900")])
    tight = done(match_listing("buy", usd(500), "YES", book, BOOK, usd("0.43")))
    loose = done(match_listing("buy", usd(500), "YES", book, BOOK, usd("0.99")))
    assert (tight.amount, loose.amount) == (usd(42), usd(86))
    assert refused(match_listing("buy", usd(500), "YES", book, BOOK, usd("0.41"))) == (
        "unfilled: $500.00 was not spent: the best price is $0.42, and the limit is $0.41"
    )


def test_a_level_gives_no_more_than_it_has_and_a_crumb_that_buys_nothing_stays() -> None:
    crumb = a_book([("0.40", "1")], [("0.42", "0.000001")])
    bought = done(match_listing("buy", 1, "YES", crumb, BOOK))
    assert (bought.shares, bought.amount, bought.left) == (1, 1, "")
    assert refused(match_listing("buy", 1, "YES", a_price("0.40", fee_rate=usd("0.05")), MID)) == (
        "unfilled: $0.000001 was not spent: too little for another share"
    )


def test_a_fee_is_taken_out_of_the_amount_and_off_the_proceeds() -> None:
    listing = a_price("0.40", fee_rate=usd("0.05"))
    bought = done(match_listing("buy", usd("41.20"), "YES", listing, MID))
    assert (bought.shares, bought.fee, bought.amount) == (usd(100), usd("1.20"), usd("41.20"))
    sold = done(match_listing("sell", usd(100), "YES", listing, MID))
    assert (sold.fee, sold.amount) == (usd("1.20"), usd("38.80"))


def test_rules_without_fees_ignore_the_venue_rate() -> None:
    free = MID.model_copy(update={"fee": "none"})
    listing = a_price("0.40", fee_rate=usd("0.05"))
    assert done(match_listing("buy", usd(500), "YES", listing, free)).fee == 0


@pytest.mark.parametrize("rules", [MID, QUOTE, SPREAD, BOOK], ids=lambda rules: rules.fill)
def test_every_rule_refuses_impossible_quotes(rules: Rules) -> None:
    apart = "the mid $0.47 is $0.06 from the middle of bid $0.40 and ask $0.42"
    both = "both are needed"
    for listing, why in (
        (a_listing("0.45", "0.43"), "crossed: the quote is crossed: its bid $0.45 is over its ask $0.43"),
        (a_listing(None, "0.43"), f"one_sided: the quote has no bid, only the ask $0.43: {both}"),
        (a_listing("0.43", None), f"one_sided: the quote has no ask, only the bid $0.43: {both}"),
        (
            a_listing("0.35", "0.46"),
            "wide: bid $0.35 and ask $0.46 are $0.11 apart; at most $0.10 is allowed",
        ),
        (a_listing("0.40", "0.42", "0.47"), f"gap: {apart}; at most $0.05 is allowed"),
        (a_listing("-0.10", "0.02"), "bad_price: the bid -$0.10 is not between $0.00 and $1.00"),
        (a_listing("0.99", "1.20"), "bad_price: the ask $1.20 is not between $0.00 and $1.00"),
        (Listing(a_market(), None), "no_quote: the market has no quote"),
    ):
        assert refused(match_listing("buy", usd(100), "YES", listing, rules)) == why


def test_a_quote_at_the_very_edge_of_the_rules_is_good() -> None:
    for listing in (
        a_listing("0.40", "0.50"),
        a_listing("0.41", "0.41"),
        a_listing("0.40", "0.42", "0.46"),
        a_listing("0.40", "0.42", "0.36"),
    ):
        assert done(match_listing("buy", usd(100), "YES", listing, QUOTE)).amount == usd(100)


@pytest.mark.parametrize("mid", ["0", "1", "-0.1", "1.2"])
def test_nothing_is_traded_at_a_price_that_is_no_chance(mid: str) -> None:
    for rules in (MID, SPREAD):
        for side in ("YES", "NO"):
            assert refused(match_listing("buy", usd(100), side, a_price(mid), rules)).startswith("bad_price")


def test_a_spread_that_reaches_a_dollar_is_refused() -> None:
    assert refused(match_listing("buy", usd(100), "YES", a_price("0.99"), SPREAD)) == (
        "bad_price: the price $1.00 is not between $0.00 and $1.00"
    )


def test_the_book_rule_needs_a_whole_sound_book() -> None:
    good = a_book(BIDS, ASKS)
    assert good.quote is not None

    def why(bids: Sequence[tuple[str, str]], asks: Sequence[tuple[str, str]]) -> str:
        listing = a_listing("0.40", "0.42", bids=bids, asks=asks)
        return refused(match_listing("buy", usd(100), "YES", listing, BOOK))

    assert why([], []) == "no_book: the quote has no order book, which these rules need to fill orders"
    assert why([], ASKS) == "one_sided: the quote has no bid, only the ask $0.42: both are needed"
    assert why(BIDS, []) == "one_sided: the quote has no ask, only the bid $0.40: both are needed"
    assert why([("0.43", "10")], ASKS) == "crossed: the quote is crossed: its bid $0.43 is over its ask $0.42"
    assert why(BIDS, [("0.51", "10")]).startswith("wide")
    assert why([("0.30", "10")], [("0.33", "10")]).startswith("gap")
    assert why([*BIDS, ("0", "10")], ASKS).startswith("bad_price")
    assert why(BIDS, [*ASKS, ("1.00", "10")]).startswith("bad_price")
    assert why(BIDS, [*ASKS, ("0.45", "-10")]).startswith("bad_book")
    assert why(BIDS, [*ASKS, ("0.45", "0")]) == "bad_book: the book has a level of 0 shares at $0.45"


def test_the_quote_rule_needs_a_quote_and_the_others_need_a_mid() -> None:
    assert refused(match_listing("buy", usd(100), "YES", a_price("0.40"), QUOTE)).startswith(
        "no_price: the quote has no ask"
    )
    blank = a_listing(None, None, None)
    for rules in (MID, SPREAD):
        assert (
            refused(match_listing("buy", usd(100), "YES", blank, rules)) == "no_price: the quote has no mid"
        )


def test_fewer_shares_than_the_market_deals_in_are_refused() -> None:
    listing = a_price("0.40", min_shares=usd(5))
    assert done(match_listing("buy", usd(2), "YES", listing, MID)).shares == usd(5)
    assert refused(match_listing("buy", usd("1.99"), "YES", listing, MID)) == (
        "under_min_shares: 4.975 shares are below the minimum of 5"
    )
    assert refused(match_listing("sell", usd(4), "YES", listing, MID)).startswith("under_min_shares")


def test_levels_of_one_price_are_one_level_on_either_side_of_the_book() -> None:
    twice = a_book([("0.40", "100"), ("0.40", "50")], [("0.42", "100"), ("0.42", "50")])
    bought = match_listing("buy", usd(60), "YES", twice, BOOK)
    sold = match_listing("sell", usd(140), "YES", twice, BOOK)
    assert [len(done(either).levels) for either in (bought, sold)] == [1, 1]


def test_a_limit_that_is_just_as_far_as_the_rules_go_is_not_to_blame() -> None:
    deep = a_book([("0.40", "1"), ("0.36", "9")], [("0.42", "1"), ("0.46", "9")])
    bought = done(match_listing("buy", usd(5), "YES", deep, BOOK, usd("0.45")))
    assert bought.left == "$4.58 was not spent: the next price is $0.46, and the rules go to $0.45"
    sold = done(match_listing("sell", usd(5), "YES", deep, BOOK, usd("0.37")))
    assert sold.left == "4 shares were not sold: the next price is $0.36, and the rules go to $0.37"


def test_a_rule_that_offers_nothing_fills_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nothing.py").write_text("def levels(order):\n    return []\n")
    monkeypatch.setattr(portfolio.fills, "__path__", [str(tmp_path)])
    rules = MID.model_copy(update={"fill": "nothing"})
    for limit in (None, usd("0.40")):
        assert refused(match_listing("buy", usd(100), "YES", a_price("0.40"), rules, limit)) == (
            "unfilled: $100.00 was not spent: the book is exhausted"
        )
    capped = rules.model_copy(update={"max_of_volume": ONE // 50, "max_of_volume_cohort": ONE})
    snapshot = a_snapshot(a_listing("0.39", "0.41", volume="100000"))
    _, (nothing,) = execute([a_bet(100)], [], an_account(), snapshot, capped)
    assert refused(nothing) == "unfilled: $100.00 was not spent: the book is exhausted"


@pytest.mark.parametrize(
    ("side", "action", "stored", "fresh", "worse"),
    [
        ("YES", "buy", "0.40", "0.42", "0.42"),
        ("YES", "buy", "0.42", "0.40", "0.42"),
        ("YES", "sell", "0.40", "0.42", "0.40"),
        ("YES", "sell", "0.42", "0.40", "0.40"),
        ("NO", "buy", "0.40", "0.42", "0.40"),
        ("NO", "sell", "0.40", "0.42", "0.42"),
    ],
)
def test_of_prices_that_are_looked_at_twice_the_worse_one_counts(
    side: Side, action: Action, stored: str, fresh: str, worse: str
) -> None:
    """All three are prices of YES."""
    before = a_price(stored)
    after = a_price(fresh, at=NOW + timedelta(seconds=9))
    shown = a_snapshot(before)
    later = a_snapshot(after, at=NOW + timedelta(seconds=10))
    both = WorseOffers(SnapshotOffers(shown, MID), later, shown)
    offers = both.find(RAIN, side, action)
    assert isinstance(offers, Offers)
    price = usd(worse) if side == "YES" else ONE - usd(worse)
    assert [level.price for level in offers.levels] == [price]

    listing = after if worse == fresh else before
    assert offers.quoted_at == quote_of(listing).at
    assert both.quote_hash(RAIN, offers.quoted_at) == quote_hash(quote_of(listing))


def test_every_price_of_a_quote_is_mirrored_and_twice_is_as_it_was() -> None:
    yes = a_quote("0.40", "0.43", "0.41", last="0.39", bids=[("0.40", "7")], asks=[("0.43", "8")])
    no = side_quote(yes, "NO")
    assert (no.bid, no.ask, no.mid, no.last) == (usd("0.57"), usd("0.60"), usd("0.59"), usd("0.61"))
    assert (no.bids, no.asks) == ((Level(usd("0.57"), usd(8)),), (Level(usd("0.60"), usd(7)),))
    assert side_quote(no, "NO") == side_quote(yes, "YES") == yes
