"""Notes on the scores of a file: what was not scored and why, and how to get more scores."""

from collections.abc import Collection, Iterator, Sequence
from math import inf
from shlex import quote

import numpy as np

from arena.errors import count_text, first_names
from arena.forms.csv_columns import Flags, Floats, Ints
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
    table: ForecastTable,
    scored: QuestionScores,
    choices: ScoreChoices,
    no_interval: bool,
    has_infinite_log: bool,
) -> Iterator[str]:
    """Yield the notes on scores.

    `no_interval` means that no skill has an interval, and `has_infinite_log` that a log score is −∞.
    """
    is_ended = is_scored(table.outcome)
    yield from table.notes
    if table.ignored:
        yield f"columns that were not read: {first_names(table.ignored, MOST_COLUMNS)}"
    if choices.provisional:
        yield from _provisional_notes(table, scored)
    else:
        yield from _open_notes(table, is_ended)
    yield from _form_notes(table)
    if not scored.asked.any():
        yield "nothing resolved: no question has an outcome that can be scored, so there are no scores"
        return

    yield from _answer_notes(scored, choices)
    choice_questions = [form for form in table.forms if form.ended and form.options is not None]
    yield from _peer_notes(table, scored)
    if is_ended.any():
        yield from _constant_notes(table, is_ended, choices)
    if is_ended.any() or choice_questions:
        yield from _skill_notes(table, is_ended, choice_questions, no_interval)
    yield from _number_notes(scored)
    if has_infinite_log:
        yield "a log score of −∞ (null in JSON): someone gave probability 0 to what happened"


def _open_notes(table: ForecastTable, is_ended: Flags) -> Iterator[str]:
    """Yield notes on questions without an outcome that is scored."""
    is_open = table.open_rows()
    if is_open.any():
        count = _forecast_count_text(table, is_open)
        yield f"not scored yet: {count} without an outcome"

    is_partial = ~is_ended & ~is_open
    if is_partial.any():
        count = _forecast_count_text(table, is_partial)
        yield f"not scored: {count} that ended in a fraction or a refund"


def _form_notes(table: ForecastTable) -> Iterator[str]:
    """Yield how many multiple choice or numeric questions have no outcome, and how many never will."""
    called_off = sum(form.called_off for form in table.forms)
    open_questions = sum(not form.ended for form in table.forms) - called_off
    if open_questions:
        count = count_text(open_questions, "question")
        yield f"not scored yet: {count} of options or a number, without an outcome"
    if called_off:
        count = count_text(called_off, "question")
        yield f"not scored: {count} of options or a number, called off"


def _provisional_notes(table: ForecastTable, scored: QuestionScores) -> Iterator[str]:
    """Yield how many questions are scored by a price, and how many are not scored even so."""
    yes_no = len(table.questions)
    scored_questions = np.flatnonzero(scored.asked[:yes_no])
    is_ended = is_scored(table.outcome)
    answered_questions = np.unique(table.question[is_ended])
    unanswered_questions = [own.place for own in table.unanswered]
    ended_questions = np.union1d(answered_questions, unanswered_questions)
    by_price = np.setdiff1d(scored_questions, ended_questions)
    if by_price.size:
        count = count_text(by_price.size, "question")
        yield (
            f"provisional: {count} scored by a price that stands in for an outcome; "
            "skill and Metaculus's scores leave them out"
        )

    is_open = table.open_rows()
    called_off = np.unique(table.question[np.isnan(table.outcome) & ~is_open])
    if called_off.size:
        yield f"not scored: {count_text(called_off.size, 'question')} that ended without an outcome"

    still_open = np.unique(table.question[is_open])
    unscored_open = np.setdiff1d(still_open, scored_questions)
    if unscored_open.size:
        count = count_text(unscored_open.size, "question")
        yield (
            f"not scored yet: {count} without an outcome; a price counts that is "
            "later than the forecasts, in the columns time and market_probability"
        )


def _answer_notes(scored: QuestionScores, choices: ScoreChoices) -> Iterator[str]:
    """Yield notes on questions that forecasters left out, if there are any."""
    asked = int(scored.asked.sum())
    counts = scored.counts()
    answered_counts = counts[counts > 0]
    if not answered_counts.size or answered_counts.min() == asked:
        return

    star_note = "scores marked * are over the questions that each one answered and can't be compared"
    sentence, differ = _left_out_sentence(scored, counts, asked)
    if scored.kinds("number") == asked:
        yield sentence
        yield star_note
        return

    if differ:
        if not choices.adjusted:
            sentence += "; --adjusted allows for how hard each one's questions were"
        sentence += ", --against NAME compares on common ones"
    counts_as = "0, in Brier as wrong" if choices.rule == "metaculus" else "wrong"
    yield sentence
    yield (
        f"{star_note}; under all and in the order a missing answer counts as {counts_as}, in skill as the "
        "market's price"
    )


def _left_out_sentence(scored: QuestionScores, counts: Ints, asked: int) -> tuple[str, bool]:
    """Return how many of the questions were answered, and whether forecasters answered different ones.

    `counts` are the questions on which each forecaster is scored.
    """
    answered_counts = counts[counts > 0]
    least = answered_counts.min()
    most = answered_counts.max()
    least_forecaster = scored.forecasters[int(np.flatnonzero(counts == least)[0])]
    if answered_counts.size == 1:
        return f"{least_forecaster} answered {least:,} of {asked:,} questions", False
    if np.unique(scored.question).size == least:
        return f"forecasters answered the same {least:,} of {asked:,} questions", False

    span = f"from {least:,} ({least_forecaster}) to {most:,}"
    if least == most:
        span = f"each {least:,}"
    return f"forecasters answered different questions: {span} of {asked:,}", True


