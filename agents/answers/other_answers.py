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
Names = Mapping[str, Any]
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

    `by_key` is whether it stood under the key of its kind.
    """

    values: tuple[Any, ...]
    by_key: bool = False


def with_answers_aside(found: list[FoundValue], names: Names, forms: Forms) -> list[FoundValue]:
    """Return values of an answer in which each answer to one of these questions is put aside."""
    if not forms:
        return found
    return [replace(content, value=_aside(content.value, names, forms, 0)) for content in found]


def _aside(value: Any, names: Names, forms: Forms, depth: int) -> Any:
    """Return a value with all answers within it put aside; an object without an end keeps what it says."""
    if depth > MOST_NESTED:
        return value
    if isinstance(value, str):
        return _in_text(value, names, forms, depth)
    if isinstance(value, list):
        return [_item_aside(item, names, forms, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value

    form = _form_of(value, names, forms)
    if form is not None:
        return _with_answer(value, form)
    result = OpenObject() if isinstance(value, OpenObject) else dict[str, Any]()
    for key, part in value.items():
        named = forms.get(market_named(key, names))
        if named is None or not isinstance(part, dict | list):
            result[key] = _aside(part, names, forms, depth + 1)
        else:
            result[key] = _with_answer(part, named) if isinstance(part, dict) else AnswerAside((part,))
    return result


def _item_aside(item: Any, names: Names, forms: Forms, depth: int) -> Any:
    """Return an item of a list; of a pair of a market and its answer, the answer is put aside."""
    is_pair = isinstance(item, list) and len(item) == 2 and isinstance(item[1], dict | list)
    if is_pair and market_named(item[0], names) in forms:
        return [item[0], AnswerAside((item[1],))]
    return _aside(item, names, forms, depth)


def _in_text(text: str, names: Names, forms: Forms, depth: int) -> Any:
    """Return the one value of a text that is JSON and has such an answer in it; any other text as it is."""
    inner = _structured(text)
    if inner is text:
        return text
    value = _aside(inner, names, forms, depth + 1)
    if value == inner:
        return text
    return value


def _form_of(item: dict[str, Any], names: Names, forms: Forms) -> QuestionForm | None:
    """Return the form of the question that an object is about, or None if it is about another."""
    if len(item) > MOST_KEYS or MARKET_KEYS.isdisjoint(map(plain_key, item)):
        return None
    return forms.get(market_of(item, names))


def _with_answer(item: dict[str, Any], form: QuestionForm) -> dict[str, Any]:
    """Return an item with its answer under `probability`, and without the keys that held it.

    Where no key is one for answers, all keys but those of markets and of words may be the answer itself. An
    item without an end stays as it is.
    """
    if isinstance(item, OpenObject):
        return item
    name = question_kind(form.kind).KEY
    held: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for key, part in item.items():
        if not _may_hold(key, plain_key(name)):
            rest[key] = part
            continue

        inner = _structured(part)
        if isinstance(inner, dict | list):
            held[key] = inner

    if held:
        answer = AnswerAside(tuple(_distinct(held.values())), by_key=[*held] == [name])
        return {**rest, "probability": answer}

    plain = {
        key: part
        for key, part in item.items()
        if part is not None and plain_key(key) not in MARKET_KEYS | TEXT_KEYS
    }
    if plain and _is_read(form, plain):
        kept = {key: part for key, part in item.items() if key not in plain}
        return {**kept, "probability": AnswerAside((plain,))}
    return item


def _structured(part: Any) -> Any:
    """Return the object or list whose JSON a text is; return other parts unchanged."""
    if not isinstance(part, str) or part.lstrip()[:1] not in ("{", "["):
        return part

    try:
        inner = find_values(part)
    except NotOneObject:
        return part

    if len(inner) != 1 or inner[0].fault:
        return part
    return inner[0].value


def _may_hold(key: str, own: str) -> bool:
    """Return whether an answer may stand under a key, `own` being that of its kind."""
    plain = plain_key(key)
    return plain == own or plain in WRAPPERS


def _distinct(values: Iterable[Any]) -> list[Any]:
    """Return the values that differ."""
    distinct: list[Any] = []
    for value in values:
        if value not in distinct:
            distinct.append(value)
    return distinct


def _is_read(form: QuestionForm, value: Any) -> bool:
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

    stated = value.values[0]
    fault = _unclear_part(stated)
    if fault:
        raise MeaninglessItem("distribution", fault)
    if not value.by_key:
        repairs["key"] = None
    try:
        return kind.read(form, stated).text
    except BadDistribution as error:
        inner = _unwrapped(stated, plain_key(kind.KEY))
        if inner is None or not _is_read(form, inner):
            raise MeaninglessItem("distribution", one_line(str(error), 200)) from error

    repairs["wrapping"] = None
    return kind.read(form, inner).text


def _unwrapped(value: Any, own: str) -> Any:
    """Return what stands alone within an object or a list of one; None where nothing does."""
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    if isinstance(value, dict):
        inner = [part for key, part in value.items() if _may_hold(key, own) and isinstance(part, dict | list)]
        if len(inner) == 1:
            return inner[0]
    return None


def _unclear_part(value: Any, depth: int = 0) -> str:
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
        fault = _unclear_part(part, depth + 1)
        if fault:
            return fault
    return ""
