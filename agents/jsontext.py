"""The one JSON object in a model's answer, whatever is wrapped around it, and nothing guessed.

Numbers stay as they were written, so that no digit is lost before their meaning is known.
"""

import json
import re
from collections import Counter
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
_AT_ONCE = re.compile(r"[\s\ufeff]*(?:```\w*\s*)?\{")


class NotOneObject(ValueError):
    """The text holds no JSON object, a broken one, or several. Its words are meant for the model."""


class Figure(str):
    """A number as it was written: 0.40, 1e999 or NaN."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Twice:
    """Stands for an object in which a key occurs twice: which one is meant can't be told."""

    key: str


def the_object(text: str) -> dict[str, Any]:
    """The one object in the text: fences, prose and thinking around it are dropped.

    >>> the_object('Sure! ```json {"p": 0.40} ``` (I am {fairly} sure.)')
    {'p': '0.40'}
    """
    if len(text) > MOST_TEXT:
        raise NotOneObject(f"the answer has {len(text):,} characters, and {MOST_TEXT:,} are allowed")
    found = _objects(text) if _AT_ONCE.match(text) else _after_thoughts(text)
    if not found:
        raise NotOneObject("the answer holds no JSON object")
    if len(found) > 1:
        raise NotOneObject(f"the answer holds {len(found):,} JSON objects, and exactly one is wanted")
    answer = found[0]
    if isinstance(answer, Twice):
        raise NotOneObject(f'the key "{one_line(answer.key, 80)}" is there twice')
    return answer


def bare_object(text: str) -> dict[str, Any] | Twice:
    """The object that a text is, with nothing around it."""
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotOneObject(f"the JSON is broken: {error.msg} at character {error.pos + 1:,}") from error
    except RecursionError as error:
        raise NotOneObject("the JSON is nested too deep") from error
    if not isinstance(value, dict | Twice):
        raise NotOneObject("it is not a JSON object")
    return value


def _objects(text: str) -> list[dict[str, Any] | Twice]:
    """Every object that starts outside of another; a brace that no JSON follows is prose."""
    found: list[dict[str, Any] | Twice] = []
    start = _START.search(text)
    while start:
        value, end = _decoded(text, start.start())
        found.append(value)
        start = _START.search(text, end)
    return found


def _after_thoughts(text: str) -> list[dict[str, Any] | Twice]:
    """Every object outside of the thoughts. A thought may lack its beginning, never its end.

    What looks like a mark of thinking inside an object is part of its text.
    """
    found: list[dict[str, Any] | Twice] = []
    broken: NotOneObject | None = None
    at = 0
    while mark := _MARK.search(text, at):
        if mark["object"]:
            try:
                value, at = _decoded(text, mark.start())
                found.append(value)
            except NotOneObject as error:  # only a thought may be broken
                found, broken, at = [], error, _last_end(text, mark.start(), error)
        elif mark["close"]:
            found, at = [], mark.end()
        else:
            at = _first_end(text, mark.end())
    if broken and not found:
        raise broken
    return found


def _first_end(text: str, at: int) -> int:
    if mark := _END.search(text, at):
        return mark.end()
    raise NotOneObject("the answer ends inside its thinking")


def _last_end(text: str, at: int, error: NotOneObject) -> int:
    """Where the last thought ends from here on; the error if none does."""
    ends = [mark.end() for mark in _END.finditer(text, at)]
    if not ends:
        raise error
    return ends[-1]


def _decoded(text: str, at: int) -> tuple[dict[str, Any] | Twice, int]:
    """The object that starts here, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise NotOneObject(f"the JSON is broken: {error.msg} at character {error.pos + 1:,}") from error
    except RecursionError as error:
        raise NotOneObject("the JSON is nested too deep") from error
    return value, end


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Twice:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    count = Counter(key for key, _ in pairs)
    return Twice(next(key for key in count if count[key] > 1))


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_float=Figure,
    parse_int=Figure,
    parse_constant=Figure,
    strict=False,
)
