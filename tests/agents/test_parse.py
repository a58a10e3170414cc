"""Stored odd answers, each with what must come of it."""

import json
from dataclasses import dataclass, field

import pytest

from agents.model import Decision
from agents.parse import Unusable, parse
from portfolio.model import Bet, Sale
from tests.agents.minds import a_lot, a_view, an_answer
from tests.builders import a_bet, a_listing, a_sale, usd


@dataclass(frozen=True)
class Odd:
    """An answer, and either why it is unusable or what is taken from it."""

    name: str
    text: str
    unusable: str = ""
    forecasts: dict[str, int] = field(default_factory=dict)
    bets: tuple[Bet, ...] = ()
    sales: tuple[Sale, ...] = ()
    rejected: tuple[str, ...] = ()


def says(probability: str) -> str:
    """An answer with one probability for m1, as it is written."""
    return f'{{"forecasts": [{{"market": "m1", "probability": {probability}}}]}}'


def bets(amount: str, more: str = "", side: str = '"YES"') -> str:
    """An answer with one bet on m1, its amount as it is written."""
    return f'{{"forecasts": [], "bets": [{{"market": "m1", "side": {side}, "amount": {amount}{more}}}]}}'


def sells(fraction: str, market: str = "m1") -> str:
    """An answer with one sale, its fraction as it is written."""
    return f'{{"forecasts": [], "sales": [{{"market": "{market}", "side": "YES", "fraction": {fraction}}}]}}'


A, OTHER = "sim:a", "sim:old"
M1 = {A: 400_000}

