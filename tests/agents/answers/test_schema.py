"""The schema of an answer and the reader of answers agree on what an answer is."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answers.parse import parse_answer
from agents.model import Decision
from agents.prompts.answer_schema import answer_schema
from tests.agents.minds import a_view, an_answer

VIEW = a_view()


def made_by(rule: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Draw anything that a schema allows, with real markets named more often than by chance."""
    if "enum" in rule:
        return st.sampled_from(rule["enum"])
    match rule["type"]:
        case [*kinds]:
            return st.one_of([made_by({"type": kind}) for kind in kinds])
        case "object":
            return st.fixed_dictionaries({key: made_by(inner) for key, inner in rule["properties"].items()})
        case "array":
            return st.lists(made_by(rule["items"]), max_size=4)
        case "string":
            return st.sampled_from(["m1", "m2", "m3"]) | st.text(max_size=10)
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False) | st.integers() | st.floats(0, 1)
        case "null":
            return st.none()
    raise AssertionError(f"a type that no answer has: {rule}")


def objects(rule: dict[str, Any]) -> list[dict[str, Any]]:
    """Return every object in a schema."""
    inner = [*rule.get("properties", {}).values(), *([rule["items"]] if "items" in rule else [])]
    return ([rule] if rule["type"] == "object" else []) + [found for one in inner for found in objects(one)]


@pytest.mark.parametrize("bets", [True, False])
def test_a_schema_is_strict(bets: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(answer_schema(bets))
    for rule in objects(answer_schema(bets)):
        assert rule["required"] == list(rule["properties"])
        assert rule["additionalProperties"] is False


def test_thoughts_come_before_forecasts_and_reasons_before_probabilities() -> None:
    whole = answer_schema()["properties"]
    assert list(whole) == ["thoughts", "forecasts", "bets", "sales"]
    assert list(whole["forecasts"]["items"]["properties"]) == ["market", "reason", "probability"]


@given(st.data(), st.booleans())
def test_whatever_the_schema_lets_through_can_be_read(data: st.DataObject, bets: bool) -> None:
    answer = data.draw(made_by(answer_schema(bets)))
    jsonschema.validate(answer, answer_schema(bets))
    read = parse_answer(json.dumps(answer), VIEW, bets=bets)
    assert isinstance(read, Decision)
    assert "not_asked" not in {rejection.code for rejection in read.rejections}
    assert not (read.bets or read.sales) or bets


@given(st.data())
def test_a_whole_answer_where_only_forecasts_were_asked_for_has_no_bets(data: st.DataObject) -> None:
    answer = data.draw(made_by(answer_schema()))
    read = parse_answer(json.dumps(answer), VIEW, bets=False)
    assert isinstance(read, Decision)
    assert (read.bets, read.sales) == ((), ())
    told = [rejection.code for rejection in read.rejections].count("not_asked")
    assert told == bool(answer["bets"] or answer["sales"])


def test_a_valid_answer_passes_and_a_careless_one_does_not() -> None:
    reason: dict[str, Any] = {"market": "m1", "reason": "cheap"}
    good: dict[str, Any] = {
        "thoughts": None,
        "forecasts": [reason | {"probability": 0.4}],
        "bets": [reason | {"side": "NO", "amount": 120, "limit": None}],
        "sales": [reason | {"side": "NO", "fraction": 1, "limit": 0.5}],
    }
    jsonschema.validate(good, answer_schema())
    for bad in (
        good | {"forecasts": [reason | {"probability": "0.4"}]},
        good | {"bets": [reason | {"side": "MAYBE", "amount": 1, "limit": None}]},
        good | {"note": "hm"},
        json.loads(an_answer()),
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, answer_schema())
