"""The data dictionary: every table and column of an export, in words, from where they are declared."""

from itertools import groupby
from pathlib import Path

from arena.exports.computed_tables import COMPUTED
from arena.exports.fact_tables import FACTS
from arena.exports.table import ExportColumn, ExportTable

DATA_PAGE = Path(__file__).with_name("data.md")
HEAD = "| column | type | meaning |\n| --- | --- | --- |"
EVERYWHERE = {
    "cohort": "the cohort's number",
    "agent": "the agent's name in the line-up",
    "round": "the round's number in its cohort, from 1",
    "market_id": "the market: venue, a colon, and its id at the venue",
}
"""Columns of many tables, which the page explains once."""
SHORT = 30
"""A meaning with fewer characters is said again in every table."""
UNITS = {
    "millionths of a dollar": "dollars",
    "millionths of a dollar a share": "dollars a share",
    "millionths of a share": "shares",
    "millionths: 1,000,000 is certain": "millionths",
    "millionths: 1,000,000 is the whole": "millionths",
    "1 is yes, 0 is no": "1 or 0",
    "so many": "",
}
"""Units as the head of the page explains them once."""


def data_page() -> str:
    """The whole page, in Markdown."""
    facts = [_section(each.sheet) for each in FACTS]
    computed = [_section(each.sheet, " *Computed.*") for each in COMPUTED]
    return "\n\n".join([DATA_PAGE.read_text("utf-8").rstrip(), *facts, *computed]) + "\n"


def _section(sheet: ExportTable, origin: str = "") -> str:
    """A table with its own columns; long ones that an earlier table explains alike are only named."""
    key = ", ".join(f"`{name}`" for name in sheet.key)
    own = [
        x for x in sheet.columns if not _everywhere(x) and (len(x.meaning) < SHORT or _first(x) == sheet.name)
    ]
    others = [f"`{x.name}`" for x in sheet.columns if _everywhere(x) and x.name not in sheet.key]
    beside = f" Also {', '.join(others)}." if others else ""
    told = [x for x in sheet.columns if not _everywhere(x) and x not in own]
    for table, columns in groupby(sorted(told, key=_first), _first):
        beside += f" As in `{table}`: {', '.join(f'`{x.name}`' for x in columns)}."
    heading = f"## {sheet.name}\n\n{sheet.meaning}{origin} Named by {key}.{beside}"
    return f"{heading}\n\n" + "\n".join([HEAD, *map(_line, own)])


def _first(column: ExportColumn) -> str:
    """The first table in which the same is said of such a column."""
    return next(x.sheet.name for x in (*FACTS, *COMPUTED) if column in x.sheet.columns)


def _everywhere(column: ExportColumn) -> bool:
    """Whether it means here what the page says of it once."""
    return EVERYWHERE.get(column.name) == column.meaning and not column.empty


def _line(column: ExportColumn) -> str:
    meaning = column.meaning.replace("the SHA-256 that seals the row: ", "seals ")
    unit = UNITS.get(column.unit, column.unit)
    if unit:
        meaning += f" ({unit})"
    if column.empty:
        meaning += f"; empty: {column.empty}"
    return f"| `{column.name}` | {column.kind} | {meaning.replace('|', '/')} |"
