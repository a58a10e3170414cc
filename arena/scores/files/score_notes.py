"""Notes on the scores of a file: what was not scored and why, and how to get more scores."""

from collections.abc import Collection, Iterator, Sequence
from math import inf
from shlex import quote

import numpy as np

from arena.errors import count_text, first_names
from arena.forms.csv_columns import Flags, Floats
from arena.scores.files.by_question import QuestionScores
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.question_forms import FormQuestion
from arena.scores.files.score_choices import ScoreChoices
from arena.scores.rules._columns import is_scored
from arena.scores.rules.autocast.choice import SLACK

MANY = 5
"""The fewest questions on which a constant forecaster is reported."""
MOST_COLUMNS = 10
"""The number of unread columns that are named."""


def score_notes(
    table: ForecastTable, scored: QuestionScores, choices: ScoreChoices, few: bool, boundless: bool
) -> Iterator[str]:
    """Yield the notes on scores: `few` if no skill has an interval, `boundless` if a log score is −∞."""
    ended = is_scored(table.outcome)
    yield from table.notes
    if table.ignored:
        yield f"columns that were not read: {first_names(table.ignored, MOST_COLUMNS)}"
    if choices.provisional:
        yield from _provisional_notes(table, scored)
    else:
        yield from _open_notes(table, ended)
    yield from _form_notes(table)
    if not scored.asked.any():
        yield "nothing resolved: no question has an outcome that can be scored, so there are no scores"
        return

    yield from _answer_notes(scored, choices)
    compared = [form for form in table.forms if form.ended and form.options is not None]
    yield from _peer_notes(table, scored)
    if ended.any():
        yield from _constant_notes(table, ended, choices)
    if ended.any() or compared:
        yield from _skill_notes(table, ended, compared, few)
    yield from _number_notes(scored)
    if boundless:
        yield "a log score of −∞ (null in JSON): someone gave probability 0 to what happened"


def _open_notes(table: ForecastTable, ended: Flags) -> Iterator[str]:
    """Yield notes on questions without an outcome that is scored."""
    still_open = _open_rows(table)
    if still_open.any():
        count = _count_text(table, still_open)
        yield f"not scored yet: {count} without an outcome"

    in_part = ~ended & ~still_open
    if in_part.any():
        count = _count_text(table, in_part)
        yield f"not scored: {count} that ended in a fraction or a refund"


def _open_rows(table: ForecastTable) -> Flags:
    """Return the rows that may still get an outcome; a question resolved without one was annulled."""
    is_open: Flags = np.isnan(table.outcome)
    if table.resolved is not None:
        is_open &= np.isnan(table.resolved)
    return is_open


def _form_notes(table: ForecastTable) -> Iterator[str]:
    """Yield how many multiple choice or numeric questions have no outcome, and how many never will."""
    called_off = sum(form.called_off for form in table.forms)
    waiting = sum(not form.ended for form in table.forms) - called_off
    if waiting:
        count = count_text(waiting, "question")
        yield f"not scored yet: {count} of options or a number, without an outcome"
    if called_off:
        count = count_text(called_off, "question")
        yield f"not scored: {count} of options or a number, called off"


def _provisional_notes(table: ForecastTable, scored: QuestionScores) -> Iterator[str]:
    """Yield how many questions are scored by a price, and how many are not scored even so."""
    yes_no = len(table.questions)
    counted = np.flatnonzero(scored.asked[:yes_no])
    is_ended = is_scored(table.outcome)
    answered = np.unique(table.question[is_ended])
    unanswered = [own.place for own in table.unanswered]
    ended = np.union1d(answered, unanswered)
    by_price = np.setdiff1d(counted, ended)
    if by_price.size:
        count = count_text(by_price.size, "question")
        yield (
            f"provisional: {count} scored by a price that stands in for an outcome; "
            "skill and Metaculus's scores leave them out"
        )

    is_open = np.isnan(table.outcome)
    still_open = np.unique(table.question[is_open])
    left = np.setdiff1d(still_open, counted)
    if left.size:
        count = count_text(left.size, "question")
        yield (
            f"not scored yet: {count} without an outcome; a price counts that is "
            "later than the forecasts, in the columns time and market_probability"
        )


def _answer_notes(scored: QuestionScores, choices: ScoreChoices) -> Iterator[str]:
    """Yield a note if forecasters answered different questions."""
    counts = scored.counts()
    asked = int(scored.asked.sum())
    answered = counts[counts > 0]
    if not answered.size:
        return

    least = answered.min()
    most = answered.max()
    if least == asked:
        return

    place = int(np.flatnonzero(counts == least)[0])
    fewest = scored.forecasters[place]
    span = f"from {least:,} ({fewest}) to {most:,}"
    if least == most:
        span = f"each {least:,}"
    sentence = f"forecasters answered different questions: {span} of {asked:,}"
    if answered.size == 1:
        sentence = f"{fewest} answered {answered[0]:,} of {asked:,} questions"

    own = "scores marked * are over the questions that each one answered and can't be compared"
    if scored.kinds("number") == asked:
        yield sentence
        yield own
        return

    if answered.size > 1:
        if not choices.adjusted:
            sentence += "; --adjusted allows for how hard each one's questions were"
        sentence += ", --against NAME compares on common ones"
    counts_as = "0, in Brier as wrong" if choices.rule == "metaculus" else "wrong"
    yield sentence
    yield (
        f"{own}; under all and in the order a missing answer counts as {counts_as}, in skill as the "
        "market's price"
    )


