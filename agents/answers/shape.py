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
from agents.answers.other_answers import NO_FORMS, Forms, with_answers_aside
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

Names = Mapping[str, Any]
"""Markets by the names that the prompt gave them."""
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


def find_answer(text: str, names: Names, cut: bool = False, forms: Forms = NO_FORMS) -> Answer:
    """Return what a text lists in all; `names` are those of the markets, `cut` whether it was cut off.

    `forms` are those of the questions that aren't of yes or no. Raises `NotOneObject`.
    """
    values = with_answers_aside(find_values(text), names, forms)
    read, others = _answers_among(values, names)
    answers = _agreeing(text, read, names)
    if answers:
        _check_words_around(text, answers)
    if not answers and not values:
        items = plain_forecasts(text, names, cut)
        if items:
            return Answer(items, repairs={"plain text": None})
    if not answers and len(values) == 1:
        alone = _orders_alone(values[0])
        answers = [] if alone is None else [(values[0], alone)]
    if not answers:
        raise _nothing(values)

    whole = _together(_without_values(answers))
    kept = [found.value for found, _ in answers] + others
    orders = set(map(repr, chain.from_iterable(map(_orders, kept))))
    items_read = set(map(repr, chain(whole.forecasts, whole.bets, whole.sales)))
    whole.misplaced = len(orders - items_read)
    most = max(MOST_ITEMS, 2 * len(names))
    for name in LISTS:
        count = len(getattr(whole, name))
        if count > most:
            raise NotOneObject(f'the list "{name}" has {count:,} items, and {most:,} are allowed')
    return whole


def _answers_among(
    values: Sequence[FoundValue], names: Names
) -> tuple[list[tuple[FoundValue, Answer]], list[Any]]:
    """Return the answers among values, each with the value that it was read from, and the other values."""
    answers = list[tuple[FoundValue, Answer]]()
    others = list[Any]()

    for found in values:
        answer = _answer_of(found, names)
        if answer is None:
            others.append(found.value)
        else:
            answers.append((found, answer))
    return answers, others


def _agreeing(
    text: str, answers: list[tuple[FoundValue, Answer]], names: Names
) -> list[tuple[FoundValue, Answer]]:
    """Return the answers of a text that count: all if they agree, else those announced last.

    Raises `NotOneObject` where it can't be told which of them count.
    """
    full = [(found, answer) for found, answer in answers if answer.forecasts or answer.bets or answer.sales]
    answers = full or answers
    if len(answers) < 2 or _agree(_without_values(answers), names):
        return answers

    last = answers[-1][0]
    begin = last_heading(text, answers[0][0].end, last.start)
    if begin < 0:
        begin = announced_at(text, last.start, last.end)
    announced = [pair for pair in answers if 0 <= begin <= pair[0].start]
    if not announced or not _agree(_without_values(announced), names):
        raise NotOneObject(SEVERAL)
    return announced


def _check_words_around(text: str, answers: Sequence[tuple[FoundValue, Answer]]) -> None:
    """Note what the words around answers say of their orders.

    Raises `NotOneObject` where they make an answer an example, or take it back.
    """
    if any(is_quoted(text, found.start) for found, _ in answers):
        raise NotOneObject("the words before the JSON make it an example or a quotation")
    if is_taken_back(text, answers[-1][0].end):
        raise NotOneObject("what follows the JSON takes it back: answer with the right one alone")

    begin = answers[0][0].start
    end = answers[-1][0].end
    before = text[max(0, begin - MOST_AROUND) : begin].rpartition(">")[2]
    words = denying_words(before) or denying_words(text[end : end + MOST_AROUND])
    answers[0][1].denied = answers[0][1].denied or words


