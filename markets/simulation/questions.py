"""What the markets of an event ask, and by which rules."""

import random
from collections.abc import Callable
from datetime import datetime

from markets.simulation.settings import Family
from markets.simulation.words import (
    CONTESTS,
    JUDGES,
    THRESHOLDS,
    TOPICS,
    firm,
    given,
    pick,
    surname,
    town,
)

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December")  # fmt: skip
_ALONE = " Of the {count} that are listed, exactly one comes true."

Texts = list[tuple[str, str]]
"""Questions, each with its rules."""


def questions(
    rng: random.Random, count: int, closes_at: datetime, family: Family = "plain"
) -> tuple[str, Texts]:
    """The category of an event, and so many of its questions, each with its rules."""
    category = pick(rng, tuple(TOPICS))
    names = {"place": town(rng)}
    called = surname(rng)
    names |= {"person": f"{given(rng)} {called}", "firm": firm(rng)}
    judge = pick(rng, JUDGES).format(**names)
    claims = _CLAIMS[family](rng, category, names, count)
    more = _ALONE.format(count=count) if family == "exclusive" else ""
    return category, [(_question(claim, closes_at), _rules(judge, closes_at) + more) for claim in claims]


def _plain(rng: random.Random, category: str, names: dict[str, str], count: int) -> list[str]:
    shuffled = sorted((rng.random(), claim) for claim in TOPICS[category])
    return [claim.format(**names) for _, claim in shuffled[:count]]


def _exclusive(rng: random.Random, category: str, names: dict[str, str], count: int) -> list[str]:
    """The same of one name after the other, all of them different."""
    claims: list[str] = []
    while len(claims) < count:
        other = {"person": f"{given(rng)} {surname(rng)}", "firm": firm(rng), "town": town(rng)}
        claim = CONTESTS[category].format(place=names["place"], **other)
        claims += [claim] if claim not in claims else []
    return claims


def _ladder(_rng: random.Random, category: str, names: dict[str, str], count: int) -> list[str]:
    claim, first, step = THRESHOLDS[category]
    return [claim.format(n=first + place * step, **names) for place in range(count)]


_CLAIMS: dict[Family, Callable[[random.Random, str, dict[str, str], int], list[str]]] = {
    "plain": _plain,
    "exclusive": _exclusive,
    "ladder": _ladder,
}


def _question(claim: str, closes_at: datetime) -> str:
    word = "by" if " have " in claim else "on"
    return f"Will {claim} {word} {closes_at.day} {_MONTHS[closes_at.month - 1]} {closes_at.year}?"


def _rules(judge: str, closes_at: datetime) -> str:
    return (
        f"YES pays one dollar a share if this is so at {closes_at:%H:%M} UTC on {closes_at:%Y-%m-%d}, "
        f"as reported by {judge}; otherwise NO does. Where the report leaves it open, each side is paid "
        f"half; if there is no report, the market is cancelled and stakes go back."
    )
