"""All tables of facts, in the order in which they can be put back: what a row refers to comes before it.

The data dictionary: every table and column of an export, in words, from where they are declared.
"""

from collections.abc import Iterator
from pathlib import Path

from arena.exports.cohort_tables import (
    COHORTS,
    ENTRANTS,
    EVIDENCES,
    GATHERINGS,
    ITEMS,
    PROMPTS,
    ROUNDS,
    SNAPSHOTS,
)
from arena.exports.computed_tables import COMPUTED
from arena.exports.market_tables import (
    ARTICLES,
    MARKETS,
    PAGES,
    PRUNES,
    QUOTES,
    REJECTED,
    RESOLUTIONS,
    SIGHTINGS,
    SYNCS,
)
from arena.exports.table import ExportColumn, ExportTable, FactTable
from arena.exports.turn_tables import (
    CALL_TEXTS,
    CALLS,
    ENTRIES,
    FILLS,
    FORECASTS,
    LEVELS,
    MARKS,
    REJECTIONS,
    TURNS,
)

FACTS: tuple[FactTable, ...] = (
    PROMPTS,
    COHORTS,
    ENTRANTS,
    MARKETS,
    PAGES,
    QUOTES,
    RESOLUTIONS,
    SNAPSHOTS,
    ITEMS,
    ROUNDS,
    ARTICLES,
    GATHERINGS,
    EVIDENCES,
    CALLS,
    CALL_TEXTS,
    TURNS,
    FORECASTS,
    REJECTIONS,
    FILLS,
    LEVELS,
    ENTRIES,
    MARKS,
    SYNCS,
    SIGHTINGS,
    REJECTED,
    PRUNES,
)

RESTS = frozenset(each.rest for each in FACTS)
PUT_BACK: tuple[FactTable, ...] = tuple(each for each in FACTS if each.sheet.name not in RESTS)
"""Those that an import reads one after another; what has the rest of their rows is read beside them."""


SHEETS: tuple[ExportTable, ...] = (*(each.sheet for each in FACTS), *(each.sheet for each in COMPUTED))
DATA_PAGE = Path(__file__).with_name("data.md")
HEAD = "| column | type | unit | meaning | empty |\n| --- | --- | --- | --- | --- |"


def data_page() -> str:
    """The whole page, in Markdown."""
    return "\n\n".join([DATA_PAGE.read_text("utf-8").rstrip(), *_tables()]) + "\n"


def _tables() -> Iterator[str]:
    known = {each.sheet.name for each in COMPUTED}
    for sheet in SHEETS:
        origin = " *Worked out.*" if sheet.name in known else ""
        key = ", ".join(f"`{name}`" for name in sheet.key)
        yield f"## {sheet.name}\n\n{sheet.meaning}{origin} A row is named by {key}."
        yield "\n".join([HEAD, *map(_line, sheet.columns)])


def _line(column: ExportColumn) -> str:
    empty = column.empty or "never"
    cells = (f"`{column.name}`", column.kind, column.unit, column.meaning, empty)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
