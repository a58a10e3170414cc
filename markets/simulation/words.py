"""What simulated markets are about: invented places, firms and people in everyday questions."""

import random
from datetime import datetime

from markets.simulation.settings import below

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
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December")  # fmt: skip
_JUDGES = ("the {place} Gazette", "the registrar of {place}", "the {place} statistics office")


def questions(rng: random.Random, count: int, closes_at: datetime) -> tuple[str, list[tuple[str, str]]]:
    """The category of an event, and so many of its questions, each with its rules."""
    category = _pick(rng, tuple(TOPICS))
    place = _pick(rng, _HEADS) + _pick(rng, _TAILS)
    surname = _pick(rng, _FIRST_HALF) + _pick(rng, _SECOND_HALF)
    names = {
        "place": place,
        "person": f"{_pick(rng, _GIVEN)} {surname}",
        "firm": f"{_pick(rng, _FIRST_HALF)}{_pick(rng, _SECOND_HALF)} {_pick(rng, _TRADES)}",
    }
    judge = _pick(rng, _JUDGES).format(**names)
    shuffled = sorted((rng.random(), claim) for claim in TOPICS[category])
    claims = [claim.format(**names) for _, claim in shuffled[:count]]
    return category, [(_question(claim, closes_at), _rules(judge, closes_at)) for claim in claims]


def _question(claim: str, closes_at: datetime) -> str:
    word = "by" if " have " in claim else "on"
    return f"Will {claim} {word} {closes_at.day} {_MONTHS[closes_at.month - 1]} {closes_at.year}?"


def _rules(judge: str, closes_at: datetime) -> str:
    return (
        f"YES pays one dollar a share if this is so at {closes_at:%H:%M} UTC on {closes_at:%Y-%m-%d}, "
        f"as reported by {judge}; otherwise NO does. Where the report leaves it open, each side is paid "
        f"half; if there is no report, the market is cancelled and stakes go back."
    )


def _pick(rng: random.Random, items: tuple[str, ...]) -> str:
    return items[below(rng, len(items))]