def _constant_notes(table: ForecastTable, is_ended: Flags, choices: ScoreChoices) -> Iterator[str]:
    """Yield which forecasters always state the same, which moves everyone else's peer scores."""
    constant_names = constant_forecasters(table, is_ended, choices.outside)
    if constant_names:
        shown_names = ", ".join(constant_names)
        options = " ".join(f"--outside {quote(name)}" for name in constant_names[:5])
        yield f"always the same answer, and counted in everybody's peer score: {shown_names} ({options})"


def constant_forecasters(table: ForecastTable, is_ended: Flags, outside: Collection[str]) -> list[str]:
    """Return the forecasters with one probability throughout; nobody if only two are compared."""
    if len(table.forecasters) <= 2:
        return []

    who = table.forecaster[is_ended]
    probability = table.probability[is_ended]
    forecasters = len(table.forecasters)
    least = np.full(forecasters, inf)
    most = np.full(forecasters, -inf)
    np.minimum.at(least, who, probability)
    np.maximum.at(most, who, probability)

    counts = np.bincount(who, minlength=forecasters)
    is_same = least == most
    is_constant = is_same & (counts >= MANY)
    constant_names = []
    for place in np.flatnonzero(is_constant):
        name = table.forecasters[place]
        if name not in outside:
            constant_names.append(name)
    return constant_names


def _peer_notes(table: ForecastTable, scored: QuestionScores) -> Iterator[str]:
    """Yield what is missing for peer scores, and for means over time."""
    if scored.question.size:
        forecasters_of_question = np.bincount(scored.question)
        if forecasters_of_question.max() < 2:
            yield "no peer and relative scores: no question has two forecasters"

    if table.close is None and table.time is not None:
        yield (
            "no column close: baseline, peer and relative use everyone's latest forecast of a question, "
            "not a mean over time"
        )


def _skill_notes(
    table: ForecastTable, is_ended: Flags, choice_questions: Sequence[FormQuestion], no_interval: bool
) -> Iterator[str]:
    """Yield what is missing for skill, on yes/no and multiple choice questions."""
    if table.market is None:
        yield "no skill against the market: it needs a column market_probability"
        return

    is_without_price = is_ended & np.isnan(table.market)
    if is_without_price.any():
        count = _forecast_count_text(table, is_without_price)
        yield f"not in skill: {count} without a market_probability"

    yield from _odds_notes(choice_questions)
    if not table.event_column:
        yield (
            "no column event: every question counts as its own event, so intervals are too narrow "
            "where questions move together"
        )
    if table.time is None or (table.resolved is None and table.close is None):
        yield (
            "no columns time and resolved: forecasters are compared once, after the last forecast, and no "
            "date is given since when one is better"
        )
    if no_interval:
        yield "not enough events for an interval of skill: with --json, reason says how many more it takes"


def _odds_notes(choice_questions: Sequence[FormQuestion]) -> Iterator[str]:
    """Yield how many multiple choice forecasts have no odds, and whose odds had a margin."""
    margins = odds_margins(choice_questions)
    missing_counts = [int(np.count_nonzero(np.isnan(margin))) for margin in margins]
    if any(missing_counts):
        forecasts = count_text(sum(missing_counts), "forecast")
        questions = count_text(int(np.count_nonzero(missing_counts)), "question")
        yield f"not in skill: {forecasts} on {questions} without a market_probability for each option"
    yield from scaled_notes(margins)


def odds_margins(forms: Sequence[FormQuestion]) -> list[Floats]:
    """Return by how much the odds of each multiple choice question exceeded 1, by forecast."""
    return [form.options.margin for form in forms if form.options is not None]


def scaled_notes(margins: Sequence[Floats]) -> Iterator[str]:
    """Yield how many forecasts have odds with a margin, and how large it was."""
    all_margins = np.concatenate([np.zeros(0), *margins])
    # A smaller margin is the rounding of the file; NaN, without odds, is not scaled.
    is_scaled = np.abs(all_margins) > SLACK
    scaled_margins = all_margins[is_scaled]
    if scaled_margins.size:
        forecasts = count_text(scaled_margins.size, "forecast")
        least = f"{scaled_margins.min():+.1%}"
        most = f"{scaled_margins.max():+.1%}"
        span = least if least == most else f"{least} to {most}, on average {scaled_margins.mean():+.1%}"
        yield f"odds scaled to add up to 1: {forecasts} with a margin of {span}"


def _number_notes(scored: QuestionScores) -> Iterator[str]:
    """Yield how many questions nobody can be compared on, if there are others."""
    numeric_questions = scored.kinds("number")
    asked = int(scored.asked.sum())
    if numeric_questions and numeric_questions < asked:
        count = count_text(numeric_questions, "question")
        yield f"not in skill, nor in who is better than whom: {count} of a number, which have no Brier score"


def _forecast_count_text(table: ForecastTable, rows: Flags) -> str:
    """Return the number of forecasts in some rows, and of their questions, in words."""
    count = int(rows.sum())
    questions_in_rows = np.unique(table.question[rows])
    forecasts = count_text(count, "forecast")
    questions = count_text(questions_in_rows.size, "question")
    return f"{forecasts} on {questions}"
