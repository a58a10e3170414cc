"""The JSON of an answer: its schema, for providers that hold a model to one, and the one object in its text.

The text is taken with whatever is wrapped around it, and nothing is guessed; numbers stay as they were
written, so that no digit is lost before their meaning is known. The schema is strict: every key is
required, no other is allowed, and what may be left out elsewhere may be null. Thoughts come before
forecasts and reasons before probabilities, since a model writes in that order. `parse` takes whatever the
schema lets through, and judges what it means.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.text import one_line

MOST_TEXT = 1_000_000
_THOUGHT = "(?:seed:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis)"
_OPEN = rf"<{_THOUGHT}(?:\s[^<>]*)?>|\[THINK\]|◁think▷|<\|channel\|>(?:analysis|commentary)"
_CLOSE = rf"</{_THOUGHT}\s*>|\[/THINK\]|◁/think▷|<\|channel\|>final"
_OBJECT = r'\{\s*["}]'
_START = re.compile(_OBJECT)
_MARK = re.compile(f"(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<object>{_OBJECT})", re.IGNORECASE)
_END = re.compile(_CLOSE, re.IGNORECASE)
_BRACKET = re.compile(r"^[ \t\ufeff]*(?:```\w*\s*)?([\[{])", re.MULTILINE)
_AT_ONCE = re.compile(r"[\s\ufeff]*(?:```\w*\s*)?\{")


class NotOneObject(ValueError):
    """The text holds no JSON object, a broken one, or several. Its words are meant for the model."""


class NumberText(str):
    """A number as it was written: 0.40, 1e999 or NaN."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class RepeatedKey:
    """Stands for an object in which a key occurs twice: which one is meant can't be told."""

    key: str


_Placed = tuple[int, dict[str, Any] | RepeatedKey]
"""Where an object starts, and the object."""


def find_object(text: str) -> dict[str, Any]:
    """The one object in the text: fences, prose and thinking around it are dropped.

    >>> find_object('Sure! ```json {"p": 0.40} ``` (I am {fairly} sure.)')
    {'p': '0.40'}
    """
    if len(text) > MOST_TEXT:
        raise NotOneObject(f"the answer has {len(text):,} characters, and {MOST_TEXT:,} are allowed")
    begin, objects = (0, _objects(text)) if _AT_ONCE.match(text) else _after_thoughts(text)
    if len(objects) != 1:
        raise _not_one(text, begin, objects)
    _, answer = objects[0]
    if isinstance(answer, RepeatedKey):
        raise NotOneObject(f'the key "{one_line(answer.key, 80)}" appears twice')
    return answer


def bare_object(text: str) -> dict[str, Any] | RepeatedKey:
    """The object that a text is, with nothing around it."""
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotOneObject(f"invalid JSON: {error.msg} at character {error.pos + 1:,}") from error
    except RecursionError as error:
        raise NotOneObject("the JSON is nested too deeply") from error
    if not isinstance(value, dict | RepeatedKey):
        raise NotOneObject("it is not a JSON object")
    return value


def _not_one(text: str, begin: int, objects: Sequence[_Placed]) -> NotOneObject:
    """Why there is not one object: the outermost bracket that opens a line tells what was meant."""
    end = objects[0][0] if objects else len(text)
    if bracket := _BRACKET.search(text, begin, end):
        if bracket[1] == "[" and objects:
            return NotOneObject('expected one JSON object, found a list: {"forecasts": [...]}')
        if bracket[1] == "{":
            try:
                _decoded(text, bracket.start(1))
            except NotOneObject as error:
                return error
    if objects:
        return NotOneObject(f"the answer contains {len(objects):,} JSON objects; expected exactly one")
    return NotOneObject("the answer contains no JSON object")


def _objects(text: str) -> list[_Placed]:
    """Every object that starts outside of another; a brace that no JSON follows is prose."""
    objects: list[_Placed] = []
    start = _START.search(text)
    while start:
        value, end = _decoded(text, start.start())
        objects.append((start.start(), value))
        start = _START.search(text, end)
    return objects


def _after_thoughts(text: str) -> tuple[int, list[_Placed]]:
    """Where the last thought ends, and every object after it.

    A thought may lack its beginning, never its end. What looks like a mark of thinking inside an object is
    part of its text.
    """
    objects: list[_Placed] = []
    broken: NotOneObject | None = None
    begin = at = 0
    while mark := _MARK.search(text, at):
        if mark["object"]:
            try:
                value, at = _decoded(text, mark.start())
                objects.append((mark.start(), value))
            except NotOneObject as error:  # only a thought may be broken
                ends = [end.end() for end in _END.finditer(text, mark.start())]
                if not ends:
                    raise
                objects, broken, begin = [], error, ends[-1]
                at = begin
        elif mark["close"]:
            objects, begin = [], mark.end()
            at = begin
        elif end := _END.search(text, mark.end()):
            at = end.end()
            begin = begin if objects else at
        else:
            raise NotOneObject("the answer ends in the middle of its reasoning")
    if broken and not objects:
        raise broken
    return begin, objects


def _decoded(text: str, at: int) -> tuple[dict[str, Any] | RepeatedKey, int]:
    """The object that starts here, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno:,}, column {error.colno:,}"
        raise NotOneObject(f"invalid JSON at {place}: {_slip(text, error)}") from error
    except RecursionError as error:
        raise NotOneObject("the JSON is nested too deeply") from error
    return value, end


def _slip(text: str, error: json.JSONDecodeError) -> str:
    """What is wrong at a place, where it is a slip that models often make."""
    rest = text[error.pos : error.pos + 2]
    if rest in ("//", "/*") or rest.startswith("#"):
        return "JSON does not allow comments"
    if rest.startswith("'"):
        return "JSON needs double quotes, not single ones"
    if rest.startswith(("]", "}")) and text[: error.pos].rstrip().endswith(","):
        return f"a comma before {rest[0]}"
    return error.msg


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | RepeatedKey:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    count = Counter(key for key, _ in pairs)
    return RepeatedKey(next(key for key in count if count[key] > 1))


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_float=NumberText,
    parse_int=NumberText,
    parse_constant=NumberText,
    strict=False,
)


Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
SIDE: Schema = {"type": "string", "enum": ["YES", "NO"]}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
# A model sees these words beside the keys, whatever its prompt; they cost some thirty tokens.
SHORT_ID: Schema = TEXT | {"description": "its short name, such as m1"}
WHY: Schema = TEXT | {"description": "why, worked out before the probability"}
CHANCE: Schema = NUMBER | {"description": "that it ends YES: a fraction from 0 to 1, such as 0.65"}


def answer_schema(bets: bool = True) -> Schema:
    """The schema of a whole decision; without bets, that of forecasts alone.

    >>> list(answer_schema()["properties"]), list(answer_schema(bets=False)["properties"])
    (['thoughts', 'forecasts', 'bets', 'sales'], ['thoughts', 'forecasts'])
    """
    lists = {"forecasts": _list_schema(market=SHORT_ID, reason=WHY, probability=CHANCE)}
    if bets:
        lists["bets"] = _list_schema(market=TEXT, side=SIDE, amount=NUMBER, limit=MAYBE_NUMBER, reason=TEXT)
        lists["sales"] = _list_schema(
            market=TEXT, side=SIDE, fraction=NUMBER, limit=MAYBE_NUMBER, reason=TEXT
        )
    return _object_schema(thoughts=MAYBE_TEXT, **lists)


def _list_schema(**keys: Schema) -> Schema:
    return {"type": "array", "items": _object_schema(**keys)}


def _object_schema(**keys: Schema) -> Schema:
    return {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}
