"""Every file in portfolio/fills keeps the same promises; a new one is tested by being there."""

from pathlib import Path

import pytest

import portfolio.fills
from markets.millionths import ONE
from markets.model import Listing
from markets.registry import names
from portfolio.fills import FillRequest, fill_rule
from portfolio.matching import OrderMatch
from portfolio.model import Action, Rejection, Side
from portfolio.quotes import side_quote
from portfolio.rules import NAMED, REALISTIC, Rules
from tests.builders import a_book, a_listing, a_price, match_listing, usd

RULES = [REALISTIC.model_copy(update={"fill": name}) for name in names(Path(portfolio.fills.__path__[0]))]
SIDES: tuple[Side, ...] = ("YES", "NO")
ACTIONS: tuple[Action, ...] = ("buy", "sell")

LISTINGS = {
    "a book": a_book([("0.40", "900"), ("0.39", "900")], [("0.42", "900"), ("0.43", "900")]),
    "a fee": a_book([("0.40", "900")], [("0.42", "900")], fee_rate=usd("0.05")),
    "a quote": a_listing("0.40", "0.42"),
    "a price": a_price("0.40"),
    "a certainty": a_price("1"),
    "a one-sided quote": a_listing(None, "0.02", "0.01"),
    "a crossed quote": a_listing("0.44", "0.42"),
    "nothing": a_listing(None, None, None),
}

pytestmark = pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.fill)


@pytest.mark.parametrize("listing", LISTINGS.values(), ids=LISTINGS)
def test_a_wish_is_filled_exactly_or_refused_in_words(rules: Rules, listing: Listing) -> None:
    for action in ACTIONS:
        for side in SIDES:
            result = match_listing(action, usd(100), side, listing, rules)
            if isinstance(result, Rejection):
                assert result.code.isidentifier()
                assert result.market_id == listing.market.id
                assert len(result.message.split()) > 2
            else:
                assert_adds_up(action, usd(100), result)


def assert_adds_up(action: Action, size: int, filled: OrderMatch) -> None:
    """Check that a fill is the sum of its levels, and that the rest is stated."""
    assert filled.shares == sum(level.shares for level in filled.levels) > 0
    assert filled.amount == sum(level.amount for level in filled.levels)
    assert filled.fee == sum(level.fee for level in filled.levels)
    assert all(0 < level.price < ONE and level.shares > 0 and level.fee >= 0 for level in filled.levels)
    used = filled.amount if action == "buy" else filled.shares
    assert used <= size
    assert (used == size) == (filled.left == "")


def test_there_is_a_listing_that_it_fills(rules: Rules) -> None:
    assert isinstance(match_listing("buy", usd(100), "YES", LISTINGS["a book"], rules), OrderMatch)


def test_buying_never_costs_less_than_selling_brings(rules: Rules) -> None:
    for side in SIDES:
        bought = match_listing("buy", usd(100), side, LISTINGS["a book"], rules)
        assert isinstance(bought, OrderMatch)
        sold = match_listing("sell", bought.shares, side, LISTINGS["a book"], rules)
        assert isinstance(sold, OrderMatch)
        assert sold.amount <= bought.amount


def test_the_same_question_has_the_same_answer(rules: Rules) -> None:
    listing = LISTINGS["a book"]
    assert listing.quote is not None
    order = FillRequest("buy", side_quote(listing.quote, "NO"), listing.market, rules)
    assert fill_rule(rules.fill).levels(order) == fill_rule(rules.fill).levels(order)


def test_an_agent_limit_is_kept(rules: Rules) -> None:
    for limit in (usd("0.30"), usd("0.41"), usd("0.42"), usd("0.425")):
        filled = match_listing("buy", usd(500), "YES", LISTINGS["a book"], rules, limit)
        if isinstance(filled, OrderMatch):
            assert max(level.price for level in filled.levels) <= limit


def test_the_named_rules_name_rules_that_are_there(rules: Rules) -> None:
    known = {each.fill for each in RULES}
    assert rules.fill in known
    assert {named.fill for named in NAMED.values()} <= known
