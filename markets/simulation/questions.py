"""The questions and rules of simulated markets, about invented places, firms and people."""

import random
from collections.abc import Callable
from datetime import datetime

from markets.simulation.settings import Family, draw_below

_HEADS = ("Avel", "Brum", "Calv", "Drev", "Eskel", "Fjor", "Grun", "Hesk", "Istel", "Jorv", "Kesk", "Lurn",
          "Mosk", "Nesk", "Orv", "Plen", "Quill", "Rusk", "Sorv", "Tarn", "Umber", "Vell", "Wex")  # fmt: skip
_TAILS = ("aven", "burgh", "cester", "dale", "ento", "fell", "gate", "holm", "ira", "mark",
          "mouth", "ova", "port", "stead", "vik", "wick")  # fmt: skip
_GIVEN = ("Ada", "Bram", "Celia", "Dov", "Edda", "Fenn", "Greta", "Hugo", "Ines", "Jory", "Katla", "Leif",
          "Mira", "Nils", "Orla", "Pavel", "Runa", "Sven", "Tilda", "Viggo")  # fmt: skip
_FIRST_HALF = ("Ambel", "Bresk", "Carm", "Dresk", "Emmer", "Fesk", "Gorm", "Hask", "Ivar", "Kolt",
               "Lunt", "Morv", "Nyst", "Ovren", "Prask", "Rumm", "Strev", "Thorv", "Ulven")  # fmt: skip
_SECOND_HALF = ("aby", "adottir", "ek", "eling", "ersk", "ingway", "olt", "ovar", "ster", "und")
_TRADES = ("Freight", "Foods", "Instruments", "Motors", "Optics", "Power", "Rail", "Robotics",
           "Shipping", "Steel", "Telecom", "Textiles")  # fmt: skip
TOPICS: dict[str, tuple[str, ...]] = {
    "politics": (
        "{person} still be mayor of {place}",
        "the {place} assembly have passed the harbour bill",
        "{place} have named a day for its tram referendum",
        "the governing coalition of {place} have lost a member party",
        "the audit of the {place} town hall have been published",
        "{place} have signed the border treaty",
    ),
    "economy": (
        "the central bank of {place} have cut its rate",
        "inflation in {place} be below 3% in the latest figure",
        "{place} have placed a new ten-year bond",
        "unemployment in {place} be lower than a year before",
        "the {place} crown have been taken off its peg",
        "{place} have lifted its duty on timber",
    ),
    "business": (
        "{firm} have named a new chief executive",
        "{firm} have opened its second plant in {place}",
        "{firm} have raised its forecast for the year",
        "{firm} have settled with the dock workers of {place}",
        "the sale of {firm}'s retail arm have been agreed",
        "{firm} have been fined over the {place} pipeline",
    ),
    "science": (
        "the {place} observatory have published its comet survey",
        "{person}'s malaria trial have met its main goal",
        "the {place} telescope have seen first light",
        "a second laboratory have repeated {person}'s battery result",
        "the {place} probe have reached its orbit",
        "the {place} genome bank have opened its archive",
    ),
    "sport": (
        "{person} still be head coach of {place} United",
        "{place} United be in the upper half of the table",
        "{person} have run the {place} marathon under 2:10",
        "the new {place} stadium have held its first match",
        "{place} have been chosen as host of the winter games",
        "{person} have signed a new contract with {place} Rowing Club",
    ),
    "weather": (
        "{place} have measured more than 30 mm of rain in one day",
        "the {place} river gauge have passed its flood mark",
        "the {place} pass be open to lorries",
        "{place} have had five days of frost in a row",
        "the {place} reservoir be more than half full",
        "a named storm have closed {place} harbour",
    ),
}  # fmt: skip
CONTESTS = {
    "politics": "{person} win the election for mayor of {place}",
    "economy": "{firm} get the contract for the port of {place}",
    "business": "{firm} buy the ferries of {place}",
    "science": "{person} win the {place} medal for physics",
    "sport": "{person} win the {place} marathon",
    "weather": "{town} report the most rain of all towns around {place}",
}
"""Claims of which exactly one of several can come true."""
THRESHOLDS = {
    "politics": ("{person} win more than {n}% of the vote in {place}", 30, 5),
    "economy": ("inflation in {place} be above {n}%", 2, 1),
    "business": ("a share of {firm} cost more than ${n}", 80, 20),
    "science": ("the {place} telescope have found more than {n} comets", 10, 5),
    "sport": ("{place} United have won more than {n} matches", 4, 3),
    "weather": ("the {place} reservoir be more than {n}% full", 40, 10),
}
"""Thresholds that can be passed one by one: the claim, the first threshold and the step."""
JUDGES = ("the {place} Gazette", "the registrar of {place}", "the {place} statistics office")
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December")  # fmt: skip
_ALONE = " Of the {count} that are listed, exactly one comes true."
Texts = list[tuple[str, str]]
"""Questions, each with its rules."""


def questions(
    rng: random.Random, count: int, closes_at: datetime, family: Family = "plain"
) -> tuple[str, Texts]:
    """Return the category of an event, and this many of its questions with their rules."""
    category = pick(rng, tuple(TOPICS))
    names = {"place": town(rng)}
    last_name = surname(rng)
    names |= {"person": f"{given(rng)} {last_name}", "firm": firm(rng)}
    judge = pick(rng, JUDGES).format(**names)
    claims = _CLAIMS[family](rng, category, names, count)
    number_rule = _ALONE.format(count=count) if family == "exclusive" else ""

    return category, [
        (_question(claim, closes_at), _rules(judge, closes_at) + number_rule) for claim in claims
    ]


def _plain(rng: random.Random, category: str, names: dict[str, str], count: int) -> list[str]:
    shuffled = sorted((rng.random(), claim) for claim in TOPICS[category])
    return [claim.format(**names) for _, claim in shuffled[:count]]


def _exclusive(rng: random.Random, category: str, names: dict[str, str], count: int) -> list[str]:
    """Return the same claim for different names."""
    claims: list[str] = []
    while len(claims) < count:
        other_names = {"person": f"{given(rng)} {surname(rng)}", "firm": firm(rng), "town": town(rng)}
        claim = CONTESTS[category].format(place=names["place"], **other_names)
        if claim not in claims:
            claims.append(claim)
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


def town(rng: random.Random) -> str:
    """Return the name of a place."""
    return pick(rng, _HEADS) + pick(rng, _TAILS)


def surname(rng: random.Random) -> str:
    """Return the surname of a person or a firm."""
    return pick(rng, _FIRST_HALF) + pick(rng, _SECOND_HALF)


def given(rng: random.Random) -> str:
    """Return a person's first name."""
    return pick(rng, _GIVEN)


def firm(rng: random.Random) -> str:
    """Return the name of a firm with its trade."""
    return f"{surname(rng)} {pick(rng, _TRADES)}"


def pick(rng: random.Random, items: tuple[str, ...]) -> str:
    """Return one of the items, drawn evenly."""
    return items[draw_below(rng, len(items))]
