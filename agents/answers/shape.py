"""The contents of an answer: forecasts, bets and sales, under whatever names and wrappings they come.

A name stands for another only where it can mean nothing else, and every such step is noted. What is said of a
market by two answers of one text must agree.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from agents.answers.grammar import ENDS_EARLY, FoundValue, OpenObject, RepeatedKey
from agents.answers.json_text import (
    MOST_AROUND,
    NotOneObject,
    announced_at,
    find_values,
    is_quoted,
    is_taken_back,
    last_heading,
)
from agents.answers.keys import (
    REASON_KEYS,
    chance_of,
    is_forecast,
    is_order,
    market_named,
    market_of,
    plain_key,
    unit_key,
    word_set,
)
from agents.answers.orders import denying_key, denying_words, disowning_key
from agents.answers.other_answers import NO_FORMS, Forms, MarketByName, with_answers_aside
from agents.answers.plain_text import plain_forecasts
from agents.text import one_line

SEVERAL = "the answer contains several different answers; expected exactly one JSON object"
MOST_ITEMS = 1_000
MOST_NESTED = 8
LISTS = ("forecasts", "bets", "sales")
LIST_KEYS = word_set(
    "forecasts forecast predictions prediction probabilities estimates answers markets results questions"
)
BET_KEYS = {"bets": "bets", "bet": "bets", "wagers": "bets", "sales": "sales", "sells": "sales"}
THOUGHTS = re.compile(
    r"thought|think|reason|draft|example|scratch|initial|previous|analysis|schema|template|prior"
)
NO_FORECASTS = re.compile(
    r"price|implied|odds|crowd|consensus|communit|baseline|base_?rate|quote|weight|stake|amount|alloc|size|limit"
    r"|(?<![a-z])edge|confidence|uncertain|stdev|volatil|threshold|market_?prob|bound|\b(?:min|max|low|high)"
)
"""Keys under which numbers of markets are something else than forecasts."""
REVISIONS = re.compile(r"final|revis|correct|updat|adjust")
"""Keys under which an answer may state its forecasts anew."""

Keys = Mapping[str, str]
"""An object's keys by their plain forms."""


@dataclass(slots=True)
class Answer:
    """The items of an answer as written, and the repairs by which they were read.

    `misplaced` is how many orders stand where none is read, `denied` a key beside them that makes all of them
    doubtful.
    """

    forecasts: list[Any] = field(default_factory=list)
    bets: list[Any] = field(default_factory=list)
    sales: list[Any] = field(default_factory=list)
    repairs: dict[str, None] = field(default_factory=dict)
    fault: str = ""
    misplaced: int = 0
    denied: str = ""

    def add(self, other: "Answer") -> None:
        """Add the items of another answer."""
        for name in LISTS:
            getattr(self, name).extend(getattr(other, name))
        self.repairs |= other.repairs
        self.fault = self.fault or other.fault
        self.denied = self.denied or other.denied


def find_answer(
    text: str, market_by_name: MarketByName, cut: bool = False, forms: Forms = NO_FORMS
) -> Answer:
    """Return what a text lists in all; `cut` is whether it was cut off.

    `market_by_name` has the markets by their names in the prompt, `forms` the forms of the questions that
    aren't of yes or no. Raises `NotOneObject` if there is no answer, several that differ, or too many items.
    """
    values = with_answers_aside(find_values(text), market_by_name, forms)
    candidates, other_values = _answers_among(values, market_by_name)
    answers = _answers_that_count(text, candidates, market_by_name)
    if answers:
        _note_words_around(text, answers)

    if not answers and not values:
        forecasts = plain_forecasts(text, market_by_name, cut)
        if forecasts:
            return Answer(forecasts, repairs={"plain text": None})

    if not answers and len(values) == 1:
        orders_alone = _answer_without_forecasts(values[0])
        answers = [] if orders_alone is None else [(values[0], orders_alone)]
    if not answers:
        raise _no_answer_error(values)

    merged = _merged(_answers_alone(answers))

    # orders that stand in the values but in none of the lists that were read
    values_read = [found.value for found, _ in answers]
    orders = set(map(repr, chain.from_iterable(map(_orders_within, values_read + other_values))))
    items_read = set(map(repr, chain(merged.forecasts, merged.bets, merged.sales)))
    merged.misplaced = len(orders - items_read)

    limit = max(MOST_ITEMS, 2 * len(market_by_name))
    for name in LISTS:
        count = len(getattr(merged, name))
        if count > limit:
            raise NotOneObject(f'the list "{name}" has {count:,} items, and {limit:,} are allowed')

    return merged


