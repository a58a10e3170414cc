"""Notes on the scores of a season: what was not scored and why, in the words of its board."""

from collections.abc import Iterator

import numpy as np

from arena.errors import count_text
from arena.scores.files.by_question import QuestionScores
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.score_notes import constant_forecasters, odds_margins, scaled_notes
from arena.scores.rules._columns import is_scored


def season_notes(table: ForecastTable, scored: QuestionScores) -> Iterator[str]:
    """Yield notes on what the board's tables don't show."""
    yield from table.notes
    if not scored.asked.any():
        return

    without_outcome = int(np.count_nonzero(~scored.asked))
    if without_outcome:
        count = count_text(without_outcome, "question")
        yield f"not scored: {count} (open, held out, refunded, or settled in part)"

    answered_counts = scored.counts()
    asked = np.count_nonzero(scored.asked)
    if answered_counts[answered_counts > 0].min(initial=asked) < asked:
        yield "not everyone was asked the same questions, and scores are over those that each one was asked"

    if table.outside:
        yield f"left out of the others' peer scores: {', '.join(table.outside)}"
    constant = constant_forecasters(table, is_scored(table.outcome), table.outside)
    if constant:
        yield f"always the same probability, and counted in everybody's peer score: {', '.join(constant)}"
    yield from _skill_notes(table)


def _skill_notes(table: ForecastTable) -> Iterator[str]:
    """Yield how many forecasts had no price or odds to compare with, and whose odds had a margin."""
    margins = odds_margins([form for form in table.forms if form.ended])
    forecasts = sum(int(np.count_nonzero(np.isnan(margin))) for margin in margins)
    questions = sum(bool(np.isnan(margin).any()) for margin in margins)
    if table.market is not None:
        is_without_price = is_scored(table.outcome) & np.isnan(table.market)
        forecasts += int(np.count_nonzero(is_without_price))
        questions += np.unique(table.question[is_without_price]).size
    if forecasts:
        count = f"{count_text(forecasts, 'forecast')} on {count_text(questions, 'question')}"
        yield f"not in skill: {count} without a price or odds at that time"
    yield from scaled_notes(margins)
