"""How an answer is read, beyond what the stored answers show: what is too large for a page, and the words."""

import json

import pytest

from agents.answers.parse import UnusableAnswer, parse_answer
from agents.model import Decision
from tests.agents.minds import a_view, an_answer
from tests.builders import usd

VIEW = a_view()
A = "sim:a"
UNCLOSED = '<think>{"a": ' * 30_000


def says(probability: str) -> str:
    """Return an answer with one probability for m1, spelled as given."""
    return f'{{"forecasts": [{{"market": "m1", "probability": {probability}}}]}}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"forecasts":' + "[" * 100_000, "nested too deeply"),
        ('Here: {"forecasts":' + "[" * 100_000, "nested too deeply"),
        ("{" * 500_000, "too long a list"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("{}" * 400_000, "too long a list"),
        ("{}" * 40_000, "more than 10,000 JSON objects"),
        ("{a:[" + "b," * 90_000, "too tangled"),
        ("{" + " " * 900_000, "no JSON object"),
        ("<think " * 20_000, "no JSON object"),
        ("</think>" * 20_000, "no JSON object"),
        ("<think></think>" * 10_000, "no JSON object"),
        (UNCLOSED, "in the middle of its reasoning"),
        (UNCLOSED.replace("<", "</"), "no JSON object"),
        ("So: " + '{"a": "</think>", "b": ' * 40_000, "nested too deeply"),
        (" " * 1_000_001, "1,000,001 characters"),
        (an_answer(bets=[{"market": "m1"}] * 1_001), 'the list "bets" has 1,001 items'),
        (an_answer(bets=[{"market": "m1"}] * 10_000), "10,000 items, and 1,000 are allowed"),
        (an_answer(forecasts=[{"market": "m1"}] * 1_001), 'the list "forecasts" has 1,001 items'),
        (an_answer(sales=[{"market": "m1"}] * 1_001), 'the list "sales" has 1,001 items'),
    ],
    ids=lambda text: f"{text[:20]!r} {len(text)}",
)
def test_what_is_too_large_is_refused_in_a_few_words(text: str, words: str) -> None:
    read = parse_answer(text, VIEW)
    assert isinstance(read, UnusableAnswer)
    assert words in read.message
    assert len(read.message) < 200


def test_as_many_items_as_are_allowed_are_read_one_by_one() -> None:
    read = parse_answer(an_answer(bets=[{"market": "m1", "side": "YES", "amount": 50}] * 1_000), VIEW)
    assert isinstance(read, Decision)
    assert (len(read.bets), read.rejections) == (1_000, ())


@pytest.mark.parametrize("digits", [50, 5_000, 500_000])
def test_no_number_is_too_long_to_be_refused(digits: int) -> None:
    for number in ("0." + "1" * digits, "9" * digits, "1e" + "9" * digits, f'"{"1" * digits}"'):
        read = parse_answer(says(number), VIEW)
        assert isinstance(read, Decision)
        [rejection] = read.rejections
        assert (rejection.code, len(rejection.message) < 200) == ("probability", True)


def test_a_bad_bet_is_named_and_the_good_ones_stand() -> None:
    wishes = [{"market": "m2", "side": "YES", "amount": amount} for amount in (50, "lots", 70)]
    read = parse_answer(an_answer(bets=wishes), VIEW)
    assert isinstance(read, Decision)
    assert [bet.amount for bet in read.bets] == [usd(50), usd(70)]
    [rejection] = read.rejections
    assert rejection.market_id == "sim:b"
    assert rejection.message == 'bet 2: the amount "lots" is not a number'


def test_a_sale_may_be_of_a_number_of_shares() -> None:
    sale = {"market": "m2", "side": "YES", "shares": "1,200.5", "limit": 0.4}
    read = parse_answer(an_answer(sales=[sale, sale | {"fraction": 0.5}, sale | {"fraction": None}]), VIEW)
    assert isinstance(read, Decision)
    assert [(sale.shares, sale.fraction) for sale in read.sales] == [(usd("1200.5"), None)] * 2
    assert [rejection.code for rejection in read.rejections] == ["unclear_order"]


def test_before_prices_are_shown_there_is_nothing_to_bet_on() -> None:
    read = parse_answer(an_answer(), VIEW, "blind")
    assert isinstance(read, Decision)
    assert {forecast.stage for forecast in read.forecasts} == {"blind"}
    assert (read.bets, [rejection.code for rejection in read.rejections]) == ((), ["too_early"])


