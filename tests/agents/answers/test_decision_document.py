"""A decision as a document: what is read of it, and what is refused with a reason."""

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answers.decision_document import (
    UnreadableDecision,
    ask_for_decision,
    read_decision,
    read_sent_decision,
)
from agents.episode import DOCUMENTS, result_document, schema_of, view_document
from agents.model import CallError, Decision, Forecast, PastForecast
from markets.model import MarketId
from portfolio.model import Bet, Sale
from tests.agents.every_kind import COLOUR, COST, NO_MONEY, OPENING, PRICE, RAIN, of_every_kind
from tests.agents.minds import THREE, a_view, replies
from tests.builders import NOW, a_book, a_listing, result_of, usd

SHOWN = [MarketId(market) for market in THREE[:2]]
VIEW = a_view(*(a_book([("0.40", "1000")], [("0.42", "1000")], market=market) for market in SHOWN))


def decision(**said: Any) -> Any:
    return read_decision(json.dumps({"version": 1, **said}), VIEW)


def test_a_call_that_brought_no_answer_is_told_with_its_reason() -> None:
    error = CallError("timeout", "no answer in 60 s", retry=True)
    ask, asked = replies(error, "no JSON")
    call, failed = result_of(ask_for_decision(VIEW, ask))
    assert (call.prompt, call.error) == (asked[0], error)
    assert failed == Decision(status="failed", note="timeout: no answer in 60 s")
    _, malformed = result_of(ask_for_decision(VIEW, ask))
    assert (malformed.status, malformed.note.partition(":")[0]) == ("malformed", "not JSON")


def test_what_makes_sense_is_read_to_the_last_digit() -> None:
    found = decision(
        forecasts=[
            {"market": SHOWN[0], "options": {"yes": 0.123456}, "reason": "two\nlines"},
            {"market": SHOWN[1], "options": {"no": 0.25}},
        ],
        bets=[{"market": SHOWN[0], "option": "yes", "amount": 75.5, "limit": 0.45, "reason": "cheap"}],
        sales=[
            {"market": SHOWN[0], "option": "no"},
            {"market": SHOWN[0], "option": "no", "fraction": 1},
            {"market": SHOWN[0], "option": "yes", "shares": 0.000001},
            {"market": SHOWN[0], "option": "yes", "fraction": 0.5, "limit": 0.2},
        ],
    )
    assert [(x.market_id, x.millionths, x.reason) for x in found.forecasts] == [
        (SHOWN[0], 123_456, "two lines"),
        (SHOWN[1], 750_000, ""),
    ]
    assert found.bets == (Bet(SHOWN[0], "YES", usd("75.5"), usd("0.45"), "cheap"),)
    assert found.sales == (
        Sale(SHOWN[0], "NO"),
        Sale(SHOWN[0], "NO"),
        Sale(SHOWN[0], "YES", shares=1),
        Sale(SHOWN[0], "YES", fraction=500_000, limit=200_000),
    )
    assert (found.rejections, found.status) == ((), "played")


FORECAST = {"market": SHOWN[0], "options": {"yes": 0.5}}
BAD_FORECASTS = [
    ({"options": {"yes": 1.2}}, "options.yes: Input should be less than or equal to 1"),
    ({"options": {"yes": "0.5"}}, "options.yes: expected a number"),
    ({"options": {"yes": True}}, "options.yes: expected a number"),
    ({"options": {"yes": 0.5, "no": 0.6}}, "the probabilities of yes and no do not add up to 1"),
    ({"options": {"maybe": 0.5}}, "the market has no option 'maybe': it has yes and no"),
    ({"options": {}}, "options: Dictionary should have at least 1 item after validation, not 0"),
    ({"range": [1, 2]}, "range: Extra inputs are not permitted"),
    ({"market": 7}, "market: Input should be a valid string"),
    ({"market": "none"}, 'there is no market "none"'),
]


@pytest.mark.parametrize(("change", "words"), BAD_FORECASTS)
def test_a_forecast_with_a_fault_is_refused_and_the_others_stand(change: dict[str, Any], words: str) -> None:
    found = decision(forecasts=[FORECAST | change, {"market": SHOWN[1], "options": {"yes": 0.5}}])
    assert [x.market_id for x in found.forecasts] == [SHOWN[1]]
    assert [x.message for x in found.rejections] == [f"forecast 1: {words}"]


