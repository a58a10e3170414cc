"""How it works: what is played, what the figures mean, the rules in force, and what is not claimed."""

import tomllib
from pathlib import Path

from markupsafe import Markup

from arena.record.model.cohort import Cohort
from arena.record.queries.cohorts import read_cohorts
from arena.record.schema.database import Connection
from dashboard.html import beside, box, bullets, each, linked, meanings
from dashboard.pages import Address, in_app, put, way
from dashboard.record import RecordSource, read_cached
from dashboard.words import filled, rules

TITLE = "How it works"
NEEDS_A_COHORT = False
ORDER = 8

TEXT = Path(__file__).parents[1] / "assets" / "how.toml"


def show(record: RecordSource) -> None:
    """Show the page."""
    put(how_it_works(read_cached(record, read_newest)), "how")


def read_newest(connection: Connection) -> Cohort | None:
    """Return the cohort whose rules are in force: the newest, if there is one."""
    stored = read_cohorts(connection)
    if not stored:
        return None
    return stored[-1].cohort


def how_it_works(cohort: Cohort | None, address: Address = in_app) -> Markup:
    """Return the whole page, with the rules of a cohort if there is one."""
    text = tomllib.loads(TEXT.read_text(encoding="utf-8"))
    more = linked(Markup("All words: the glossary"), address(way("glossary")))
    figures = meanings(text["figures"]) + filled("<p>%s</p>", more)
    left = box("What is played", each("<p>%s</p>", text["play"])) + box("What the figures mean", figures)

    right = box("What is not claimed", bullets(text["limits"]))
    if cohort is not None:
        below = "Frozen for this cohort, the newest; later cohorts may have others."
        right += box(f"The rules of cohort {cohort.number}", bullets(rules(cohort)), below)
    right += box("Check it yourself", each("<p>%s</p>", text["check"]))
    return beside(left, right)
