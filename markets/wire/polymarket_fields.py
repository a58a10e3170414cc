"""How Polymarket's Gamma writes things: numbers as text, lists as text, outcomes in any order."""

import json
import re
from datetime import datetime
from functools import lru_cache
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, ConfigDict, PlainValidator
from pydantic.alias_generators import to_camel

from markets.millionths import millionths
from markets.wire.fields import Wire, instant, is_name, number, shown

LONGEST_LIST = 1_000
"""Characters of a list of two that is sent as text."""
_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,40})?")


def figure(value: object) -> int:
    """A number, sent as such or as text, in millionths.

    >>> figure(0.001), figure("46224362.39541418")
    (1000, 46224362395414)
    """
    return _figure(value) if type(value) in (int, float, str) else number(value)


@lru_cache(maxsize=65_536, typed=True)
def _figure(value: object) -> int:
    if isinstance(value, str):
        if not _DECIMAL.fullmatch(value):
            raise ValueError(f"{shown(value)} is no number from 0 on")
        return millionths(value)
    return number(value)


def texts(value: object) -> tuple[str, ...]:
    """A list of texts; on this wire it mostly comes as text itself.

    >>> texts('["Yes", "No"]')
    ('Yes', 'No')
    """
    return _unpacked(value) if isinstance(value, str) else _checked(value)


@lru_cache(maxsize=4096)
def _unpacked(text: str) -> tuple[str, ...]:
    try:
        return _checked(json.loads(text) if len(text) <= LONGEST_LIST else None)
    except (ValueError, RecursionError):
        raise ValueError(f"{shown(text)} is no list of texts") from None


def _checked(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{shown(value)} is no list of texts")
    return tuple(value)


def slugs(value: object) -> tuple[str, ...]:
    """What the tags of a market are called."""
    return tuple([slug for tag in _records(value) if isinstance(slug := tag.get("slug"), str)])


class About(NamedTuple):
    """What a market is about; an augmented event may get more outcomes later, and holds places for them."""

    event: str
    augmented: bool


def about(value: object) -> About | None:
    """The event of a market; the first of them, if it has several."""
    events = _records(value)
    if not events:
        return None
    name = events[0].get("id")
    if not isinstance(name, str) or not is_name(name):
        raise ValueError(f"{shown(name)} is no name of an event")
    return About(name, any(event.get("negRiskAugmented") is True for event in events))


class Fees(NamedTuple):
    """What who takes an offer pays: rate · (p · (1 − p)) ^ exponent a share."""

    rate: int | None
    exponent: int | None


def fees(value: object) -> Fees | None:
    """The fees of a market, where it says them."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError(f"{shown(value)} is no record")
    return Fees(_perhaps(value.get("rate")), _perhaps(value.get("exponent")))


def _records(value: object) -> list[dict[str, object]]:
    if value is None:
        return []
    if not isinstance(value, list) or not set(map(type, value)) <= {dict}:
        raise ValueError(f"{shown(value)} is no list of records")
    return value


def _perhaps(value: object) -> int | None:
    return None if value is None or value == "" else figure(value)


def _when(value: object) -> datetime | None:
    return None if value is None or value == "" else instant(value)


# plain validators: of thousands of records, what pydantic checks once more is most of the time
Figure = Annotated[int | None, PlainValidator(_perhaps)]
"""A number that may be missing."""
When = Annotated[datetime | None, PlainValidator(_when)]
"""A time that may be missing."""
Texts = Annotated[tuple[str, ...], PlainValidator(texts)]
Pair = Annotated[tuple[str, str], BeforeValidator(texts)]
"""The names of a market's two outcomes."""
Slugs = Annotated[tuple[str, ...], PlainValidator(slugs)]
Events = Annotated[About | None, PlainValidator(about)]
Schedule = Annotated[Fees | None, PlainValidator(fees)]


class Gamma(Wire):
    """A record of Gamma's, whose names are written likeThis."""

    model_config = ConfigDict(alias_generator=to_camel)


@lru_cache(maxsize=4096)
def side(outcomes: tuple[str, str], name: str) -> int:
    """Where "yes" or "no" is among a market's outcomes, which are these two or it isn't a market of ours.

    >>> side(("No", "Yes"), "yes")
    1
    """
    found = [outcome.strip().casefold() for outcome in outcomes]
    if sorted(found) != ["no", "yes"]:
        raise ValueError(f"its outcomes are {shown(', '.join(outcomes))}, not Yes and No")
    return found.index(name)
