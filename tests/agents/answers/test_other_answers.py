"""Answers to questions of every kind: read where they can mean nothing else, and refused with a reason."""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answers.decisions import combine_samples, sound_decision
from agents.answers.parse import UnusableAnswer, parse_answer
from agents.answers.question import Question
from agents.asked_forms import forms_in
from agents.model import Decision, Forecast, Message, Prompt
from agents.prompts.answer_schema import answer_schema
from markets.distributions import Distribution, check_distribution_text, distribution_of, question_kind
from markets.model import MarketId
from tests.agents.answers.test_parse_fuzz import json_values
from tests.agents.every_kind import COLOUR, COLOURS, COST, FORMS, OPENING, RAIN, of_every_kind
from tests.agents.minds import a_view, replies
from tests.builders import result_of

VIEW = of_every_kind()
KINDS = ("date", "multiple_choice", "numeric", "yes_no")
CHANCES = {"Red": 0.2, "Blue": 0.5, "Green": 0.3}
LISTED = [{"option": name, "probability": chance} for name, chance in CHANCES.items()]
NAMED = [{"name": name, "probability": chance} for name, chance in CHANCES.items()]
VALUES = {"p5": 10, "p10": 20, "p25": 30, "p50": 40.5, "p75": 50, "p90": 60, "p95": 70}
DAYS = {name: f"2026-0{place}-01" for place, name in enumerate(VALUES, 1)}


def quantiles_text(values: Mapping[str, object]) -> str:
    """Return quantiles by percent as a forecast holds them."""
    pairs = tuple((int(name[1:]) * 10_000, str(value)) for name, value in values.items())
    return Distribution(quantiles=pairs).text


MEANT = {
    RAIN: 300_000,
    COLOUR: '{"chances":[200000,500000,300000]}',
    COST: quantiles_text(VALUES),
    OPENING: quantiles_text(DAYS),
}
STRICT = {
    "thoughts": None,
    "forecasts": [
        {"market": "m1", "reason": "r", "probability": 0.3, "options": None, "quantiles": None},
        {"market": "m2", "reason": "r", "probability": None, "options": LISTED, "quantiles": None},
        {"market": "m3", "reason": "r", "probability": None, "options": None, "quantiles": VALUES},
        {"market": "m4", "reason": "r", "probability": None, "options": None, "quantiles": DAYS},
    ],
    "bets": [],
    "sales": [],
}