def test_orders_with_a_fault_are_refused() -> None:
    bet = {"market": SHOWN[0], "option": "yes", "amount": 60}
    sale = {"market": SHOWN[0], "option": "yes"}
    found = decision(
        bets=[bet | {"amount": -1}, bet | {"option": "YES"}, bet | {"amount": 1e300}, bet | {"side": "YES"}],
        sales=[sale | {"shares": 1, "fraction": 0.5}, sale | {"fraction": 0}, sale | {"market": "none"}, 3],
    )
    assert (found.bets, found.sales) == ((), ())
    assert len(found.rejections) == 8
    assert found.rejections[0].message == "bet 1: amount: Input should be greater than 0"
    assert found.rejections[4].message == "sale 1: give either shares or fraction"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing was answered"),
        ("[]", "expected a JSON object"),
        ("{", "not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ('{"version": 2}', "version: Input should be 1"),
        ('{"bids": []}', "bids: Extra inputs are not permitted"),
        ('{"bets": {}}', "bets: expected a list"),
        ('{"bets": NaN}', "not JSON that can be read: NaN is not a number"),
        ('{"bets": [], "bets": []}', "not JSON that can be read: the key 'bets' appears twice"),
        (" " * 1_000_001, "it has more than 1,000,000 characters"),
        ("[" * 200_000, "not JSON that can be read: "),
    ],
)
def test_what_is_no_decision_says_why(text: str, words: str) -> None:
    with pytest.raises(UnreadableDecision) as caught:
        read_decision(text, VIEW)
    assert str(caught.value).startswith(words)


FORM_OF_FORECAST = 'a forecast is like {"market": ID, "options": {"yes": 0.65}, "reason": "why"}'
FORM_OF_BET = 'a bet is like {"market": ID, "option": "yes", "amount": 100, "limit": 0.65}'
NOT_POSITIVE = "amount: Input should be greater than 0"
NO_MARKET = 'there is no market "nope": the first in the view is "sim:a"'
UNUSABLE = [
    (
        {"forecasts": [{"market": SHOWN[0], "probability": 0.5}]},
        [f'forecast 1: "options" is missing; unknown key "probability"; {FORM_OF_FORECAST}'],
    ),
    (
        {"forecasts": [{"market": "nope", "probability": 0.5}]},
        [f'forecast 1: "options" is missing; unknown key "probability"; {FORM_OF_FORECAST}; {NO_MARKET}'],
    ),
    (
        {"forecasts": [{"market": "nope", "options": {"yes": 0.5}}, 3]},
        [
            f"forecast 1: {NO_MARKET}",
            f"forecast 2: expected an object; {FORM_OF_FORECAST}",
        ],
    ),
    (
        {"bets": [{"market": SHOWN[0], "side": "yes", "amount": -1}], "sales": [{"market": SHOWN[0]}]},
        [
            f'bet 1: "option" is missing; {NOT_POSITIVE}; unknown key "side"; {FORM_OF_BET}',
            'sale 1: "option" is missing; a sale is like {"market": ID, "option": "yes", "fraction": 0.5}',
        ],
    ),
    (
        {
            "forecasts": [
                {"market": SHOWN[0], "options": {"yes": 0.2}},
                {"market": SHOWN[0], "options": {"yes": 0.3}},
            ]
        },
        ["this market has two different probabilities"],
    ),
]


@pytest.mark.parametrize(("lists", "faults"), UNUSABLE)
def test_a_sent_decision_without_a_usable_item_names_every_fault_of_each(
    lists: dict[str, Any], faults: list[str]
) -> None:
    with pytest.raises(UnreadableDecision, match="no item of it can be used") as caught:
        read_sent_decision(json.dumps({"version": 1, **lists}), VIEW)
    assert [refused.message for refused in caught.value.refused] == faults


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"version": 1}', 'it is empty; to forecast nothing, send "forecasts": []'),
        ("{}", 'it is empty; to forecast nothing, send "forecasts": []'),
        ('{"version": 1, "bets": []}', 'it is empty; to forecast nothing, send "forecasts": []'),
        ('{"version": true, "forecasts": []}', "version: expected the number 1"),
        ('{"version": false, "forecasts": []}', "version: expected the number 1"),
        ('{"forecast": [], "bids": []}', 'unknown key "forecast"; unknown key "bids"'),
    ],
)
def test_a_sent_decision_that_says_nothing_is_refused(text: str, message: str) -> None:
    with pytest.raises(UnreadableDecision) as caught:
        read_sent_decision(text, VIEW)
    assert str(caught.value).startswith(message)


def test_a_sent_decision_may_forecast_nothing_if_it_says_so_and_lose_some_of_its_items() -> None:
    assert read_sent_decision('{"version": 1, "forecasts": []}', VIEW) == decision()
    stated = {"market": SHOWN[1], "options": {"yes": 0.5}}
    partly = {"version": 1, "forecasts": [stated, {"market": SHOWN[0], "p": 0.5}]}
    found = read_sent_decision(json.dumps(partly), VIEW)
    assert [x.market_id for x in found.forecasts] == [SHOWN[1]]
    assert [x.message.partition(";")[0] for x in found.rejections] == ['forecast 2: "options" is missing']


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["market", "options", "yes", "no", "amount", "option", "shares", "limit", "x"]),
            inner,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["version", "forecasts", "bets", "sales", "y"]), JSON))
def test_whatever_is_answered_nothing_unsound_comes_of_it(whole: dict[str, Any]) -> None:
    try:
        found = read_decision(json.dumps(whole), VIEW)
    except UnreadableDecision:
        return
    assert all(0 <= x.millionths <= 1_000_000 and x.market_id in SHOWN for x in found.forecasts)
    assert all(bet.amount > 0 and bet.market_id in SHOWN for bet in found.bets)


