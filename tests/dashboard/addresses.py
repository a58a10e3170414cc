"""What pages show when their address says so: of a record, every sort of thing that it has."""

from itertools import cycle
from pathlib import Path
from urllib.parse import urlencode

from dashboard.pages import FIRST
from tests.rows import rows_in

Address = tuple[str, dict[str, str]]
"""A page, and what its address says."""

BUSIEST = (
    "SELECT name FROM entrant LEFT JOIN turn ON turn.entrant_id = entrant.id "
    "LEFT JOIN fill ON fill.turn_id = turn.id GROUP BY name ORDER BY count(fill.id) DESC, name LIMIT 2"
)
BET_ON = "SELECT market_id FROM fill GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
PLACED = (
    "turn JOIN round ON round.id = turn.round_id JOIN cohort ON cohort.id = round.cohort_id "
    "JOIN entrant ON entrant.id = turn.entrant_id"
)
"""Turns with where they were played, and by whom."""
PLACE = f"SELECT cohort.number, round.number, entrant.name FROM {PLACED} "
TRADED = f"{PLACE} JOIN fill ON fill.turn_id = turn.id ORDER BY turn.id DESC LIMIT 1"
FAILED = f"{PLACE} WHERE turn.status IN ('failed', 'malformed') ORDER BY turn.id DESC LIMIT 1"
ASKED = f"{PLACE} JOIN call USING (round_id, entrant_id) ORDER BY turn.id LIMIT 1"
FIGURES = ("arena", "leaderboard", "cohort", "agent", "duel", "markets", "market", "turn", "operations")
VIEWS = (*FIGURES, "how", "glossary")
READINGS = ("stated", "anchored", "implied")


def addresses(record: Path) -> list[Address]:
    """Return each page bare, then every part, slice and reading of it, for what the record has most of."""
    return [*main_ones(record), *boards(), *ways(record)]


def main_ones(record: Path) -> list[Address]:
    """Return each page bare, then the parts of an agent, a duel, a market and turns."""
    return [(view, {}) for view in VIEWS] + [*agents(record), *details(record)]


def boards() -> list[Address]:
    """Return the leaderboard in its slices and readings, a cohort in its readings, units and ranges."""
    boards = [{"cohort": "1"}, *({"reading": reading} for reading in READINGS[1:])]
    slices = [{"slice": name} for name in ("horizon", "category", "price", "release")]
    spans = zip(("1d", "1w", "1m", "3m", "all"), cycle(("percent", "dollars")), cycle(READINGS), strict=False)
    cohorts = [{"cohort": "1", "range": span, "unit": unit, "reading": how} for span, unit, how in spans]
    return [*(("leaderboard", one) for one in boards + slices), *(("cohort", one) for one in cohorts)]


def agents(record: Path) -> list[Address]:
    """Return the parts of an agent, and a duel; for a record without agents, with made-up names."""
    first, second = busiest(record)
    parts = ("record", "forecasts", "money", "setup")
    known = [("agent", {"agent": first, "part": part}) for part in parts]
    return [*known, ("duel", {"a": first, "b": second})]


def busiest(record: Path) -> tuple[str, str]:
    """Return the two agents that traded most, or made-up names if there are none."""
    first, second, *_ = [*(name for (name,) in rows_in(record, BUSIEST)), "ann", "bob"]
    return first, second


def details(record: Path) -> list[Address]:
    """Return a market that was bet on, and turns that traded, that failed, and that asked a model."""
    markets = rows_in(record, BET_ON) or [("none:such",)]
    places = [place for query in (TRADED, FAILED, ASKED) for place in rows_in(record, query)]
    places = places or [("1", "1", "ann")]
    turns = [dict(zip(("cohort", "round", "agent"), map(str, place), strict=True)) for place in places]
    return [*(("market", {"market": one}) for (one,) in markets), *(("turn", turn) for turn in turns)]


def ways(record: Path) -> list[Address]:
    """Return an agent's forecasts divided in every way, and the lists of turns and markets."""
    first, second = busiest(record)
    parts = ({"agent": first, "part": "forecasts", "by": by} for by in ("horizon", "price", "cohort"))
    lists = [("turn", {"status": "failed"}), ("turn", {"agent": second}), ("markets", {"show": "disputed"})]
    return [
        *(("agent", part) for part in parts),
        *lists,
        *(("markets", {"show": pill}) for pill in ("open", "soon", "waiting", "resolved")),
    ]


def path_of(address: Address) -> str:
    """Return an address as a browser takes it, below the server's own."""
    view, shown = address
    path = "" if view == FIRST else view
    return f"{path}?{urlencode(shown)}" if shown else path