def read(answer: object) -> dict[MarketId, int | str]:
    """Return what is accepted of an answer, by market."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    decision = parse_answer(text, VIEW)
    if isinstance(decision, UnusableAnswer):
        return {}
    return {each.market_id: each.distribution or each.millionths for each in decision.forecasts}


def refused(*forecasts: object) -> list[str]:
    """Return why items are refused."""
    decision = parse_answer(json.dumps({"forecasts": forecasts}), VIEW)
    assert isinstance(decision, Decision)
    return [rejection.message for rejection in decision.rejections]


def test_the_answer_that_the_schema_asks_for_is_read() -> None:
    schema = answer_schema(kinds=KINDS)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(STRICT, schema)
    item = schema["properties"]["forecasts"]["items"]
    assert item["required"] == list(item["properties"])
    assert set(item["required"]) == {"market", "reason", "probability", "options", "quantiles"}
    assert read(STRICT) == MEANT


def test_a_schema_has_only_the_keys_of_the_kinds_that_are_asked() -> None:
    def keys(*kinds: str) -> dict[str, Any]:
        properties: dict[str, Any] = answer_schema(False, kinds)["properties"]["forecasts"]["items"][
            "properties"
        ]
        return {key: rule for key, rule in properties.items() if key not in ("market", "reason")}

    assert answer_schema(kinds=("yes_no",)) == answer_schema()
    assert list(keys()) == ["probability"]
    assert keys("numeric") == {"quantiles": question_kind("numeric").SCHEMA}
    assert list(keys("multiple_choice", "yes_no")) == ["options", "probability"]
    assert keys("multiple_choice", "yes_no")["options"]["anyOf"][1] == {"type": "null"}


SHAPES: dict[str, object] = {
    "objects by option": {"forecasts": [{"market": "m2", "options": CHANCES}]},
    "under probability": {"forecasts": [{"market": "m2", "probability": CHANCES}]},
    "under distribution": {"predictions": [{"id": "m2", "distribution": LISTED}]},
    "wrapped twice": {"forecasts": [{"market": "m2", "options": {"probabilities": CHANCES}}]},
    "other letters and percent": {
        "forecasts": [{"market": "m2", "options": {"RED": "20%", "blue ": "50%", "green": "30 %"}}]
    },
    "of a hundred": {"forecasts": [{"market": "m2", "options": {"Red": 20, "Blue": 50, "Green": 30}}]},
    "a text of JSON": {"forecasts": [{"market": "m2", "options": json.dumps(CHANCES)}]},
    "beside the market": {"forecasts": [{"market": "m2", "reason": "r", **CHANCES}]},
    "by market": {"forecasts": {"m2": CHANCES}},
    "by market, with a reason": {"m2": {"options": CHANCES, "reason": "r"}},
    "pairs": {"forecasts": [["m2", CHANCES]]},
    "with a probability beside": {"forecasts": [{"market": "m2", "probability": 0.5, "options": CHANCES}]},
    "by id": {"forecasts": [{"market": COLOUR, "options": CHANCES}]},
    "one item": {"market": "m2", "options": CHANCES},
    "inside content": {"content": json.dumps({"forecasts": [{"market": "m2", "options": CHANCES}]})},
    "fenced": f"Sure:\n```json\n{json.dumps({'forecasts': [{'market': 'm2', 'options': CHANCES}]})}\n```",
    "named like a market": {"forecasts": [{"market": "m2", "options": NAMED}]},
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_a_distribution_in_another_shape_is_read(name: str) -> None:
    assert read(SHAPES[name]) == {COLOUR: MEANT[COLOUR]}


@pytest.mark.parametrize(
    "quantiles",
    [
        {name[1:]: value for name, value in VALUES.items()},
        {f"{name[1:]}%": f"{value} USD" for name, value in VALUES.items()},
        [{"percentile": name[1:], "value": value} for name, value in VALUES.items()],
        {"quantiles": VALUES},
    ],
)
def test_quantiles_in_another_shape_are_read(quantiles: object) -> None:
    assert read({"forecasts": [{"market": "m3", "quantiles": quantiles}]}) == {COST: MEANT[COST]}
    assert read({"forecasts": [{"market": "m3", "percentiles": quantiles}]}) == {COST: MEANT[COST]}


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"market": "m2", "probability": 0.4}, 'it is answered under "options"'),
        ({"market": "m3", "probability": 0.4}, 'it is answered under "quantiles"'),
        ({"market": "m1", "options": CHANCES}, "it states no probability"),
        ({"market": "m1", "probability": CHANCES}, "the probability is not a number"),
        ({"market": "m2", "options": {"Red": 0.2, "Blue": 0.2}}, "add up to 0.4"),
        ({"market": "m2", "options": {"Red": 0.5, "Black": 0.5}}, "'Black' is none of the options"),
        ({"market": "m2", "options": CHANCES, "distribution": {"Red": 1}}, "two answers that differ"),
        ({"market": "m3", "quantiles": {"p5": 1, "p50": 2}}, "3 are needed"),
        ({"market": "m3", "quantiles": {"p5": 3, "p50": 2, "p95": 9}}, "is below that of 5%"),
        ({"market": "m3", "quantiles": {"p5": 3, "p50": "about 4", "p95": 9}}, "'about 4' is not a number"),
        ({"market": "m2", "options": CHANCES, "status": "withdrawn"}, "says that this is no forecast"),
    ],
)
def test_what_answers_another_question_is_refused_with_a_reason(item: dict[str, Any], reason: str) -> None:
    [message] = refused(item)
    assert reason in message


def test_a_key_that_stands_twice_in_a_distribution_is_refused() -> None:
    text = '{"forecasts": [{"market": "m2", "options": {"Red": 0.2, "Red": 0.3, "Blue": 0.5, "Green": 0.3}}]}'
    decision = parse_answer(text, VIEW)
    assert isinstance(decision, Decision)
    assert [x.message for x in decision.rejections] == ['forecast 1: the key "Red" appears twice']


def test_an_answer_that_was_cut_off_keeps_what_is_whole() -> None:
    text = json.dumps(STRICT)
    begun = text[: text.index('"p75": 50')]
    decision = parse_answer(begun, VIEW, cut=True)
    assert isinstance(decision, Decision)
    assert [each.market_id for each in decision.forecasts] == [RAIN, COLOUR]
    assert [x.code for x in decision.rejections] == ["cut_off"]


def test_two_answers_to_one_question_that_differ_are_both_left_out() -> None:
    items = [{"market": "m2", "options": CHANCES}, {"market": "m2", "options": {"Red": 1}}]
    assert refused(*items) == ["this market has two different answers"]
    assert read({"forecasts": items[:1] * 2}) == {COLOUR: MEANT[COLOUR]}


ITEMS = st.fixed_dictionaries(
    {"market": st.sampled_from(["m1", "m2", "m3", "m4", COLOUR])},
    optional=dict.fromkeys(("options", "quantiles", "probability", "distribution", "Red", "p5"), json_values),
)


@given(st.lists(ITEMS, max_size=4), st.integers(0, 400))
def test_no_text_makes_the_reader_raise(items: list[dict[str, Any]], end: int) -> None:
    text = json.dumps({"forecasts": items})
    for said in (text, text[:end], json.dumps(items), json.dumps({"m2": items, "m3": {"forecasts": items}})):
        decision = parse_answer(said, VIEW)
        for forecast in decision.forecasts if isinstance(decision, Decision) else ():
            if forecast.market_id in FORMS:
                check_distribution_text(FORMS[forecast.market_id], forecast.distribution)
            else:
                assert not forecast.distribution


def test_the_second_question_says_how_each_missing_one_is_answered() -> None:
    first = json.dumps({"forecasts": [{"market": "m2", "probability": 0.4}, *STRICT["forecasts"][2:3]]})  # type: ignore[index]
    ask, asked = replies(first, json.dumps(STRICT))
    prompt = Prompt((Message("user", "?"),), bets=False, kinds=KINDS)
    markets = (RAIN, *FORMS)
    question = Question(prompt, markets, lambda *_: prompt, None, Fraction(9, 10), VIEW, ask)
    decision = result_of(question.decision())
    said = asked[1].messages[-1].content
    assert 'with a probability of YES between 0 and 1: m1; with its answer under "options", as said' in said
    assert '"quantiles", as said below it: m4.' in said
    assert 'it is no question of yes or no: it is answered under "options"' in said
    assert {x.market_id: x.distribution or x.millionths for x in decision.forecasts} == MEANT
    assert len(asked) == 2


def a_forecast(*chances: int, reason: str = "") -> Forecast:
    return Forecast(COLOUR, reason=reason, distribution=Distribution(chances).text)


def test_samples_are_combined_part_by_part() -> None:
    said = [(700_000, 200_000, 100_000), (100_000, 800_000, 100_000), (600_000, 300_000, 100_000)]
    samples = [Decision((a_forecast(*chances, reason=f"r{n}"),)) for n, chances in enumerate(said)]
    [forecast] = combine_samples(samples, forms_in(VIEW.snapshot)).forecasts
    assert distribution_of(forecast.distribution).chances == (600_000, 300_000, 100_000)
    assert forecast.reason == "r2"
    assert combine_samples(samples[:1]) == samples[0]


SURE = a_forecast(1_000_000, 0, 0).distribution


@pytest.mark.parametrize(
    ("forecast", "reason"),
    [
        (Forecast(COLOUR, 0.5), "state a distribution, and no probability"),
        (
            Forecast(COLOUR, millionths=1, distribution=a_forecast(1_000_000, 0, 0).distribution),
            "and no prob",
        ),
        (Forecast(RAIN, distribution=SURE), "state a probability"),
        (a_forecast(500_000, 500_000), "2 chances for 3 options"),
        (a_forecast(500_000, 500_000, 500_000), "add up to 1.5"),
        (a_forecast(500_000, 499_999, 0), "not written as it would be read"),
        (Forecast(COLOUR, distribution="[]"), "no distribution"),
        (Forecast(COLOUR, distribution="nonsense"), ""),
        (Forecast(COST, distribution='{"quantiles":[[50000,"1"],[500000,"2"]]}'), "3 are needed"),
        (Forecast(COST, distribution='{"quantiles":[[50000,"-1"],[500000,"2"],[900000,"3"]]}'), "is below 0"),
        (
            Forecast(COST, distribution='{"quantiles":[[50000,"1.0"],[500000,"2"],[900000,"3"]]}'),
            "not written",
        ),
    ],
)
def test_a_distribution_that_answers_another_question_is_not_kept(forecast: Forecast, reason: str) -> None:
    checked = sound_decision(Decision((forecast,)), VIEW)
    assert checked.forecasts == ()
    [rejection] = checked.rejections
    assert rejection.code == "bad_forecast"
    assert reason in rejection.message


def test_a_sound_distribution_is_kept() -> None:
    answers = [question_kind(form.kind).uniform(form) for form in FORMS.values()]
    forecasts = tuple(
        Forecast(market, distribution=answer.text) for market, answer in zip(FORMS, answers, strict=True)
    )
    assert sound_decision(Decision(forecasts), VIEW) == Decision(forecasts)
    assert COLOURS.options == ("Red", "Blue", "Green")


def test_where_all_questions_are_of_yes_or_no_nothing_is_put_aside() -> None:
    plain = a_view()
    text = json.dumps({"forecasts": [{"market": "m1", "options": {"yes": 0.1, "no": 0.9}}]})
    decision = parse_answer(text, plain)
    assert isinstance(decision, Decision)
    assert [each.millionths for each in decision.forecasts] == [100_000]