def _answers_among(
    values: Sequence[FoundValue], market_by_name: MarketByName
) -> tuple[list[tuple[FoundValue, Answer]], list[Any]]:
    """Return the answers among values, each with the value that it was read from, and the other values."""
    answers = list[tuple[FoundValue, Answer]]()
    others = list[Any]()

    for found in values:
        answer = _answer_of_value(found, market_by_name)
        if answer is None:
            others.append(found.value)
        else:
            answers.append((found, answer))
    return answers, others


def _answers_that_count(
    text: str, answers: list[tuple[FoundValue, Answer]], market_by_name: MarketByName
) -> list[tuple[FoundValue, Answer]]:
    """Return the answers of a text that count: all if they agree, else those announced last.

    Raises `NotOneObject` where it can't be told which of them count.
    """
    not_empty = [
        (found, answer) for found, answer in answers if answer.forecasts or answer.bets or answer.sales
    ]
    answers = not_empty or answers
    if len(answers) < 2 or _do_agree(_answers_alone(answers), market_by_name):
        return answers

    first_value, _ = answers[0]
    last_value, _ = answers[-1]
    announced_from = last_heading(text, first_value.end, last_value.start)
    if announced_from < 0:
        announced_from = announced_at(text, last_value.start, last_value.end)
    if announced_from < 0:
        raise NotOneObject(SEVERAL)

    announced = [(found, answer) for found, answer in answers if found.start >= announced_from]
    if not announced or not _do_agree(_answers_alone(announced), market_by_name):
        raise NotOneObject(SEVERAL)
    return announced


def _note_words_around(text: str, answers: Sequence[tuple[FoundValue, Answer]]) -> None:
    """Note in the first answer what the words around answers say of their orders.

    Raises `NotOneObject` where they make an answer an example, or take it back.
    """
    first_value, first_answer = answers[0]
    last_value, _ = answers[-1]
    if any(is_quoted(text, found.start) for found, _ in answers):
        raise NotOneObject("the words before the JSON make it an example or a quotation")
    if is_taken_back(text, last_value.end):
        raise NotOneObject("what follows the JSON takes it back: answer with the right one alone")

    before = text[max(0, first_value.start - MOST_AROUND) : first_value.start].rpartition(">")[2]
    after = text[last_value.end : last_value.end + MOST_AROUND]
    denial = denying_words(before) or denying_words(after)
    first_answer.denied = first_answer.denied or denial


