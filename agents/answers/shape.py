"""What the values of an answer hold: forecasts, bets and sales, under whatever names and wrappings they come.

A name stands for another only where it can mean nothing else, and every such step is noted. What is said of a
market by two answers of one text must agree.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.answers.grammar import ENDS_EARLY, FoundValue, NumberText, OpenObject, RepeatedKey
from agents.answers.json_text import NotOneObject, after_thoughts, find_values, last_heading
from agents.answers.keys import (
    CHANCE_KEYS,
    MARKET_KEYS,
    PERCENT_KEYS,
    REASON_KEYS,
    chance_of,
    is_forecast,
    is_order,
    market_named,
    market_of,
    plain_key,
    word_set,
)
from agents.text import one_line

MOST_ITEMS = 1_000
MOST_NESTED = 8
LISTS = ("forecasts", "bets", "sales")
LIST_KEYS = word_set(
    "forecasts forecast predictions prediction probabilities estimates answers markets results questions"
)
BET_KEYS = {"bets": "bets", "bet": "bets", "wagers": "bets", "sales": "sales", "sells": "sales"}
MOST_PLAIN = 20_000
_TOKEN = re.compile(
    r"(?P<name>(?<![\w.])(?:market\s*)?#?m\s?[0-9]{1,5}(?![\w.]*[0-9]))"
    r"|(?P<figure>(?<![\w.,/])(?:[0-9]{1,3}(?:\.[0-9]{1,9})?\s*(?:%|percent\b)|[01]?\.[0-9]{1,9}|[01](?![\w.]))(?![\w%/]))"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)|(?P<digit>\d)|(?P<doubt>[<>≤≥±–—]|(?<=[\s(:=|])-(?=[\d.]))",
    re.IGNORECASE,
)
_UNDERSTOOD = word_set(
    "i i'd i’d would say think believe put give estimate my the a an of is are at and to for has have "
    "with that it its chance chances probability probabilities prob forecast forecasts prediction "
    "predictions likelihood likely about around approximately roughly yes resolving resolves being market "
    "markets id item f p answer answers final here these as follows percent table tr td th thead tbody ul "
    "li br div span p"
)
_NUMBERED = re.compile(r"^[ \t]*[0-9]{1,4}[.)][ \t]+", re.MULTILINE)
_PLACE = re.compile(r"([0-9]{1,4})[.):]\s+([0-9]{1,3}(?:\.[0-9]{1,9})?\s*%|0?\.[0-9]{1,9})")
_MARKUP = re.compile(r"<(?=/?[a-z])|/?>", re.IGNORECASE)
THOUGHTS = re.compile(
    r"thought|think|reason|draft|example|scratch|initial|previous|analysis|schema|template|prior"
)


Names = Mapping[str, Any]
"""Markets by the names that the prompt gave them."""
Keys = Mapping[str, str]
"""An object's keys by their plain forms."""


@dataclass(slots=True)
class Answer:
    """What an answer lists, each item as it was written, and by which repairs it was read.

    `misplaced` is how many orders stand where none is read.
    """

    forecasts: list[Any] = field(default_factory=list)
    bets: list[Any] = field(default_factory=list)
    sales: list[Any] = field(default_factory=list)
    repairs: dict[str, None] = field(default_factory=dict)
    fault: str = ""
    misplaced: int = 0

    def add(self, other: "Answer") -> None:
        """What another lists too."""
        for name in LISTS:
            getattr(self, name).extend(getattr(other, name))
        self.repairs |= other.repairs
        self.fault = self.fault or other.fault


def find_answer(text: str, names: Names) -> Answer:
    """What a text lists in all. `names` are those of the markets. Raises `NotOneObject`."""
    values = find_values(text)
    read = [(found, _answer_of(found, names)) for found in values]
    answers = [(found, answer) for found, answer in read if answer is not None]
    if full := [pair for pair in answers if any(getattr(pair[1], name) for name in LISTS)]:
        answers = full
    if len(answers) > 1 and not _agree([answer for _, answer in answers], names):
        begin = last_heading(text, answers[0][0].end, answers[-1][0].start)
        answers = [pair for pair in answers if 0 <= begin <= pair[0].start]
        if not answers or not _agree([answer for _, answer in answers], names):
            raise NotOneObject(
                "the answer contains several different answers; expected exactly one JSON object"
            )
    if not answers and not values and (items := _plain_forecasts(text, names)):
        return Answer(items, repairs={"plain text": None})
    if not answers:
        raise _nothing(values)
    whole = _together([answer for _, answer in answers])
    kept = [found.value for found, _ in answers] + [found.value for found, answer in read if answer is None]
    orders = {repr(order) for value in kept for order in _orders(value)}
    whole.misplaced = len(orders - {repr(item) for name in LISTS for item in getattr(whole, name)})
    most = max(MOST_ITEMS, 2 * len(names))
    for name in LISTS:
        if (count := len(getattr(whole, name))) > most:
            raise NotOneObject(f'the list "{name}" has {count:,} items, and {most:,} are allowed')
    return whole


