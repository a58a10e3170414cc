"""Finds, puts aside and reads the answers to questions that aren't of yes or no in what a model wrote.

Where such questions are asked, what an answer says of each is put aside as one value before its shape is
looked at, so that the names of options are taken for nothing else. Its kind reads it. Where all questions are
of yes or no, nothing here is used.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agents.answers.figures import MeaninglessItem
from agents.answers.grammar import FoundValue, OpenObject, RepeatedKey
from agents.answers.json_text import NotOneObject, find_values
from agents.answers.keys import (
    MARKET_KEYS,
    MOST_KEYS,
    TEXT_KEYS,
    market_named,
    market_of,
    plain_key,
    word_set,
)
from agents.text import one_line
from markets.distributions import BadDistribution, QuestionForm, question_kind
from markets.model import MarketId

MOST_NESTED = 10
MarketByName = Mapping[str, Any]
"""Markets by the names that the prompt gave them."""
Forms = Mapping[MarketId, QuestionForm]
NO_FORMS: Forms = {}
"""Where all questions are of yes or no."""
WRAPPERS = word_set(
    "options distribution probabilities outcomes quantiles percentiles probability forecast prediction "
    "answer range value values chances"
)
"""Keys under which the answer to such a question may stand, besides that of its kind."""


@dataclass(frozen=True, slots=True)
class AnswerAside:
    """What an answer says of a question that isn't of yes or no, as it was written: once, or several times.

    `under_kind_key` is whether it stood under the key of its kind.
    """

    values: tuple[Any, ...]
    under_kind_key: bool = False


def with_answers_aside(
    values: list[FoundValue], market_by_name: MarketByName, forms: Forms
) -> list[FoundValue]:
    """Return values of an answer in which each answer to one of these questions is put aside."""
    if not forms:
        return values
    return [
        replace(found, value=_with_answers_aside(found.value, market_by_name, forms, 0)) for found in values
    ]


def _with_answers_aside(value: Any, market_by_name: MarketByName, forms: Forms, depth: int) -> Any:
    """Return a value with all answers within it put aside; an object without an end keeps what it says."""
    if depth > MOST_NESTED:
        return value
    if isinstance(value, str):
        return _json_text_aside(value, market_by_name, forms, depth)
    if isinstance(value, list):
        return [_list_item_aside(item, market_by_name, forms, depth + 1) for item in value]
    if isinstance(value, dict):
        return _object_aside(value, market_by_name, forms, depth)
    return value


def _object_aside(
    item: dict[str, Any], market_by_name: MarketByName, forms: Forms, depth: int
) -> dict[str, Any]:
    """Return an object with its answer, or those of the markets that are its keys, put aside."""
    form = _form_asked_about(item, market_by_name, forms)
    if form is not None:
        return _with_answer(item, form)

    result = OpenObject() if isinstance(item, OpenObject) else dict[str, Any]()
    for key, inner in item.items():
        form_of_key = forms.get(market_named(key, market_by_name))
        if form_of_key is None or not isinstance(inner, dict | list):
            result[key] = _with_answers_aside(inner, market_by_name, forms, depth + 1)
        elif isinstance(inner, dict):
            result[key] = _with_answer(inner, form_of_key)
        else:
            result[key] = AnswerAside((inner,))

    return result


def _list_item_aside(item: Any, market_by_name: MarketByName, forms: Forms, depth: int) -> Any:
    """Return an item of a list; of a pair of a market and its answer, the answer is put aside."""
    is_pair = isinstance(item, list) and len(item) == 2
    if is_pair:
        name, answer = item
        if isinstance(answer, dict | list) and market_named(name, market_by_name) in forms:
            return [name, AnswerAside((answer,))]

    return _with_answers_aside(item, market_by_name, forms, depth)


def _json_text_aside(text: str, market_by_name: MarketByName, forms: Forms, depth: int) -> Any:
    """Return the one value of a text that is JSON and has such an answer in it; any other text as it is."""
    parsed = _parsed_json(text)
    if parsed is text:
        return text

    value = _with_answers_aside(parsed, market_by_name, forms, depth + 1)
    has_answer = value != parsed
    return value if has_answer else text


def _form_asked_about(
    item: dict[str, Any], market_by_name: MarketByName, forms: Forms
) -> QuestionForm | None:
    """Return the form of the question that an object is about, or None if it is about another."""
    if len(item) > MOST_KEYS or MARKET_KEYS.isdisjoint(map(plain_key, item)):
        return None
    return forms.get(market_of(item, market_by_name))


def _with_answer(item: dict[str, Any], form: QuestionForm) -> dict[str, Any]:
    """Return an item with its answer under `probability`, and without the keys that held it.

    Where no key is one for answers, all keys but those of markets and of words may be the answer itself. An
    item without an end stays as it is.
    """
    if isinstance(item, OpenObject):
        return item

    kind_key = question_kind(form.kind).KEY
    answers: dict[str, Any] = {}
    other_pairs: dict[str, Any] = {}
    for key, value in item.items():
        if not _is_answer_key(key, plain_key(kind_key)):
            other_pairs[key] = value
            continue

        parsed = _parsed_json(value)
        if isinstance(parsed, dict | list):
            answers[key] = parsed

    if answers:
        answer = AnswerAside(tuple(_distinct(answers.values())), under_kind_key=[*answers] == [kind_key])
        return {**other_pairs, "probability": answer}

    # the item may be the answer itself: {"market": "m1", "red": 0.2, "blue": 0.8}
    inline = {
        key: value
        for key, value in item.items()
        if value is not None and plain_key(key) not in MARKET_KEYS | TEXT_KEYS
    }
    if inline and _can_read(form, inline):
        other_pairs = {key: value for key, value in item.items() if key not in inline}
        return {**other_pairs, "probability": AnswerAside((inline,))}
    return item


def _parsed_json(value: Any) -> Any:
    """Return the object or list whose JSON a text is; return other parts unchanged."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value

    try:
        values = find_values(value)
    except NotOneObject:
        return value

    if len(values) != 1 or values[0].fault:
        return value
    return values[0].value