def _orders_within(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield everything within a value that would be an order, except in thoughts."""
    if isinstance(value, dict) and is_order(value):
        yield value
        return
    if not isinstance(value, dict | list) or depth > MOST_NESTED:
        return

    pairs: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        is_thought = THOUGHTS.search(str(key).casefold())
        if not is_thought:
            yield from _orders_within(inner, depth + 1)


def _answer_without_forecasts(found: FoundValue) -> Answer | None:
    """Return the answer of an object that has bets or sales and no forecasts, or None."""
    value = found.value
    if not isinstance(value, dict):
        return None

    keys = {plain_key(key): key for key in value}
    order_lists = [value[keys[key]] for key in BET_KEYS if key in keys]
    if not any(order_lists) or not all(isinstance(order_list, list) for order_list in order_lists):
        return None

    answer = Answer(repairs=dict(found.repairs), fault=found.fault)
    if found.fault:
        answer.repairs["cut"] = None

    return _with_orders_beside(answer, value, keys)


def _merged(answers: Sequence[Answer]) -> Answer:
    """Return what agreeing answers say in all, each item once."""
    if len(answers) == 1:
        return answers[0]

    merged = Answer(repairs={"several": None})
    for answer in answers:
        merged.add(answer)

    for name in LISTS:
        items = {repr(item): item for item in getattr(merged, name)}
        setattr(merged, name, [*items.values()])

    return merged


def _no_answer_error(values: Sequence[FoundValue]) -> NotOneObject:
    """Return why no answer was found."""
    for found in values:
        if found.fault:
            return NotOneObject(found.fault)

    objects = [found.value for found in values if isinstance(found.value, dict)]
    if objects:
        return NotOneObject('the object needs a list "forecasts"')
    if values:
        return NotOneObject('expected one JSON object, found a list: {"forecasts": [...]}')
    return NotOneObject("the answer contains no JSON object")


def _answers_alone(answers: Iterable[tuple[FoundValue, Answer]]) -> list[Answer]:
    """Return answers without the values in which they were found."""
    return [answer for _, answer in answers]


def _do_agree(answers: Sequence[Answer], market_by_name: MarketByName) -> bool:
    """Return whether no market has two forecasts; answers with orders, which may be quoted, must be equal."""
    if any(answer.bets or answer.sales for answer in answers):
        contents = [(answer.forecasts, answer.bets, answer.sales) for answer in answers]
        return all(content == contents[0] for content in contents)

    chances: dict[Any, str] = {}
    for answer in answers:
        for item in answer.forecasts:
            market = market_of(item, market_by_name) if isinstance(item, dict) else None
            if market is not None:
                chance = str(chance_of(item))
                if chances.setdefault(market, chance) != chance:
                    return False

    return True


def _answer_of_value(found: FoundValue, market_by_name: MarketByName) -> Answer | None:
    """Return the answer that a value found in a text is or holds, with the repairs of both; else None."""
    answer = _answer_in(found.value, market_by_name, 0)
    if answer is None:
        return None

    answer.repairs = found.repairs | answer.repairs
    answer.fault = answer.fault or found.fault
    if answer.fault:
        answer.repairs["cut"] = None
    return answer


def _answer_in(value: Any, market_by_name: MarketByName, depth: int) -> Answer | None:
    """Return the answer that a value is or holds, or None if there is none or it is ambiguous."""
    if depth > MOST_NESTED:
        return None
    if isinstance(value, str):
        return _answer_in_json_text(value, market_by_name, depth)

    if isinstance(value, list):
        forecasts = _forecasts_of_list(value, market_by_name)
        if forecasts:
            return Answer(forecasts, repairs={"wrapping": None})

        candidates = [_answer_in(item, market_by_name, depth + 1) for item in value]
        answers = [answer for answer in candidates if answer is not None]
        if len(answers) != 1:
            return None
        answers[0].repairs["wrapping"] = None
        return answers[0]

    if not isinstance(value, dict) or _is_schema(value):
        return None
    return _answer_in_object(value, market_by_name, depth)


def _answer_in_json_text(text: str, market_by_name: MarketByName, depth: int) -> Answer | None:
    """Return the answer in JSON within a text."""
    if not re.match(r"\s*(?:```\w*\s*)?[\[{]", text):
        return None

    try:
        values = find_values(text)
    except NotOneObject:
        return None

    answers = list[tuple[FoundValue, Answer]]()
    for found in values:
        candidate = _answer_in(found.value, market_by_name, depth + 1)
        if candidate is not None:
            answers.append((found, candidate))
    if len(answers) != 1:
        return None

    [(found, answer)] = answers
    answer.repairs = {"wrapping": None, **found.repairs, **answer.repairs}
    answer.fault = answer.fault or found.fault
    return answer


def _forecasts_of_list(value: list[Any], market_by_name: MarketByName) -> list[Any]:
    """Return the forecasts of a list without a name; an empty list if any item is something else."""
    forecasts: list[Any] = []
    for item in value:
        if isinstance(item, list) and len(item) == 2 and market_named(item[0], market_by_name) is not None:
            forecasts.append({"market": item[0], "probability": item[1]})
        elif isinstance(item, dict) and is_forecast(item):
            forecasts.append(item)
        elif isinstance(item, dict) and (forecasts_of_item := _forecasts_by_market_key(item, market_by_name)):
            forecasts += forecasts_of_item
        elif not isinstance(item, OpenObject):
            return []

    return forecasts


def _is_schema(value: dict[str, Any]) -> bool:
    """Tell whether an object is a JSON schema: it describes answers, but isn't one."""
    return isinstance(value.get("properties"), dict) and (value.get("type") == "object" or "$schema" in value)


def _answer_in_object(value: dict[str, Any], market_by_name: MarketByName, depth: int) -> Answer | None:
    """Return the answer that an object is or holds: by its keys, as one forecast, or among its values."""
    exact_keys = {key: key for key in value if plain_key(key) == key}
    keys = {plain_key(key): key for key in value} | exact_keys
    if "forecasts" in keys:
        return _answer_with_forecasts_key(value, keys, market_by_name, depth)

    if is_forecast(value):
        return Answer([value], repairs={"wrapping": None})

    list_keys = [key for key in keys if key in LIST_KEYS and isinstance(value[keys[key]], list | dict | str)]
    if list_keys:
        return _answer_with_synonyms(value, keys, list_keys, market_by_name, depth)

    forecasts = _forecasts_by_market_key(value, market_by_name)
    if forecasts:
        return Answer(forecasts, repairs={"wrapping": None})
    return _answer_among_values(value, keys, market_by_name, depth)


def _answer_among_values(
    value: dict[str, Any], keys: Keys, market_by_name: MarketByName, depth: int
) -> Answer | None:
    """Return the answer among an object's values, or None if there are none or several."""
    answers: list[Answer] = []
    for key, inner in value.items():
        name = key.casefold()
        may_answer = THOUGHTS.search(name) is None and NO_FORECASTS.search(name) is None
        if may_answer and isinstance(inner, list | dict | str):
            candidate = _answer_in(inner, market_by_name, depth + 1)
            if candidate is not None:
                answers.append(candidate)

    if len(answers) != 1:
        return None

    answer = answers[0]
    answer.repairs["wrapping"] = None
    if isinstance(value, OpenObject):
        answer.fault = answer.fault or ENDS_EARLY

    # orders inside the answer are all that count; else they may stand beside it
    if answer.bets or answer.sales:
        answer.denied = answer.denied or denying_key(value)
        return answer
    return _with_orders_beside(answer, value, keys)


def _answer_with_forecasts_key(
    value: dict[str, Any], keys: Keys, market_by_name: MarketByName, depth: int
) -> Answer:
    """Return the answer of an object with a list of forecasts. Raise `NotOneObject` if it is no list."""
    key = keys["forecasts"]
    listed = value[key]
    answer = _answer_in_place_of_list(listed, market_by_name, depth)
    if answer is None and isinstance(listed, list):
        answer = Answer(list(listed))
    elif answer is None:
        hint = _repeated_key_hint(listed)
        if isinstance(listed, dict):
            hint = ", and an object stands there"
        raise NotOneObject(f'the object needs a list "forecasts"{hint}')

    if key != "forecasts":
        answer.repairs["key"] = None

    _refuse_other_revisions(answer, value, key, market_by_name, depth)
    return _with_orders_beside(answer, value, keys)


def _refuse_other_revisions(
    answer: Answer, value: dict[str, Any], forecasts_key: str, market_by_name: MarketByName, depth: int
) -> None:
    """Raise `NotOneObject` where another key of an answer states its forecasts anew, and otherwise."""
    for key, inner in value.items():
        if key == forecasts_key or not isinstance(inner, list | dict) or not REVISIONS.search(key.casefold()):
            continue
        revised = _answer_in(inner, market_by_name, depth + 1)
        if revised is not None and not _do_agree(
            [Answer(answer.forecasts), Answer(revised.forecasts)], market_by_name
        ):
            raise NotOneObject(SEVERAL)


def _answer_with_synonyms(
    value: dict[str, Any], keys: Keys, list_keys: Sequence[str], market_by_name: MarketByName, depth: int
) -> Answer | None:
    """Return the answer of an object whose forecasts have other names."""
    answer = Answer(repairs={"key": None})
    for key in list_keys:
        inner = _answer_in_place_of_list(value[keys[key]], market_by_name, depth)
        if inner is not None:
            answer.add(inner)
    if not answer.forecasts:
        return None
    return _with_orders_beside(answer, value, keys)


def _answer_in_place_of_list(listed: Any, market_by_name: MarketByName, depth: int) -> Answer | None:
    """Return the answer in the place of a list of forecasts."""
    if isinstance(listed, list) and any(isinstance(item, dict) and is_forecast(item) for item in listed):
        return Answer(list(listed))
    answer = _answer_in(listed, market_by_name, depth + 1)
    if answer is not None:
        answer.repairs["wrapping"] = None
    return answer


def _with_orders_beside(answer: Answer, value: dict[str, Any], keys: Keys) -> Answer:
    """Return the answer with the bets and sales beside its forecasts, and what is said of all of these.

    Raises `NotOneObject` if the object says that the forecasts are none, or has something else than a list of
    orders.
    """
    disowning = disowning_key(value)
    if answer.forecasts and disowning:
        raise NotOneObject(f'"{one_line(disowning, 80)}" says that these are no forecasts')

    key_of_unit = unit_key(value)
    if key_of_unit is not None:
        unit_of_all = {"unit": value[key_of_unit]}  # an item may have its own
        answer.forecasts = [
            {**unit_of_all, **item} if isinstance(item, dict) else item for item in answer.forecasts
        ]

    for plain, list_name in BET_KEYS.items():
        orders = value.get(keys.get(plain, ""))
        if isinstance(orders, list):
            getattr(answer, list_name).extend(orders)
        elif orders is not None:
            raise NotOneObject(f'the object needs a list "{list_name}"{_repeated_key_hint(orders)}')

    answer.denied = answer.denied or denying_key(value)
    return answer


def _repeated_key_hint(value: Any) -> str:
    if not isinstance(value, RepeatedKey):
        return ""
    return f', and the key "{one_line(value.key, 80)}" appears twice'


def _forecasts_by_market_key(value: dict[str, Any], market_by_name: MarketByName) -> list[Any]:
    """Return the forecasts of an object whose keys are markets; an empty list if another key has no text."""
    if len(value) > MOST_ITEMS:
        return []

    forecasts: list[Any] = []
    for key, inner in value.items():
        if market_named(key, market_by_name) is None:
            is_comment = isinstance(inner, str) and plain_key(key) in REASON_KEYS | {"thoughts", "thinking"}
            if is_comment:
                continue
            return []

        if isinstance(inner, OpenObject):
            forecasts.append(inner)
        elif isinstance(inner, dict):
            forecasts.append({**inner, "market": key})
        else:
            forecasts.append({"market": key, "probability": inner})

    return forecasts