def _orders(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Everything within a value that would be an order, but what is thought."""
    if isinstance(value, dict) and is_order(value):
        yield value
    elif isinstance(value, dict | list) and depth <= MOST_NESTED:
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            if not THOUGHTS.search(str(key).casefold()):
                yield from _orders(part, depth + 1)


def _together(answers: Sequence[Answer]) -> Answer:
    """What answers that agree say in all, each item once."""
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
    """Why no answer was found."""
    for found in values:
        if found.fault:
            return NotOneObject(found.fault)
    objects = [found.value for found in values if isinstance(found.value, dict)]
    if objects:
        return NotOneObject('the object needs a list "forecasts"')
    if values:
        return NotOneObject('expected one JSON object, found a list: {"forecasts": [...]}')
    return NotOneObject("the answer contains no JSON object")


def _agree(answers: Sequence[Answer], names: Names) -> bool:
    """Whether no market is said two things of. With orders, which may be quoted, all must be the same."""
    first = answers[0]
    if any(answer.bets or answer.sales for answer in answers):
        return all(
            (x.forecasts, x.bets, x.sales) == (first.forecasts, first.bets, first.sales) for x in answers
        )
    stated: dict[Any, Any] = {}
    for answer in answers:
        for item in answer.forecasts:
            if isinstance(item, dict) and (market := market_of(item, names)) is not None:
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
    """The answer that a value is or holds; None where it is none, or where that can't be told."""
    if depth > MOST_NESTED:
        return None
    if isinstance(value, str):
        return _in_text(value, names, depth)
    if isinstance(value, list):
        if items := _items(value, names):
            return Answer(items, repairs={"wrapping": None})
        answers = [_gather(item, names, depth + 1) for item in value]
        inner = [answer for answer in answers if answer is not None]
        if len(inner) != 1:
            return None
        inner[0].repairs["wrapping"] = None
        return inner[0]
    return _in_object(value, names, depth) if isinstance(value, dict) else None


def _in_text(value: str, names: Names, depth: int) -> Answer | None:
    """JSON within a text."""
    if not re.match(r"\s*(?:```\w*\s*)?[\[{]", value):
        return None
    try:
        inner = find_values(value)
    except NotOneObject:
        return None
    answers = [(found, answer) for found in inner if (answer := _gather(found.value, names, depth + 1))]
    if len(answers) != 1:
        return None
    [(found, answer)] = answers
    answer.repairs = {"wrapping": None, **found.repairs, **answer.repairs}
    answer.fault = answer.fault or found.fault
    return answer


def _items(value: list[Any], names: Names) -> list[Any]:
    """The forecasts that a list without a name holds; none where one item is anything else."""
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


def _in_object(value: dict[str, Any], names: Names, depth: int) -> Answer | None:
    keys = {plain_key(key): key for key in value} | {key: key for key in value if plain_key(key) == key}
    lists = [key for key in keys if key in LIST_KEYS and isinstance(value[keys[key]], list | dict | str)]
    if "forecasts" in keys:
        return _named(value, keys, names, depth)
    if lists and not is_forecast(value):
        return _renamed(value, keys, lists, names, depth)
    if is_forecast(value):
        return Answer([value], repairs={"wrapping": None})
    if mapped := _mapped(value, names):
        return Answer(mapped, repairs={"wrapping": None})
    inner = [
        answer
        for key, part in value.items()
        if isinstance(part, list | dict | str)
        and not THOUGHTS.search(key.casefold())
        and (answer := _gather(part, names, depth + 1)) is not None
    ]
    if len(inner) != 1:
        return None
    inner[0].repairs["wrapping"] = None
    if isinstance(value, OpenObject):
        inner[0].fault = inner[0].fault or ENDS_EARLY
    return inner[0] if inner[0].bets or inner[0].sales else _with_orders(inner[0], value, keys)


def _named(value: dict[str, Any], keys: Keys, names: Names, depth: int) -> Answer:
    """The answer of an object with a list of forecasts."""
    part = value[keys["forecasts"]]
    answer = _listed(part, names, depth)
    if answer is None and isinstance(part, list):
        answer = Answer(list(part))
    elif answer is None:
        meant = ", and an object stands there" if isinstance(part, dict) else ""
        raise NotOneObject(f'the object needs a list "forecasts"{_twice(part) or meant}')
    if keys["forecasts"] != "forecasts":
        answer.repairs["key"] = None
    return _with_orders(answer, value, keys)


def _renamed(
    value: dict[str, Any], keys: Keys, lists: Sequence[str], names: Names, depth: int
) -> Answer | None:
    """The answer of an object whose forecasts stand under other names."""
    answer = Answer(repairs={"key": None})
    for key in lists:
        if (inner := _listed(value[keys[key]], names, depth)) is not None:
            answer.add(inner)
    return _with_orders(answer, value, keys) if answer.forecasts else None


def _listed(part: Any, names: Names, depth: int) -> Answer | None:
    """What stands where a list of forecasts is expected."""
    if isinstance(part, list) and any(isinstance(item, dict) and is_forecast(item) for item in part):
        return Answer(list(part))
    answer = _gather(part, names, depth + 1)
    if answer is not None:
        answer.repairs["wrapping"] = None
    return answer


def _with_orders(answer: Answer, value: dict[str, Any], keys: Keys) -> Answer:
    """The answer with the bets and sales beside its forecasts."""
    for key, name in BET_KEYS.items():
        part = value.get(keys.get(key, ""))
        if isinstance(part, list):
            getattr(answer, name).extend(part)
        elif part is not None:
            raise NotOneObject(f'the object needs a list "{name}"{_twice(part)}')
    return answer


def _twice(part: Any) -> str:
    return f', and the key "{one_line(part.key, 80)}" appears twice' if isinstance(part, RepeatedKey) else ""


def _mapped(value: dict[str, Any], names: Names) -> list[Any]:
    """The forecasts of an object whose keys are markets; none where one is anything else but text."""
    items: list[Any] = []
    if len(value) > MOST_ITEMS:
        return items
    for key, part in value.items():
        if market_named(key, names) is None:
            if isinstance(part, str) and plain_key(key) in REASON_KEYS | {"thoughts", "thinking"}:
                continue
            return []
        if isinstance(part, dict):
            items.append({**part, "market": key} if not isinstance(part, OpenObject) else part)
        else:
            items.append({"market": key, "probability": part})
    return items


def _plain_forecasts(text: str, names: Mapping[str, Any]) -> list[Any]:
    """Forecasts out of an answer without JSON: a table with a header, or words each of which is understood.

    A market and a number take turns, no market is named twice, and nothing else stands there that could have
    a meaning: none where anything is in doubt.
    """
    text = after_thoughts(text).strip()
    if not 0 < len(text) <= MOST_PLAIN:
        return []
    return _from_table(text, names) or _from_words(text, names) or _from_places(text, names)


def _from_words(text: str, names: Mapping[str, Any]) -> list[Any]:
    items: list[Any] = []
    market: Any = None
    for token in _TOKEN.finditer(_MARKUP.sub(" ", _NUMBERED.sub("", text))):
        if token["name"]:
            named = market_named(token["name"], names)
            if market is not None or named is None or any(item["market"] == token["name"] for item in items):
                return []
            market = token["name"]
        elif token["figure"]:
            if market is None:
                return []
            figure = token["figure"]
            items.append(
                {"market": market, "probability": figure if figure[-1] in "%tT" else NumberText(figure)}
            )
            market = None
        elif not token["word"] or token["word"].casefold() not in _UNDERSTOOD:
            return []
    return [] if market is not None else items


def _from_places(text: str, names: Mapping[str, Any]) -> list[Any]:
    """Lines that number the markets from the first to the last, and say nothing but a share of each."""
    lines = [_PLACE.fullmatch(line.strip()) for line in text.splitlines() if line.strip()]
    places = [line[1] if line else "" for line in lines]
    if places != [str(place) for place in range(1, len(names) + 1)]:
        return []
    return [{"market": f"m{line[1]}", "probability": line[2]} for line in lines if line]


def _from_table(text: str, names: Mapping[str, Any]) -> list[Any]:
    """The rows of a table whose first line names a column of markets and one of probabilities."""
    lines = [line.strip().strip("|") for line in text.strip("`").splitlines()]
    lines = [line for line in lines if line.strip("-:|+= \t`")]
    mark = next((mark for mark in "|\t;," if lines and mark in lines[0]), None)
    if mark is None:
        return []
    header, *rows = ([cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark))
    columns = [plain_key(cell) for cell in header]
    market = [n for n, name in enumerate(columns) if name in MARKET_KEYS]
    chance = [n for n, name in enumerate(columns) if name in CHANCE_KEYS]
    if not market or len(chance) != 1:
        return []
    items: list[Any] = []
    for row in rows:
        found = {str(names_) for n in market if n < len(row) and (names_ := market_named(row[n], names))}
        if len(row) != len(columns) or len(found) != 1:
            return []
        name = next(row[n] for n in market if market_named(row[n], names))
        figure = row[chance[0]]
        marked = f"{figure}%" if columns[chance[0]] in PERCENT_KEYS and "%" not in figure else figure
        items.append({"market": name, "probability": marked})
    return items