def test_where_only_probabilities_are_asked_for_bets_are_one_rejection() -> None:
    wish = {"market": "m1", "side": "YES", "amount": 50}
    read = parse_answer(an_answer(bets=[wish, wish], sales=[{"market": "m9"}]), VIEW, bets=False)
    assert isinstance(read, Decision)
    assert {forecast.stage for forecast in read.forecasts} == {"final"}
    assert (len(read.forecasts), read.bets, read.sales) == (3, (), ())
    assert [(rejection.code, rejection.message) for rejection in read.rejections] == [
        ("not_asked", "3 bets or sales where only probabilities were asked for")
    ]
    quiet = parse_answer(an_answer(bets=[], sales=[]), VIEW, bets=False)
    assert isinstance(quiet, Decision)
    assert quiet.rejections == ()


@pytest.mark.parametrize("thoughts", ["m1: {rain} or not?\nRain.", None, {"m1": ["rain"]}, 5])
def test_thoughts_are_left_aside(thoughts: object) -> None:
    assert parse_answer(an_answer(thoughts=thoughts), VIEW) == parse_answer(an_answer(), VIEW)


REPAIRS: list[tuple[str, list[str]]] = [
    (says("0.4"), []),
    (says("40"), ["percent"]),
    (says(".4"), ["number"]),
    (says("float(0.4)"), ["python"]),
    (says("0.4 /* so */"), ["comment"]),
    (says('0.4, "note": None'), ["python"]),
    (says('0.4, "reason": "5\\% sure"'), ["escape"]),
    (says("0.4,"), ["comma"]),
    (says('0.4, "sure": true, "more": [null]'), []),
    (says("0.4").replace('"', "'"), ["quotes"]),
    (says("0.4").replace(":", "："), ["punctuation"]),
    (says("0.4").replace("[", "(").replace("]", ")"), ["python"]),
    (says("0.4").replace("m1", "m1: rain"), ["market"]),
    (says("0.4").replace("market", "id"), ["key"]),
    (says("0.4").replace("forecasts", "Forecasts"), ["key"]),
    (says("0.4").removesuffix("]}"), ["cut"]),
    (f"{{{says('0.4')}}}", ["braces"]),
    (f'{{"answer": {says("0.4")}}}', ["wrapping"]),
    (says("0.4") + says("0.5").replace("m1", "m2"), ["several"]),
    ("m1: 0.4", ["plain text"]),
]


@pytest.mark.parametrize(("text", "repairs"), REPAIRS, ids=lambda value: str(value)[-30:])
def test_every_repair_of_an_answer_is_named_and_no_other(text: str, repairs: list[str]) -> None:
    read = parse_answer(text, VIEW)
    assert isinstance(read, Decision)
    assert (read.forecasts[0].millionths, read.repaired) == (400_000, tuple(repairs))


def test_what_is_kept_of_a_reason_can_be_stored() -> None:
    text = json.dumps(
        {"forecasts": [{"market": "m1", "probability": 0.4, "reason": "a\x00\ud800" + "b" * 9_999}]}
    )
    read = parse_answer(text, VIEW)
    assert isinstance(read, Decision)
    reason = read.forecasts[0].reason
    assert reason.encode()
    assert "\x00" not in reason
    assert len(reason) == 500


def test_the_words_of_a_rejection_are_short() -> None:
    read = parse_answer(says(json.dumps("x" * 100_000)), VIEW)
    assert isinstance(read, Decision)
    assert len(read.rejections[0].message) < 200


CUT_TABLES = [
    "market,probability\nm1,0.35\nm2,0.1",
    "| market | probability |\n| m1 | 0.35 |\n| m2 | 0.1",
    "m1: 0.35\nm2: 0.1",
]


@pytest.mark.parametrize("text", CUT_TABLES)
def test_the_last_line_of_plain_text_that_was_cut_off_is_not_read(text: str) -> None:
    """Its number may lack its end: 0.1 of 0.15."""
    whole = parse_answer(text + "5", VIEW)
    cut = parse_answer(text, VIEW, cut=True)
    assert isinstance(whole, Decision)
    assert isinstance(cut, Decision)
    assert [forecast.millionths for forecast in cut.forecasts] == [350_000]
