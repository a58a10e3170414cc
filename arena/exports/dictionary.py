"""The data dictionary: every table and column of an export, in words, from where they are declared."""

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
"""Columns of many tables, which the page explains once."""


def data_page() -> str:
    """The whole page, in Markdown."""
    facts = [_section(each.sheet) for each in FACTS]
    computed = [_section(each.sheet, " *Computed.*") for each in COMPUTED]
    return "\n\n".join([DATA_PAGE.read_text("utf-8").rstrip(), *facts, *computed]) + "\n"


def _section(sheet: ExportTable, origin: str = "") -> str:
    key = ", ".join(f"`{name}`" for name in sheet.key)
    own = [column for column in sheet.columns if not _everywhere(column)]
    others = [f"`{x.name}`" for x in sheet.columns if _everywhere(x) and x.name not in sheet.key]
    beside = f" Also {', '.join(others)}." if others else ""
    heading = f"## {sheet.name}\n\n{sheet.meaning}{origin} Key: {key}.{beside}"
    return f"{heading}\n\n" + "\n".join([HEAD, *map(_line, own)])


def _everywhere(column: ExportColumn) -> bool:
    """Whether it means here what the page says of it once."""
    return EVERYWHERE.get(column.name) == column.meaning and not column.empty


def _line(column: ExportColumn) -> str:
    meaning = column.meaning.replace("the SHA-256 that seals the row: ", "seals ")
    unit = column.unit.partition(": ")[0].replace("1 is yes, 0 is no", "1 or 0")
    unit = unit.replace("millionths of a dollar", "dollars").replace("millionths of a share", "shares")
    if unit and unit != "so many":
        meaning += f" ({unit})"
    if column.empty:
        meaning += f"; empty: {column.empty}"
    return f"|`{column.name}` |{column.kind} |{meaning.replace('|', '/')}|"
