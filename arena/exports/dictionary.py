"""The data dictionary: every table and column of an export, in words, from where they are declared."""

from pathlib import Path

from arena.exports.computed_tables import COMPUTED
from arena.exports.fact_tables import FACTS
from arena.exports.table import ExportColumn, ExportTable

DATA_PAGE = Path(__file__).with_name("data.md")
HEAD = "| column | type | unit | meaning | empty |\n| --- | --- | --- | --- | --- |"


def data_page() -> str:
    """The whole page, in Markdown."""
    facts = [_section(each.sheet) for each in FACTS]
    computed = [_section(each.sheet, " *Computed.*") for each in COMPUTED]
    return "\n\n".join([DATA_PAGE.read_text("utf-8").rstrip(), *facts, *computed]) + "\n"


def _section(sheet: ExportTable, origin: str = "") -> str:
    key = ", ".join(f"`{name}`" for name in sheet.key)
    heading = f"## {sheet.name}\n\n{sheet.meaning}{origin} A row is named by {key}."
    return f"{heading}\n\n" + "\n".join([HEAD, *map(_line, sheet.columns)])


def _line(column: ExportColumn) -> str:
    cells = (f"`{column.name}`", column.kind, column.unit, column.meaning, column.empty or "never")
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
