"""The one JSON object in a model's answer, whatever is wrapped around it, and nothing guessed.

Numbers stay as they were written, so that no digit is lost before their meaning is known.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

MOST_TEXT = 1_000_000
_THOUGHT = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_START = re.compile(r'\{\s*["}]')


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
    found = _objects(_without_thoughts(text))
    if not found:
        raise NotOneObject("the answer holds no JSON object")
    if len(found) > 1:
        raise NotOneObject(f"the answer holds {len(found)} JSON objects, and exactly one is wanted")
    answer = found[0]
    if isinstance(answer, Twice):
        raise NotOneObject(f'the key "{answer.key[:80]}" is there twice')
    return answer


def _without_thoughts(text: str) -> str:
    """What comes after the last thought; an answer that begins with its object has none before it."""
    if text.lstrip().startswith("{"):
        return text
    tags = list(_THOUGHT.finditer(text))
    if tags and not tags[-1][1]:
        raise NotOneObject("the answer ends inside its thinking")
    return text[tags[-1].end() :] if tags else text


def _objects(text: str) -> list[dict[str, Any] | Twice]:
    """Every object that starts outside of another; a brace that no JSON follows is prose."""
    found: list[dict[str, Any] | Twice] = []
    start = _START.search(text)
    while start:
        try:
            value, end = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            raise NotOneObject(f"the JSON is broken: {error.msg} at character {error.pos + 1:,}") from error
        except RecursionError as error:
            raise NotOneObject("the JSON is nested too deep") from error
        found.append(value)
        start = _START.search(text, end)
    return found


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
