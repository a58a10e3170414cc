"""Whatever a model says, reading it never breaks, and never makes a bet that it did not spell out."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from agents.model import Decision
from agents.parse import Unusable, parse
from markets.millionths import ONE
from tests.agents.minds import a_view, an_answer

VIEW = a_view()
GOOD = an_answer(sales=[{"market": "m2", "side": "NO", "fraction": "50%"}])
PIECES = [
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "NaN",
    "1e999",
    "-",
    "true",
    "null",
    "%",
    "\\",
    "\ud800",
    "</think>",
    "0",
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
places = st.integers(0, len(GOOD))


def check(text: str) -> None:
    read = parse(text, VIEW)
    if isinstance(read, Unusable):
        assert read.message
        return
    assert isinstance(read, Decision)
    assert all(0 <= forecast.probability <= ONE for forecast in read.forecasts)
    assert all(bet.amount > 0 for bet in read.bets)
    assert all(sale.fraction is None or 0 < sale.fraction < ONE for sale in read.sales)


@given(places, places, st.sampled_from(PIECES) | st.text(max_size=5))
def test_a_good_answer_with_a_piece_replaced(start: int, end: int, piece: str) -> None:
    check(GOOD[: min(start, end)] + piece + GOOD[max(start, end) :])


@given(places)
@example(len(GOOD) - 1)
def test_a_good_answer_cut_off_is_never_a_bet(length: int) -> None:
    if length < len(GOOD):
        assert isinstance(parse(GOOD[:length], VIEW), Unusable)


@given(json_values)
def test_any_json_value(value: object) -> None:
    check(json.dumps(value))


@given(st.sampled_from(["forecasts", "bets", "sales"]), st.lists(json_values, max_size=3))
def test_any_json_values_as_items(name: str, items: list[object]) -> None:
    check(an_answer(**{name: items}))


@given(
    st.sampled_from(["market", "probability", "side", "amount", "limit", "fraction", "reason"]), json_values
)
def test_any_json_value_in_an_item(key: str, value: object) -> None:
    item = {"market": "m1", "probability": 0.4, "side": "YES", "amount": 50, "fraction": 0.5, key: value}
    check(an_answer(forecasts=[item], bets=[item], sales=[item]))


@given(st.text())
def test_any_text(text: str) -> None:
    check(text)