def _constant_notes(table: ForecastTable, ended: Flags, choices: ScoreChoices) -> Iterator[str]:
    """Yield which forecasters always state the same, which moves everyone else's peer scores."""
    constant = constant_forecasters(table, ended, choices.outside)
    if constant:
        named = ", ".join(constant)
        options = " ".join(f"--outside {quote(name)}" for name in constant[:5])
        yield f"always the same answer, and counted in everybody's peer score: {named} ({options})"


def constant_forecasters(table: ForecastTable, ended: Flags, outside: Collection[str]) -> list[str]:
    """Return the forecasters with one probability throughout; nobody if only two are compared."""
    if len(table.forecasters) <= 2:
        return []

    who = table.forecaster[ended]
    probability = table.probability[ended]
    forecasters = len(table.forecasters)
    least = np.full(forecasters, inf)
    most = np.full(forecasters, -inf)
    np.minimum.at(least, who, probability)
    np.maximum.at(most, who, probability)

    counts = np.bincount(who, minlength=forecasters)
    is_same = least == most
    is_constant = is_same & (counts >= MANY)
    constant = []
    for place in np.flatnonzero(is_constant):
        name = table.forecasters[place]
        if name not in outside:
            constant.append(name)
    return constant


def _peer_notes(table: ForecastTable, scored: QuestionScores) -> Iterator[str]:
    """Yield what is missing for peer scores, and for means over time."""
    if scored.question.size:
        forecasters = np.bincount(scored.question)
        if forecasters.max() < 2:
            yield "no peer and relative scores: no question has two forecasters"

    if table.close is None and table.time is not None:
        yield (
            "no column close: baseline, peer and relative use everyone's latest forecast of a question, "
            "not a mean over time"
        )


def _skill_notes(
    table: ForecastTable, ended: Flags, compared: Sequence[FormQuestion], few: bool
) -> Iterator[str]:
    """Yield what is missing for skill, on yes/no and multiple choice questions."""
    if table.market is None:
        yield "no skill against the market: it needs a column market_probability"
        return

    without = ended & np.isnan(table.market)
    if without.any():
        count = _count_text(table, without)
        yield f"not in skill: {count} without a market_probability"

    yield from _odds_notes(compared)
    if not table.event_column:
        yield (
            "no column event: every question counts as its own event, so intervals are too narrow "
            "where questions move together"
        )
    if table.time is None or (table.resolved is None and table.close is None):
        yield (
            "no columns time and resolved: every outcome counts only after the last forecast, so who is "
            "better is looked at once, and nothing says since when"
        )
    if few:
        yield "not enough events for an interval of skill: with --json, reason says how many more it takes"


def _odds_notes(compared: Sequence[FormQuestion]) -> Iterator[str]:
    """Yield how many multiple choice forecasts have no odds, and whose odds had a margin."""
    margins = odds_margins(compared)
    missing = [int(np.count_nonzero(np.isnan(margin))) for margin in margins]
    if any(missing):
        forecasts = count_text(sum(missing), "forecast")
        questions = count_text(int(np.count_nonzero(missing)), "question")
        yield f"not in skill: {forecasts} on {questions} without a market_probability for each option"
    yield from scaled_notes(margins)


def odds_margins(forms: Sequence[FormQuestion]) -> list[Floats]:
    """Return by how much the odds of each multiple choice question exceeded 1, by forecast."""
    return [form.options.margin for form in forms if form.options is not None]


def scaled_notes(margins: Sequence[Floats]) -> Iterator[str]:
    """Yield how many forecasts have odds with a margin, and how large it was."""
    margin = np.concatenate([np.zeros(0), *margins])
    is_scaled = np.abs(margin) > SLACK
    scaled = margin[is_scaled]
    if scaled.size:
        forecasts = count_text(scaled.size, "forecast")
        least = f"{scaled.min():+.1%}"
        most = f"{scaled.max():+.1%}"
        span = least if least == most else f"{least} to {most}, on average {scaled.mean():+.1%}"
        yield f"odds scaled to add up to 1: {forecasts} with a margin of {span}"


def _number_notes(scored: QuestionScores) -> Iterator[str]:
    """Yield how many questions nobody can be compared on, if there are others."""
    numbers = scored.kinds("number")
    asked = int(scored.asked.sum())
    if numbers and numbers < asked:
        count = count_text(numbers, "question")
        yield f"not in skill, nor in who is better than whom: {count} of a number, which have no Brier score"


def _count_text(table: ForecastTable, rows: Flags) -> str:
    """Return the number of forecasts in some rows, and of their questions, in words."""
    count = int(rows.sum())
    own = np.unique(table.question[rows])
    forecasts = count_text(count, "forecast")
    questions = count_text(own.size, "question")
    return f"{forecasts} on {questions}"
