"""No text makes the parser raise, or read a bet that the text doesn't spell out.

What a text spells out is read here a second time, as strictly as can be: by JSON's own decoder, each
number by its digits.
"""

import json
import os
import re
from collections.abc import Iterator
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from typing import Any

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from agents.answers.keys import (
    ACTION_KEYS,
    MARKET_KEYS,
    NO_KEYS,
    TEXT_KEYS,
    is_chance_key,
    plain_key,
    stem_of,
)
from agents.answers.orders import FIXED_VALUES, OPINION_KEYS, SAME_SIDE_KEYS, TERMS
from agents.answers.parse import UnusableAnswer, parse_answer
from agents.model import Decision
from markets.millionths import ONE
from portfolio.model import Bet, Sale
from tests.agents.minds import THREE, a_view, an_answer

THOROUGH = os.environ.get("THOROUGH") == "1"
VIEW = a_view()
MARKETS = {f"m{place}": market for place, market in enumerate(THREE, 1)}
MANY = [
    {"market": "m1", "side": "NO", "amount": 120, "reason": "cheap"},
    {"market": "m2", "side": "yes", "amount": "$1,250.50", "limit": 0.45},
    {"market": "m3", "side": "YES", "amount": 0.5, "reason": "so {it} seems"},
]
GOOD = an_answer(bets=MANY, sales=[{"market": "m2", "side": "NO", "fraction": "50%"}])
WRAPPED = (
    GOOD,
    json.dumps(json.loads(GOOD), indent=1),
    f"Here it is:\n```json\n{GOOD}\n```\nGood luck {{to all}}!",
    f"<think>A draft: {an_answer()} No.</think>\n{GOOD}",
    f"So be it: {an_answer()[:-9]}</think>{GOOD}",
    f"[{GOOD}]",
)
SIGNS = """
" { } [ ] , : - . 0 9 e9 % \\ \\u0022 {{ }} ' ` … ： /* */ # ( ) = “ // ``` $ 1,000 ٣ m1 market probability
10% NaN Infinity 1e999 true null <think> </think> [/THINK] <|channel|>final
"""
PIECES = [
    *(*SIGNS.split(), "\n", "\x00", "\ufeff", "\ud800", "```json\n"),
    *('{"bets": []}', '{"forecasts": []}', an_answer()),
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
texts = st.sampled_from(WRAPPED)
pieces = st.sampled_from(PIECES) | st.text(max_size=5)
fractions = st.floats(0, 1)


def objects(text: str) -> Iterator[str]:
    """Yield what follows each brace, as far as an item may reach, with its quotes escaped or not."""
    for part in (text, text.replace('\\"', '"')):
        for brace in re.finditer(r"\{", part):
            yield part[brace.end() : brace.end() + MOST_ITEM]


MOST_ITEM = 1_000
NUMBER = re.compile(r"[0-9]+(?:,[0-9]{3})*\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?")


def numbers(text: str) -> Iterator[int]:
    """Yield every number of a text in millionths as spelled out, and percentages as shares too."""
    for digits in NUMBER.findall(text):
        try:
            number = Decimal(digits.replace(",", ""))
        except InvalidOperation:
            continue
        if abs(number) <= 10**12:
            yield int((number * ONE).to_integral_value(ROUND_DOWN))
            yield int((number * ONE / 100).to_integral_value(ROUND_DOWN))


def spelled_out(wish: Bet | Sale, text: str) -> bool:
    """Tell whether some object of the text names the market, the side and the size of this order."""
    number = {market: name[1:] for name, market in MARKETS.items()}[wish.market_id]
    for item in objects(text):
        if not re.search(rf"(?<![1-9]){number}(?![0-9])", item) or wish.side.lower() not in item.lower():
            continue
        size = wish.amount if isinstance(wish, Bet) else wish.fraction
        if size is None:
            if re.search("(?i)all|100|1", item):
                return True
        elif any(abs(size - found) <= 1 for found in numbers(item)):
            return True
    return False


def check(text: str) -> Decision | UnusableAnswer:
    """Read the text, and check that the result holds nothing that the text doesn't spell out."""
    read = parse_answer(text, VIEW)
    if isinstance(read, UnusableAnswer):
        assert 0 < len(read.message) < 200
        assert read.message.encode()
        return read
    assert all(0 <= forecast.millionths <= ONE for forecast in read.forecasts)
    assert len({forecast.market_id for forecast in read.forecasts}) == len(read.forecasts)
    assert all(bet.amount > 0 and bet.market_id in THREE for bet in read.bets)
    assert all(sale.fraction is None or 0 < sale.fraction < ONE for sale in read.sales)
    assert all(len(rejection.message) < 300 and rejection.message.encode() for rejection in read.rejections)
    wishes: tuple[Bet | Sale, ...] = (*read.bets, *read.sales)
    assert all(spelled_out(wish, text) for wish in wishes), "a wish from nowhere"
    return read


def cut(text: str, *places: float) -> list[int]:
    """Return places in a text, from fractions of its length, in order."""
    return sorted(round(place * len(text)) for place in places)


def test_a_good_answer_is_taken_whole_however_it_is_wrapped() -> None:
    for text in WRAPPED:
        read = check(text)
        assert isinstance(read, Decision)
        assert (len(read.forecasts), len(read.bets), len(read.sales), read.rejections) == (3, 3, 1, ())


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """Return a good answer with up to six changes: pieces replaced, added, lost or doubled, or a byte."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 6))):
        start, end = cut(text, draw(fractions), draw(fractions))
        gap = min(end, start + draw(st.integers(1, 6)))
        match draw(st.integers(0, 6)):
            case 0:
                text = text[:start] + draw(pieces) + text[end:]
            case 1:
                text = text[:start] + draw(pieces) + text[start:]
            case 2:
                text = text[:start] + text[gap:]
            case 3:
                text = text[:end] + text[start:end] + text[end:]
            case 4:
                text = text[:end] + text[start:gap] + text[end:]
            case 5:
                found = bytearray(text.encode("utf-8", "replace"))
                found[start : start + 1] = bytes([draw(st.integers(0, 255))])
                text = found.decode("utf-8", "replace")
            case _:
                other = draw(texts)
                text = text[:start] + other[cut(other, draw(fractions))[0] :]
    return text


@settings(max_examples=250_000 if THOROUGH else 150)
@given(spoiled())
def test_a_good_answer_that_is_spoiled(text: str) -> None:
    check(text)


@given(st.integers(0, len(GOOD) - 1))
@example(len(GOOD) - 1)
def test_of_an_answer_cut_off_its_whole_items_are_read_and_nothing_else(length: int) -> None:
    whole = check(GOOD)
    assert isinstance(whole, Decision)
    for text in (
        GOOD[:length],
        f"Here it is: {GOOD[:length]}",
        f"<think>{an_answer()}</think>{GOOD[:length]}",
    ):
        read = check(text)
        if isinstance(read, Decision):
            for kept, all_of_them in ((read.forecasts, whole.forecasts), (read.bets, whole.bets)):
                assert kept == all_of_them[: len(kept)]
            assert read.sales in ((), whole.sales)


@given(st.data())
def test_a_good_answer_with_one_value_replaced(data: st.DataObject) -> None:
    answer = json.loads(GOOD)
    inner: Any = answer
    key: Any = data.draw(st.sampled_from(sorted(answer)))
    while isinstance(inner[key], dict | list) and inner[key] and data.draw(st.booleans()):
        inner = inner[key]
        key = data.draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
    inner[key] = data.draw(json_values)
    check(json.dumps(answer))


@given(
    st.sampled_from(['"amount": ', '"fraction": ', '"limit": ', '"side": ', '"market": ']), pieces | st.text()
)
def test_a_good_answer_with_something_else_written_for_a_value(key: str, piece: str) -> None:
    start, end = next(re.finditer(rf'{key}("[^"]*"|[^,}}]*)', GOOD)).span()
    check(f"{GOOD[:start]}{key}{piece}{GOOD[end:]}")
    check(f"{GOOD[:start]}{key}{json.dumps(piece)}{GOOD[end:]}")


@given(st.sampled_from(["amount", "side", "market", "fraction"]), json_values)
def test_a_key_said_twice_is_never_a_bet(key: str, value: object) -> None:
    item = json.dumps({"market": "m1", "side": "YES", "amount": 50, "fraction": 0.5})
    item = f"{item[:-1]}, {json.dumps(key)}: {json.dumps(value)}}}"
    read = check(f'{{"forecasts": [], "bets": [{item}], "sales": [{item}]}}')
    assert isinstance(read, Decision)
    if json.dumps(value) not in ("50", '"YES"', '"m1"', "0.5"):
        assert (read.bets, read.sales, len(read.rejections)) == ((), (), 2)


KNOWN = (
    {"market", "reason", "reasons"}
    | TERMS["bet"]["side"]
    | TERMS["bet"]["amount"]
    | TERMS["bet"]["limit"]
    | TEXT_KEYS
    | OPINION_KEYS
    | SAME_SIDE_KEYS
    | FIXED_VALUES.keys()
    | MARKET_KEYS
    | ACTION_KEYS
)
SPECIAL = ["status", "condition", "expires", "stop", "shares", "limit_price", "if", "on", "void_if", "fok"]
SAYS_A_SIDE = re.compile(r"\W*(yes|no|true|false)\b", re.IGNORECASE)
"""Texts that make it unclear whose probability stands beside them, whatever their key is."""
SAID = st.text(min_size=1, max_size=10) | st.integers() | st.just(True) | st.just({"m2": "falls"})


@given(st.text(min_size=1, max_size=12) | st.sampled_from(SPECIAL), SAID)
@example("0", "FALSE")
@example("note", "no, it falls")
def test_an_order_with_a_key_that_is_not_known_is_never_made(key: str, value: object) -> None:
    assume(plain_key(key) not in KNOWN and not is_chance_key(key) and stem_of(key) not in NO_KEYS)
    read = check(an_answer(bets=[{"market": "m1", "side": "YES", "amount": 50, key: value}]))
    assert isinstance(read, Decision)
    assert (read.bets, [x.code for x in read.rejections]) == ((), ["unclear_order"])
    forecast = {"market": "m1", "probability": 0.1, key: value}
    says_a_side = isinstance(value, str) and SAYS_A_SIDE.match(value)
    forecasts = stated([json.dumps(forecast)])
    assert len(forecasts) == (0 if says_a_side else 1)


def check_decision(text: str) -> Decision:
    """Return the decision of an answer that can be used."""
    read = check(text)
    assert isinstance(read, Decision)
    return read


def stated(items: list[str]) -> dict[str, int]:
    """Return the probabilities that are read of items, by their markets."""
    read = check_decision(f'{{"forecasts": [{", ".join(items)}]}}')
    return {forecast.market_id: forecast.millionths for forecast in read.forecasts}


FIGURES = st.sampled_from(["0", "1", "0.2", "0.65", "20", "65", "100", '"20%"', '"65%"', '"1 in 5"', "1.5"])
IMPOSSIBLE = st.sampled_from(
    ["-3", "-0.1", "850", "100.5", "1e309", "1.0000001", "NaN", "Infinity", '"850%"', '"-5%"', "true", '"x"']
)
KEYS = st.sampled_from(["probability", "prob", "percent", "yes_percent", "chance"])


@given(st.tuples(FIGURES, FIGURES), IMPOSSIBLE, KEYS, st.integers(0, 2))
def test_an_impossible_number_changes_no_other_and_no_order_of_items_does(
    figures: tuple[str, str], impossible: str, key: str, place: int
) -> None:
    good = [f'{{"market": "m{n}", "{key}": {figure}}}' for n, figure in enumerate(figures, 1)]
    alone = stated(good)
    assert stated(good[::-1]) == alone
    items = [*good]
    items.insert(place, f'{{"market": "m3", "{key}": {impossible}}}')
    assert stated(items) == alone
    assert stated(items[::-1]) == alone


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


@settings(max_examples=50_000 if THOROUGH else 40)
@given(st.text(), st.lists(pieces, max_size=12))
def test_any_text(text: str, marks: list[str]) -> None:
    check(text)
    check(text.join(marks))
