"""The data dictionary: every table and column of an export, in words, from where they are declared."""

from collections.abc import Iterator
from pathlib import Path

from arena.store.export.sheet import Column, Sheet
from arena.store.export.tables import FACTS
from arena.store.export.worked import WORKED

SHEETS: tuple[Sheet, ...] = (*(each.sheet for each in FACTS), *(each.sheet for each in WORKED))
INTRO = Path(__file__).with_name("data.md")
HEAD = "| column | type | unit | meaning | empty |\n| --- | --- | --- | --- | --- |"


def page() -> str:
    """The whole page, in Markdown."""
    return "\n\n".join([INTRO.read_text("utf-8").rstrip(), *_tables()]) + "\n"


def _tables() -> Iterator[str]:
    known = {each.sheet.name for each in WORKED}
    for sheet in SHEETS:
        origin = " *Worked out.*" if sheet.name in known else ""
        key = ", ".join(f"`{name}`" for name in sheet.key)
        yield f"## {sheet.name}\n\n{sheet.meaning}{origin} A row is named by {key}."
        yield "\n".join([HEAD, *map(_line, sheet.columns)])


def _line(column: Column) -> str:
    empty = column.empty or "never"
    cells = (f"`{column.name}`", column.kind, column.unit, column.meaning, empty)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