def _orders(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield everything within a value that would be an order, except in thoughts."""
    if isinstance(value, dict) and is_order(value):
        yield value
    elif isinstance(value, dict | list) and depth <= MOST_NESTED:
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            if not THOUGHTS.search(str(key).casefold()):
                yield from _orders(part, depth + 1)


def _orders_alone(found: FoundValue) -> Answer | None:
    """Return the answer of an object that has bets or sales and no forecasts, or None."""
    value = found.value
    if not isinstance(value, dict):
        return None

    keys = {plain_key(key): key for key in value}
    lists = [value[keys[key]] for key in BET_KEYS if key in keys]
    if not any(lists) or not all(isinstance(part, list) for part in lists):
        return None

    answer = Answer(repairs=dict(found.repairs), fault=found.fault)
    if found.fault:
        answer.repairs["cut"] = None

    return _with_orders(answer, value, keys)


def _together(answers: Sequence[Answer]) -> Answer:
    """Return what agreeing answers say in all, each item once."""
    if len(answers) == 1:
        return answers[0]

    whole = Answer(repairs={"several": None})
    for answer in answers:
        whole.add(answer)

    for name in LISTS:
        items = {repr(item): item for item in getattr(whole, name)}
        setattr(whole, name, [*items.values()])

    return whole


def _nothing(values: Sequence[FoundValue]) -> NotOneObject:
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


def _without_values(answers: Iterable[tuple[FoundValue, Answer]]) -> list[Answer]:
    """Return answers without the values in which they were found."""
    return [answer for _, answer in answers]


def _agree(answers: Sequence[Answer], names: Names) -> bool:
    """Tell whether no market has two forecasts; answers with orders, which may be quoted, must be equal."""
    first = answers[0]
    if any(answer.bets or answer.sales for answer in answers):
        return all(
            (x.forecasts, x.bets, x.sales) == (first.forecasts, first.bets, first.sales) for x in answers
        )

    stated: dict[Any, Any] = {}
    for answer in answers:
        for item in answer.forecasts:
            market = market_of(item, names) if isinstance(item, dict) else None
            if market is not None:
                chance = str(chance_of(item))
                if stated.setdefault(market, chance) != chance:
                    return False

    return True


def _answer_of(found: FoundValue, names: Names) -> Answer | None:
    answer = _gather(found.value, names, 0)
    if answer is not None:
        answer.repairs = found.repairs | answer.repairs
        answer.fault = answer.fault or found.fault
        if answer.fault:
            answer.repairs["cut"] = None
    return answer


def _gather(value: Any, names: Names, depth: int) -> Answer | None:
    """Return the answer that a value is or holds, or None if there is none or it is ambiguous."""
    if depth > MOST_NESTED:
        return None
    if isinstance(value, str):
        return _in_text(value, names, depth)

    if isinstance(value, list):
        items = _items(value, names)
        if items:
            return Answer(items, repairs={"wrapping": None})
        answers = [_gather(item, names, depth + 1) for item in value]
        inner = [answer for answer in answers if answer is not None]
        if len(inner) != 1:
            return None
        inner[0].repairs["wrapping"] = None
        return inner[0]

    if not isinstance(value, dict) or _is_schema(value):
        return None
    return _in_object(value, names, depth)


def _in_text(value: str, names: Names, depth: int) -> Answer | None:
    """Return the answer in JSON within a text."""
    if not re.match(r"\s*(?:```\w*\s*)?[\[{]", value):
        return None

    try:
        inner = find_values(value)
    except NotOneObject:
        return None

    answers = list[tuple[FoundValue, Answer]]()
    for found in inner:
        gathered = _gather(found.value, names, depth + 1)
        if gathered is not None:
            answers.append((found, gathered))
    if len(answers) != 1:
        return None

    [(found, answer)] = answers
    answer.repairs = {"wrapping": None, **found.repairs, **answer.repairs}
    answer.fault = answer.fault or found.fault
    return answer


def _items(value: list[Any], names: Names) -> list[Any]:
    """Return the forecasts of a list without a name; an empty list if any item is something else."""
    items: list[Any] = []
    for item in value:
        if isinstance(item, list) and len(item) == 2 and market_named(item[0], names) is not None:
            items.append({"market": item[0], "probability": item[1]})
        elif isinstance(item, dict) and is_forecast(item):
            items.append(item)
        elif isinstance(item, dict) and (mapped := _mapped(item, names)):
            items += mapped
        elif not isinstance(item, OpenObject):
            return []

    return items


def _is_schema(value: dict[str, Any]) -> bool:
    """Tell whether an object is a JSON schema: it describes answers, but isn't one."""
    return isinstance(value.get("properties"), dict) and (value.get("type") == "object" or "$schema" in value)


def _in_object(value: dict[str, Any], names: Names, depth: int) -> Answer | None:
    keys = {plain_key(key): key for key in value} | {key: key for key in value if plain_key(key) == key}
    lists = [key for key in keys if key in LIST_KEYS and isinstance(value[keys[key]], list | dict | str)]
    if "forecasts" in keys:
        return _named(value, keys, names, depth)
    if lists and not is_forecast(value):
        return _renamed(value, keys, lists, names, depth)
    if is_forecast(value):
        return Answer([value], repairs={"wrapping": None})

    mapped = _mapped(value, names)
    if mapped:
        return Answer(mapped, repairs={"wrapping": None})
    return _within_object(value, keys, names, depth)


def _within_object(value: dict[str, Any], keys: Keys, names: Names, depth: int) -> Answer | None:
    """Return the answer among an object's values, or None if there are none or several."""
    inner: list[Answer] = []
    for key, part in value.items():
        name = key.casefold()
        may_answer = THOUGHTS.search(name) is None and NO_FORECASTS.search(name) is None
        if may_answer and isinstance(part, list | dict | str):
            answer = _gather(part, names, depth + 1)
            if answer is not None:
                inner.append(answer)
    if len(inner) != 1:
        return None

    inner[0].repairs["wrapping"] = None
    if isinstance(value, OpenObject):
        inner[0].fault = inner[0].fault or ENDS_EARLY
    if not inner[0].bets and not inner[0].sales:
        return _with_orders(inner[0], value, keys)
    inner[0].denied = inner[0].denied or denying_key(value)
    return inner[0]


def _named(value: dict[str, Any], keys: Keys, names: Names, depth: int) -> Answer:
    """Return the answer of an object with a list of forecasts."""
    part = value[keys["forecasts"]]
    answer = _listed(part, names, depth)
    if answer is None and isinstance(part, list):
        answer = Answer(list(part))
    elif answer is None:
        meant = ""
        if isinstance(part, dict):
            meant = ", and an object stands there"
        raise NotOneObject(f'the object needs a list "forecasts"{_twice(part) or meant}')

    if keys["forecasts"] != "forecasts":
        answer.repairs["key"] = None

    _check_revisions(answer, value, keys["forecasts"], names, depth)
    return _with_orders(answer, value, keys)


def _check_revisions(answer: Answer, value: dict[str, Any], own: str, names: Names, depth: int) -> None:
    """Raise `NotOneObject` where another key of an answer states its forecasts anew, and otherwise."""
    for key, part in value.items():
        if key == own or not isinstance(part, list | dict) or not REVISIONS.search(key.casefold()):
            continue
        revised = _gather(part, names, depth + 1)
        if revised is not None and not _agree([Answer(answer.forecasts), Answer(revised.forecasts)], names):
            raise NotOneObject(SEVERAL)


def _renamed(
    value: dict[str, Any], keys: Keys, lists: Sequence[str], names: Names, depth: int
) -> Answer | None:
    """Return the answer of an object whose forecasts have other names."""
    answer = Answer(repairs={"key": None})
    for key in lists:
        inner = _listed(value[keys[key]], names, depth)
        if inner is not None:
            answer.add(inner)
    if not answer.forecasts:
        return None
    return _with_orders(answer, value, keys)


def _listed(part: Any, names: Names, depth: int) -> Answer | None:
    """Return the answer in the place of a list of forecasts."""
    if isinstance(part, list) and any(isinstance(item, dict) and is_forecast(item) for item in part):
        return Answer(list(part))
    answer = _gather(part, names, depth + 1)
    if answer is not None:
        answer.repairs["wrapping"] = None
    return answer


def _with_orders(answer: Answer, value: dict[str, Any], keys: Keys) -> Answer:
    """Return the answer with the bets and sales beside its forecasts, and what is said of all of these.

    Raises `NotOneObject` where that is that the forecasts are none.
    """
    disowning = disowning_key(value)
    if answer.forecasts and disowning:
        raise NotOneObject(f'"{one_line(disowning, 80)}" says that these are no forecasts')

    unit = unit_key(value)
    if unit is not None:
        own = {"unit": value[unit]}
        answer.forecasts = [{**own, **item} if isinstance(item, dict) else item for item in answer.forecasts]

    for key, name in BET_KEYS.items():
        part = value.get(keys.get(key, ""))
        if isinstance(part, list):
            getattr(answer, name).extend(part)
        elif part is not None:
            raise NotOneObject(f'the object needs a list "{name}"{_twice(part)}')

    answer.denied = answer.denied or denying_key(value)
    return answer


def _twice(part: Any) -> str:
    if not isinstance(part, RepeatedKey):
        return ""
    return f', and the key "{one_line(part.key, 80)}" appears twice'


def _mapped(value: dict[str, Any], names: Names) -> list[Any]:
    """Return the forecasts of an object whose keys are markets; an empty list if another key has no text."""
    items: list[Any] = []
    if len(value) > MOST_ITEMS:
        return items

    for key, part in value.items():
        if market_named(key, names) is None:
            if isinstance(part, str) and plain_key(key) in REASON_KEYS | {"thoughts", "thinking"}:
                continue
            return []
        if isinstance(part, OpenObject):
            items.append(part)
        elif isinstance(part, dict):
            items.append({**part, "market": key})
        else:
            items.append({"market": key, "probability": part})

    return items