ODD = [
    # wrapping
    Odd("bare", says("0.4"), forecasts=M1),
    Odd("in a fence", f"```json\n{says('0.4')}\n```", forecasts=M1),
    Odd("in prose", f"Sure, here it is:\n{says('0.4')}\nGood luck!", forecasts=M1),
    Odd("in prose with braces", f"The set {{m1, m2}} is odd. {says('0.4')}", forecasts=M1),
    Odd("after thinking", f"<think>maybe 0.9? {says('0.9')}</think>{says('0.4')}", forecasts=M1),
    Odd("after a thought without a beginning", f"so be it</think>\n{says('0.4')}", forecasts=M1),
    Odd("after two thoughts", f"<thinking>{{</thinking><think>x</think>{says('0.4')}", forecasts=M1),
    Odd("in a list of one", f"[{says('0.4')}]", forecasts=M1),
    Odd("with a line break in a text", says('0.4, "reason": "one\ntwo"'), forecasts=M1),
    Odd("with an unknown key", says('0.4, "confidence": "high"'), forecasts=M1),
    Odd("with a byte order mark", f"\ufeff{says('0.4')}", forecasts=M1),
    Odd("a tag inside a text", says('0.4, "reason": "</think>"'), forecasts=M1),
    # nothing to be had
    Odd("empty", "", unusable="no JSON object"),
    Odd("prose", "I would rather not bet on this.", unusable="no JSON object"),
    Odd("a refusal in a fence", "```\nI can't help with that.\n```", unusable="no JSON object"),
    Odd("thinking only", f"<think>{says('0.4')}", unusable="inside its thinking"),
    Odd("thinking again", f"<think>a</think><think>{says('0.4')}", unusable="inside its thinking"),
    Odd("two objects", f"{says('0.4')}\n{says('0.6')}", unusable="2 JSON objects"),
    Odd("an object in two parts", says("0.4") + '{"bets": []}', unusable="2 JSON objects"),
    Odd("a draft, then broken", f"{says('0.4')} better: {says('0.4')[:-1]}", unusable="broken"),
    Odd("cut off in an amount", bets("500")[: bets("500").index("500") + 1], unusable="broken"),
    Odd("cut off after a whole bet", bets("500")[:-2], unusable="broken"),
    Odd("a draft inside a broken object", f'{{"draft": {says("0.4")}, "final": {{', unusable="broken"),
    Odd("a trailing comma", says("0.4,"), unusable="broken"),
    Odd("Python's quotes", "{'forecasts': []}", unusable="no JSON object"),
    Odd("a bare list", "[1, 2]", unusable="no JSON object"),
    Odd("an empty object", "{}", unusable='needs a list "forecasts"'),
    Odd("no forecasts", '{"bets": []}', unusable='needs a list "forecasts"'),
    Odd("forecasts as an object", '{"forecasts": {"m1": 0.4}}', unusable='needs a list "forecasts"'),
    Odd("bets as text", '{"forecasts": [], "bets": "none"}', unusable='needs a list "bets"'),
    Odd(
        "a key twice at the top", '{"forecasts": [], "forecasts": []}', unusable='"forecasts" is there twice'
    ),
    Odd("nested too deep", '{"forecasts":' + "[" * 100_000, unusable="nested too deep"),
    Odd("a million braces", "{" * 500_000, unusable="no JSON object"),
    Odd("over a megabyte", " " * 1_000_001, unusable="1,000,001 characters"),
    Odd("10,001 bets", an_answer(bets=[{"market": "m1"}] * 10_001), unusable="10,001 items"),
    # probabilities
    Odd("a probability as text", says('"0.4"'), forecasts=M1),
    Odd("a percentage that says so", says('"40%"'), forecasts=M1),
    Odd("a percentage with a space", says('" 40 %"'), forecasts=M1),
    Odd("a percentage in prose", says('"40%. Note the market is at 55%"'), rejected=("probability",)),
    Odd("a percentage that does not say so", says("40"), rejected=("probability",)),
    Odd("scientific", says("4e-1"), forecasts=M1),
    Odd("more digits than are kept", says("0.40000049"), forecasts=M1),
    Odd("certain", says("1"), forecasts={A: 1_000_000}),
    Odd("impossible", says("0.0"), forecasts={A: 0}),
    Odd("just over one", says("1.0000001"), rejected=("probability",)),
    Odd("over a hundred percent", says('"101%"'), rejected=("probability",)),
    Odd("a negative probability", says("-0.1"), rejected=("probability",)),
    Odd("NaN", says("NaN"), rejected=("probability",)),
    Odd("NaN as text", says('"nan"'), rejected=("probability",)),
    Odd("Infinity", says("Infinity"), rejected=("probability",)),
    Odd("1e999 as a probability", says("1e999"), rejected=("probability",)),
    Odd("a hundred thousand digits", says("0." + "1" * 100_000), rejected=("probability",)),
    Odd("true", says("true"), rejected=("probability",)),
    Odd("null", says("null"), rejected=("probability",)),
    Odd("a list as a probability", says("[0.4]"), rejected=("probability",)),
    Odd("digits of another script", says('"٠.٤"'), rejected=("probability",)),
    Odd(
        "the same twice",
        an_answer(forecasts=[{"market": "m1", "probability": 0.4}] * 2, bets=[]),
        forecasts=M1,
    ),
    Odd(
        "two probabilities for one market",
        an_answer(forecasts=[{"market": "m1", "probability": p} for p in (0.4, 0.6)], bets=[]),
        rejected=("stated_twice",),
    ),
    Odd(
        "a key twice in one item",
        '{"forecasts": [{"market": "m1", "probability": 0.1, "probability": 0.4}, '
        '{"market": "m2", "probability": 0.4}]}',
        forecasts={"sim:b": 400_000},
        rejected=("duplicate_key",),
    ),
    Odd("a number as an item", '{"forecasts": [0.4]}', rejected=("not_an_object",)),
    Odd("null as an item", '{"forecasts": [null]}', rejected=("not_an_object",)),
    # markets
    Odd("a capital letter", says("0.4").replace("m1", " M1 "), forecasts=M1),
    Odd("an unknown market", says("0.4").replace("m1", "m9"), rejected=("unknown_market",)),
    Odd("a market by number", says("0.4").replace('"m1"', "1"), rejected=("unknown_market",)),
    Odd("a market by list", says("0.4").replace('"m1"', '["m1"]'), rejected=("unknown_market",)),
    Odd("no market", '{"forecasts": [{"probability": 0.4}]}', rejected=("unknown_market",)),
    Odd("a forecast for what is only held", says("0.4").replace("m1", "m4"), rejected=("not_on_offer",)),
    # bets
    Odd("a bet", bets("500"), bets=(a_bet("500", market=A),)),
    Odd("a bet in cents", bets("120.55"), bets=(a_bet("120.55", market=A),)),
    Odd("an amount as text", bets('"$1,250.50"'), bets=(a_bet("1250.50", market=A),)),
    Odd("a fraction of a millionth", bets("99.9999999"), bets=(a_bet("99.999999", market=A),)),
    Odd("nines without end", bets("0." + "9" * 37), bets=(a_bet("0.999999", market=A),)),
    Odd("a side in small letters", bets("50", side='" no "'), bets=(a_bet("50", "NO", market=A),)),
    Odd("a limit", bets("50", ', "limit": "0.45"'), bets=(a_bet("50", market=A, limit="0.45"),)),
    Odd("a limit out of range", bets("50", ', "limit": 45'), rejected=("limit",)),
    Odd("a limit that is true", bets("50", ', "limit": true'), rejected=("limit",)),
    Odd("a reason that is a number", bets("50", ', "reason": 5'), bets=(a_bet("50", market=A, reason="5"),)),
    Odd("no amount", '{"forecasts": [], "bets": [{"market": "m1", "side": "YES"}]}', rejected=("amount",)),
    Odd("nothing", bets("0"), rejected=("amount",)),
    Odd("less than a millionth", bets("0.0000001"), rejected=("amount",)),
    Odd("a negative amount", bets("-50"), rejected=("amount",)),
    Odd("1e999", bets("1e999"), rejected=("amount",)),
    Odd("1e99999", bets("1e99999"), rejected=("amount",)),
    Odd("-Infinity", bets("-Infinity"), rejected=("amount",)),
    Odd("true as an amount", bets("true"), rejected=("amount",)),
    Odd("a sum in words", bets('"fifty"'), rejected=("amount",)),
    Odd("two numbers", bets('"50 or 60"'), rejected=("amount",)),
    Odd("a decimal comma", bets('"50,5"'), rejected=("amount",)),
    Odd("another currency", bets('"€50"'), rejected=("amount",)),
    Odd("no such side", bets("50", side='"MAYBE"'), rejected=("side",)),
    Odd("a side that is true", bets("50", side="true"), rejected=("side",)),
    Odd("a bet on what is only held", bets("50").replace("m1", "m4"), rejected=("not_on_offer",)),
    # sales
    Odd("half", sells("0.5"), sales=(a_sale(market=A, fraction="0.5"),)),
    Odd("half in percent", sells('"50%"'), sales=(a_sale(market=A, fraction="0.5"),)),
    Odd("all of it", sells('"All"'), sales=(a_sale(market=A),)),
    Odd("one whole", sells("1.0"), sales=(a_sale(market=A),)),
    Odd("a sale of what is only held", sells('"all"', "m4"), sales=(a_sale(market=OTHER),)),
    Odd("more than all", sells("1.5"), rejected=("fraction",)),
    Odd("none of it", sells("0"), rejected=("fraction",)),
    Odd("no fraction", sells("null"), rejected=("fraction",)),
    Odd("true as a fraction", sells("true"), rejected=("fraction",)),
]