def test_a_view_has_what_the_agent_may_know_and_is_of_its_form() -> None:
    said = json.loads(view_document(VIEW).model_dump_json())
    assert [market["market"] for market in said["markets"]] == SHOWN
    first = said["markets"][0]
    assert (first["bid"], first["ask"], first["price"]) == (0.4, 0.42, 0.41)
    assert (first["options"], first["offered"]) == (["yes", "no"], True)
    assert said["account"]["cash"] == VIEW.mark.cash / 1_000_000
    for name, form in DOCUMENTS.items():
        schema = schema_of(name)
        assert schema["additionalProperties"] is False
        assert schema["properties"].keys() == form.model_fields.keys()
        assert all("description" in one for one in schema["properties"].values())


def test_of_a_market_that_is_held_and_off_offer_only_a_sale_is_read() -> None:
    held = a_listing(market=THREE[2])
    view = replace(VIEW, snapshot=replace(VIEW.snapshot, held=(held,)))
    said = {
        "version": 1,
        "forecasts": [{"market": THREE[2], "options": {"yes": 0.5}}],
        "bets": [{"market": THREE[2], "option": "yes", "amount": 50}],
        "sales": [{"market": THREE[2], "option": "yes"}],
    }
    found = read_decision(json.dumps(said), view)
    assert (found.forecasts, found.bets) == ((), ())
    assert [sale.market_id for sale in found.sales] == [THREE[2]]
    assert [rejection.code for rejection in found.rejections] == ["not_on_offer"] * 2


def test_questions_of_every_kind_are_shown_and_answered() -> None:
    view = of_every_kind()
    shown = json.loads(view_document(view).model_dump_json())["markets"]
    jsonschema.validate(json.loads(view_document(view).model_dump_json()), schema_of("view"))
    assert [market.get("kind") for market in shown] == [None, "multiple_choice", "numeric", "date"]
    assert shown[1]["options"] == ["Red", "Blue", "Green"]
    assert shown[1]["odds"] == {"Red": 0.5, "Blue": 0.3, "Green": 0.2}
    assert shown[2]["range"] == {
        "low": "0",
        "high": "5000",
        "open_low": False,
        "open_high": True,
        "unit": "USD",
    }
    assert not {"kind", "answer", "odds", "range"} & shown[0].keys()

    said = {
        "version": 1,
        "forecasts": [
            {"market": RAIN, "options": {"yes": 0.25}},
            {"market": COLOUR, "options": {"Red": 0.2, "Blue": 0.5, "Green": 0.3}, "reason": "so"},
            {"market": COST, "range": {"5": 1.5, "50": 20, "95": 300}},
            {"market": OPENING, "range": {"5": "2026-02-01", "50": "2026-03-01", "95": "2026-04-01"}},
        ],
    }
    jsonschema.validate(said, schema_of("decision"))
    found = read_sent_decision(json.dumps(said), view)
    assert found.rejections == ()
    assert [x.distribution or x.millionths for x in found.forecasts] == [
        250_000,
        '{"chances":[200000,500000,300000]}',
        '{"quantiles":[[50000,"1.5"],[500000,"20"],[950000,"300"]]}',
        '{"quantiles":[[50000,"2026-02-01"],[500000,"2026-03-01"],[950000,"2026-04-01"]]}',
    ]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"market": COLOUR, "options": {"yes": 0.3}}, "'yes' is none of the options"),
        ({"market": COLOUR}, "give either options or range"),
        ({"market": COLOUR, "range": {"Red": 0.1, "Blue": 0.9}}, "it is answered under options"),
        ({"market": COST, "options": {"5": 0.1, "50": 0.2, "95": 0.3}}, "it is answered under range"),
        ({"market": COST, "range": {"red": 1}}, "'red' is not a percent"),
        ({"market": COST, "range": {"5": 1, "95": 3}}, "2 quantiles are stated"),
        ({"market": RAIN, "range": {"5": 1, "50": 2, "95": 3}}, "options: Field required"),
    ],
)
def test_an_item_that_answers_another_question_is_refused(item: dict[str, Any], words: str) -> None:
    found = read_decision(json.dumps({"version": 1, "forecasts": [item]}), of_every_kind())
    [refused] = found.rejections
    assert refused.code == "bad_item"
    assert words in refused.message


def test_the_result_of_a_question_says_what_it_came_to() -> None:
    said = Forecast(COST, distribution='{"quantiles":[[50000,"1"],[500000,"2"],[950000,"3"]]}')
    past = PastForecast(said, 2, NOW, "How much?", form=PRICE.text, answer="2.5")
    document = json.loads(result_document(past).model_dump_json())
    jsonschema.validate(document, schema_of("result"))
    assert (document["range"], document["answer"]) == ({"5": "1", "50": "2", "95": "3"}, "2.5")
    assert (document["options"], document["paid"]) == ({}, None)


def test_without_money_a_view_has_no_account() -> None:
    view = view_document(of_every_kind(NO_MONEY))
    assert view.account is None
    assert view.rules == {"name": "realistic", "money": False}
