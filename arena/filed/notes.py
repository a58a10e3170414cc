"""What a reader of a board must know: what was not scored, and what a column more would tell."""

from collections.abc import Iterator

import numpy as np

from arena.filed.reading import Flags
from arena.filed.table import Table
from arena.scoring._columns import scored
from arena.scoring.comparing.events import ENOUGH


def notes(table: Table, few: bool, boundless: bool) -> Iterator[str]:
    """Sentences about a table's scores: `few` if nobody has an interval, `boundless` if a log score is −∞."""
    ended = scored(table.outcome)
    yield from _not_scored(table, ended)
    if not ended.any():
        yield "nothing resolved: no question has an outcome of 0 or 1, so there are no scores"
        return
    yield from _of_peers(table, ended)
    yield from _of_skill(table, ended, few)
    if boundless:
        yield "a log score of −∞, null in JSON: somebody gave 0 to what happened"


def _not_scored(table: Table, ended: Flags) -> Iterator[str]:
    still_open = np.isnan(table.outcome)
    if still_open.any():
        yield f"not scored yet: {_count(table, still_open)} without an outcome"
    parts = ~ended & ~still_open
    if parts.any():
        yield f"not scored: {_count(table, parts)} that ended in a fraction or a refund"


def _of_peers(table: Table, ended: Flags) -> Iterator[str]:
    pairs = np.unique(table.question[ended] * len(table.forecasters) + table.forecaster[ended])
    if np.bincount(pairs // len(table.forecasters)).max() < 2:
        yield "no peer and relative scores: no question has two forecasters"
    if table.close is None and table.time is not None:
        yield (
            "no column close: baseline, peer and relative take everyone's latest forecast of a question, "
            "not a mean over time"
        )


def _of_skill(table: Table, ended: Flags, few: bool) -> Iterator[str]:
    if table.market is None:
        yield "no skill and no intervals: they need a column market_probability"
        return
    without = ended & np.isnan(table.market)
    if without.any():
        yield f"not in skill: {_count(table, without)} without a market_probability"
    if not table.event_column:
        yield (
            "no column event: every question is taken for an event of its own, and intervals are too narrow "
            "where questions move together"
        )
    if few:
        yield f"not enough events: nobody has the {ENOUGH:.0f} effective events that an interval needs"


def _count(table: Table, rows: Flags) -> str:
    forecasts, questions = int(rows.sum()), np.unique(table.question[rows]).size
    said = "1 forecast" if forecasts == 1 else f"{forecasts:,} forecasts"
    return f"{said} on {'1 question' if questions == 1 else f'{questions:,} questions'}"