VIEW = a_view(
    *(a_listing(market=market) for market in (A, "sim:b", "sim:c")),
    held=(a_listing(market=OTHER),),
    lots={(OTHER, "YES"): a_lot()},
)


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_an_odd_answer_is_read_as_expected(odd: Odd) -> None:
    read = parse(odd.text, VIEW)
    if odd.unusable:
        assert isinstance(read, Unusable)
        assert odd.unusable in read.message
        return
    assert isinstance(read, Decision), read
    assert {forecast.market_id: forecast.probability for forecast in read.forecasts} == odd.forecasts
    assert (read.bets, read.sales) == (odd.bets, odd.sales)
    assert tuple(rejection.code for rejection in read.rejections) == odd.rejected
    assert read.verdict == "played"


def test_a_good_answer_is_taken_whole() -> None:
    read = parse(an_answer(), VIEW)
    assert isinstance(read, Decision)
    assert [forecast.probability for forecast in read.forecasts] == [usd("0.1"), usd("0.2"), usd("0.3")]
    assert read.forecasts[0].reason == "so it seems"
    assert read.bets == (a_bet("120", "NO", A, reason="cheap"),)
    assert read.rejections == ()


def test_a_bad_bet_is_named_and_the_good_ones_stand() -> None:
    wishes = [{"market": "m2", "side": "YES", "amount": amount} for amount in (50, "lots", 70)]
    read = parse(an_answer(bets=wishes), VIEW)
    assert isinstance(read, Decision)
    assert [bet.amount for bet in read.bets] == [usd(50), usd(70)]
    [rejection] = read.rejections
    assert rejection.market_id == "sim:b"
    assert rejection.message == 'bet 2: the amount "lots" is not a number'


def test_before_prices_are_shown_there_is_nothing_to_bet_on() -> None:
    read = parse(an_answer(), VIEW, "blind")
    assert isinstance(read, Decision)
    assert {forecast.stage for forecast in read.forecasts} == {"blind"}
    assert (read.bets, [rejection.code for rejection in read.rejections]) == ((), ["too_early"])


def test_where_only_probabilities_are_asked_for_bets_are_one_rejection() -> None:
    wish = {"market": "m1", "side": "YES", "amount": 50}
    read = parse(an_answer(bets=[wish, wish], sales=[{"market": "m9"}]), VIEW, bets=False)
    assert isinstance(read, Decision)
    assert {forecast.stage for forecast in read.forecasts} == {"final"}
    assert (len(read.forecasts), read.bets, read.sales) == (3, (), ())
    assert [(rejection.code, rejection.message) for rejection in read.rejections] == [
        ("not_asked", "3 bets or sales came where only probabilities were asked for")
    ]
    quiet = parse(an_answer(bets=[], sales=[]), VIEW, bets=False)
    assert isinstance(quiet, Decision)
    assert quiet.rejections == ()


@pytest.mark.parametrize("thoughts", ["m1: {rain} or not?\nRain.", None, {"m1": ["rain"]}, 5])
def test_thoughts_are_left_aside(thoughts: object) -> None:
    assert parse(an_answer(thoughts=thoughts), VIEW) == parse(an_answer(), VIEW)


def test_what_is_kept_of_a_reason_can_be_stored() -> None:
    text = json.dumps(
        {"forecasts": [{"market": "m1", "probability": 0.4, "reason": "a\x00\ud800" + "b" * 9_999}]}
    )
    read = parse(text, VIEW)
    assert isinstance(read, Decision)
    reason = read.forecasts[0].reason
    assert reason.encode()
    assert "\x00" not in reason
    assert len(reason) == 500


def test_the_words_of_a_rejection_are_short() -> None:
    read = parse(says(json.dumps("x" * 100_000)), VIEW)
    assert isinstance(read, Decision)
    assert len(read.rejections[0].message) < 200