def _is_answer_key(key: str, kind_key: str) -> bool:
    """Return whether an answer may stand under a key, `kind_key` being that of its kind."""
    plain = plain_key(key)
    return plain == kind_key or plain in WRAPPERS


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Return the values that differ."""
    distinct: list[Any] = []
    for value in values:
        if value not in distinct:
            distinct.append(value)
    return distinct


def _can_read(form: QuestionForm, value: Any) -> bool:
    try:
        question_kind(form.kind).read(form, value)
    except BadDistribution:
        return False
    return True


def read_stated(form: QuestionForm, value: Any, repairs: dict[str, None]) -> str:
    """Return the distribution that an answer states, as `Forecast.distribution` holds it.

    Notes the repairs that were needed. Raises `MeaninglessItem` with a reason that the model can act on.
    """
    kind = question_kind(form.kind)
    if not isinstance(value, AnswerAside):
        message = f'it is no question of yes or no: it is answered under "{kind.KEY}"'
        raise MeaninglessItem("distribution", message)
    if len(value.values) > 1:
        raise MeaninglessItem("distribution", "it states two answers that differ")

    answer = value.values[0]
    unclear = _unclear_reason(answer)
    if unclear:
        raise MeaninglessItem("distribution", unclear)
    if not value.under_kind_key:
        repairs["key"] = None
    try:
        return kind.read(form, answer).text
    except BadDistribution as error:
        inner = _only_inner_value(answer, plain_key(kind.KEY))
        if inner is None or not _can_read(form, inner):
            raise MeaninglessItem("distribution", one_line(str(error), 200)) from error

    repairs["wrapping"] = None
    return kind.read(form, inner).text


def _only_inner_value(value: Any, kind_key: str) -> Any:
    """Return what stands alone within an object or a list of one; None where nothing does."""
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    if isinstance(value, dict):
        answers = [
            inner
            for key, inner in value.items()
            if _is_answer_key(key, kind_key) and isinstance(inner, dict | list)
        ]
        if len(answers) == 1:
            return answers[0]
    return None


def _unclear_reason(value: Any, depth: int = 0) -> str:
    """Return why an answer is unclear, or "": a key appears twice, or the end is missing."""
    if isinstance(value, RepeatedKey):
        return f'the key "{one_line(value.key, 40)}" appears twice'
    if isinstance(value, OpenObject):
        return "it has no end"
    if depth > MOST_NESTED:
        return "it is nested too deeply"

    parts: Iterable[Any] = ()
    if isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, list):
        parts = value
    for part in parts:
        fault = _unclear_reason(part, depth + 1)
        if fault:
            return fault
    return ""
