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
    sections += [_table_section(table.sheet, table.sheet.meaning) for table in FACTS]
    sections += [_table_section(table.sheet, f"{table.sheet.meaning} *Computed.*") for table in COMPUTED]
    return "\n\n".join(sections) + "\n"


def _table_section(sheet: ExportTable, meaning: str) -> str:
    """Return the section of a table."""
    own_lines = []
    shared_names = []
    for column in sheet.columns:
        is_explained_once = EVERYWHERE.get(column.name) == column.meaning and not column.empty
        if not is_explained_once:
            own_lines.append(_column_line(column))
        elif column.name not in sheet.key:
            shared_names.append(column.name)

    about = f"{meaning} Key: {_code_spans(sheet.key)}."
    if shared_names:
        about += f" Also {_code_spans(shared_names)}."
    return "\n".join([f"## {sheet.name}\n\n{about}\n", HEAD, *own_lines])


def _code_spans(names: Iterable[str]) -> str:
    """Return names as a comma-separated list of code spans."""
    return ", ".join(f"`{name}`" for name in names)


def _column_line(column: ExportColumn) -> str:
    """Return the Markdown row of a column."""
    meaning = column.meaning.replace("the SHA-256 that seals the row: ", "seals ")

    # Units are written short here; a plain count needs none.
    unit = column.unit.partition(": ")[0].replace("1 is yes, 0 is no", "1 or 0")
    unit = unit.replace("millionths of a dollar", "dollars").replace("millionths of a share", "shares")
    if unit and unit != "so many":
        meaning += f" ({unit})"
    if column.empty:
        meaning += f"; empty: {column.empty}"
    return f"|`{column.name}` |{column.kind} |{meaning.replace('|', '/')}|"
