"""Writes the data dictionary, which describes every table and column of an export."""

from collections.abc import Iterable
from pathlib import Path

from arena.exports.computed_tables import COMPUTED
from arena.exports.fact_tables import FACTS
from arena.exports.table import ExportColumn, ExportTable

DATA_PAGE = Path(__file__).with_name("data.md")
HEAD = "|column |type |meaning|\n|---|---|---|"
EVERYWHERE = {
    "cohort": "the cohort's number",
    "agent": "the agent's name in the line-up",
    "round": "the round's number in its cohort, from 1",
    "market_id": "the market: venue, a colon, and its id at the venue",
    "stage": "blind, before prices were shown, or final",
    "sample": "which of the samples of an answer, from 1",
    "attempt": "counts the attempts at it, from 1",
    "code_version": "the version of the arena that played it",
}
"""Columns that many tables share, which the page explains once."""


def data_page() -> str:
    """Return the data dictionary as Markdown."""
    sections = [DATA_PAGE.read_text("utf-8").rstrip()]
    sections += [_section(table.sheet, table.sheet.meaning) for table in FACTS]
    sections += [_section(table.sheet, f"{table.sheet.meaning} *Computed.*") for table in COMPUTED]
    return "\n\n".join(sections) + "\n"


def _section(sheet: ExportTable, meaning: str) -> str:
    """Return the section of a table."""
    own = []
    others = []
    for column in sheet.columns:
        if EVERYWHERE.get(column.name) != column.meaning or column.empty:
            own.append(_line(column))
        elif column.name not in sheet.key:
            others.append(column.name)

    about = f"{meaning} Key: {_code(sheet.key)}."
    if others:
        about += f" Also {_code(others)}."
    return "\n".join([f"## {sheet.name}\n\n{about}\n", HEAD, *own])


def _code(names: Iterable[str]) -> str:
    """Return names as a comma-separated list of code spans."""
    return ", ".join(f"`{name}`" for name in names)


def _line(column: ExportColumn) -> str:
    """Return the Markdown row of a column."""
    meaning = column.meaning.replace("the SHA-256 that seals the row: ", "seals ")
    unit = column.unit.partition(": ")[0].replace("1 is yes, 0 is no", "1 or 0")
    unit = unit.replace("millionths of a dollar", "dollars").replace("millionths of a share", "shares")
    if unit and unit != "so many":
        meaning += f" ({unit})"
    if column.empty:
        meaning += f"; empty: {column.empty}"
    return f"|`{column.name}` |{column.kind} |{meaning.replace('|', '/')}|"
