"""The questions of a season other than yes/no, with the answers to them, in the form of a file's."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.record.model.answer_columns import AnswerColumns, SeasonMarket
from arena.record.model.columns import Flags, Floats, Ints
from arena.scores.files.question_forms import (
    BUCKETS,
    OTHER,
    FormQuestion,
    NumberRange,
    OptionForecasts,
    curve_medians,
    option_order,
    parse_value,
    quantile_curves,
)
from arena.scores.rules.metaculus.forecasts import Forecasts, MetaculusQuestion
from arena.scores.rules.metaculus.question_types import OUTSIDE, multiple_choice
from markets.distributions import Distribution, QuestionForm, form_of, question_kind
from markets.millionths import ONE

CURVES_AT_ONCE = 4_096
"""The number of numeric curves held in memory at once."""


@dataclass(frozen=True, slots=True)
class ShownAnswers:
    """Answers, one a row, as indices into the names of markets and the texts of forms, answers and reasons.

    An answer of -1 was left out. `pages` and `lives` are those of the markets.
    """

    markets: tuple[str, ...]
    pages: Mapping[str, SeasonMarket]
    lives: Mapping[str, Floats]
    forms: tuple[str, ...]
    answers: tuple[str, ...]
    reasons: tuple[str, ...]
    agents: NDArray[np.str_]
    time: Floats
    market: Ints
    form: Ints
    answer: Ints
    reason: Ints
    blind: Flags

    @property
    def order(self) -> Ints:
        """Return the rows by the name of their market, then by agent and time."""
        names = sorted(self.markets)
        places = {name: place for place, name in enumerate(names)}
        rank = np.array([places[name] for name in self.markets], dtype=np.int64)
        order: Ints = np.lexsort((self.time, self.agents, rank[self.market]))
        return order


def shown_answers(
    answers: AnswerColumns,
    rows: Ints,
    time: Floats,
    pages: Mapping[str, SeasonMarket],
    lives: Mapping[str, Floats],
) -> ShownAnswers:
    """Return some rows of a season's answers; `time` has all rows."""
    return ShownAnswers(
        markets=answers.markets,
        pages=pages,
        lives=lives,
        forms=answers.forms,
        answers=answers.answers,
        reasons=answers.reasons,
        agents=np.array(answers.agents, dtype=np.str_)[answers.agent[rows]],
        time=time[rows],
        market=answers.market[rows],
        form=answers.form[rows],
        answer=answers.answer[rows],
        reason=answers.reason[rows],
        blind=answers.blind[rows],
    )


@dataclass(frozen=True, slots=True)
class ParsedRows:
    """Answers sorted by question, agent and time, with their parsed content.

    `answer_content` has the chances or quantiles that each index in `answer` stands for; `start` and `end`
    are the times from and until which each answer stood.
    """

    rows: ShownAnswers
    forms: tuple[QuestionForm, ...]
    answer_content: Sequence[Mapping[str, Any]]
    answer: Ints
    start: Floats
    end: Floats
    market: Ints
    form: Ints
    who: NDArray[np.str_]
    reason: Ints


@dataclass(frozen=True, slots=True)
class NumberColumns:
    """What each row gave to the number or date that happened, the same for knowing nothing, and its median.

    NaN for rows of other questions, or without an outcome yet; medians are shares of the range.
    """

    chance: Floats
    ignorance: Floats
    median: Floats


def season_forms(rows: ShownAnswers) -> tuple[FormQuestion, ...]:
    """Return the questions of a season other than yes/no, sorted by name."""
    if not rows.market.size:
        return ()
    parsed = _parsed_rows(rows)
    numbers = _number_columns(parsed)

    starts = np.flatnonzero(np.diff(parsed.market, prepend=-1))
    edges = [*starts.tolist(), parsed.market.size]
    questions = []
    for first_row, end_row in pairwise(edges):
        questions.append(_question(parsed, numbers, slice(first_row, end_row)))
    return tuple(questions)


def _parsed_rows(rows: ShownAnswers) -> ParsedRows:
    """Return sorted rows; a skipped answer agrees with the odds, or else knows nothing."""
    order = rows.order
    forms = tuple(map(form_of, rows.forms))
    answer_texts = list(rows.answers)
    answer = rows.answer[order]
    form = rows.form[order]
    blind = rows.blind[order]

    # A skipped answer counts as the odds of its form; without odds, or if they were not shown, as ignorance.
    skipped_rows = np.flatnonzero(answer < 0)
    skipped = set(zip(form[skipped_rows].tolist(), blind[skipped_rows].tolist(), strict=True))
    for form_number, is_blind in sorted(skipped):
        question_form = forms[form_number]
        imputed = question_kind(question_form.kind).uniform(question_form)
        if question_form.odds and not is_blind:
            imputed = Distribution(question_form.odds)

        answer[(answer < 0) & (form == form_number) & (blind == is_blind)] = len(answer_texts)
        answer_texts.append(imputed.text)

    market = rows.market[order]
    who = rows.agents[order]
    start = rows.time[order]
    # A forecast stands until the next of the same agent on the same question.
    is_followed = (market[1:] == market[:-1]) & (who[1:] == who[:-1])
    end = np.full(start.size, np.inf)
    end[:-1] = np.where(is_followed, start[1:], np.inf)
    return ParsedRows(
        rows=rows,
        forms=forms,
        answer_content=json.loads(f"[{','.join(answer_texts)}]"),
        answer=answer,
        start=start,
        end=end,
        market=market,
        form=form,
        who=who,
        reason=rows.reason[order],
    )


def _question(parsed: ParsedRows, numbers: NumberColumns, part: slice) -> FormQuestion:
    """Return a question with the answers to it."""
    market_number = int(parsed.market[part.start])
    name = parsed.rows.markets[market_number]
    page = parsed.rows.pages[name]
    times = {column: float(values[market_number]) for column, values in parsed.rows.lives.items()}
    who = tuple(parsed.who[part].tolist())
    form = form_of(page.form)
    question = FormQuestion(
        name=name,
        kind="number",
        event=page.event,
        category=page.category,
        ended=bool(page.answer),
        forecasters=frozenset(who),
        who=who,
        lived=MetaculusQuestion(times["open"], times["close"], times["scheduled_close"]),
        form_kind=form.kind,
        called_off=page.known_at is not None and not page.answer,
    )
    if has_options(form):
        return _choice_question(replace(question, kind="choice"), parsed, part, page.answer, times)
    return _number_question(question, parsed, numbers, part)


def has_options(form: QuestionForm) -> bool:
    """Tell whether a question is answered by a chance for each option rather than by quantiles."""
    return question_kind(form.kind).KEY == "options"


def _choice_question(
    question: FormQuestion, parsed: ParsedRows, part: slice, happened: str, lifetime: Mapping[str, float]
) -> FormQuestion:
    """Return a multiple choice question with the answers to it."""
    form = parsed.form[part]
    forms_used = np.unique(form).tolist()
    options = set(chain.from_iterable(parsed.forms[form_number].options for form_number in forms_used))
    names = option_order(options | {happened} - {""})
    has_other = names[-1].lower() == OTHER

    # An option that a form didn't have yet was not asked for; the site reads it from "Other".
    count = form.size
    probabilities = np.full((count, len(names)), np.nan if has_other else 0.0)
    odds = np.full((count, len(names)), np.nan)
    answers = parsed.answer[part]
    for form_number in forms_used:
        rows = np.flatnonzero(form == form_number)
        form_asked = parsed.forms[form_number]
        option_columns = np.array([names.index(option) for option in form_asked.options])
        chances = [parsed.answer_content[index]["chances"] for index in answers[rows].tolist()]
        probabilities[np.ix_(rows, option_columns)] = np.array(chances) / ONE
        if form_asked.odds:
            odds[rows] = 0.0
            odds[np.ix_(rows, option_columns)] = np.array(form_asked.odds) / ONE

    shares = np.nan_to_num(probabilities)
    shares /= shares.sum(axis=1, keepdims=True)
    odds_total = odds.sum(axis=1)
    reasons = parsed.rows.reasons
    question_times = {column: np.full(count, value) for column, value in lifetime.items()}
    outcome = names.index(happened) if happened else None
    question = replace(
        question,
        options=OptionForecasts(
            names=tuple(names),
            shares=shares,
            odds=odds / odds_total[:, None],
            margin=odds_total - 1,
            answer=outcome,
            times={"time": parsed.start[part], **question_times},
            reasons=tuple("" if why < 0 else reasons[why] for why in parsed.reason[part].tolist()),
        ),
    )
    if outcome is None:
        return question

    is_answer = np.arange(len(names)) == outcome
    return replace(
        question,
        brier=((shares - is_answer) ** 2).sum(axis=1) / 2,
        distance=np.full(count, np.nan),
        blank=(1 - 1 / len(names)) / 2,
        forecasts=multiple_choice(
            parsed.who[part], parsed.start[part], probabilities, outcome, parsed.end[part]
        ),
    )


def _number_question(
    question: FormQuestion, parsed: ParsedRows, numbers: NumberColumns, part: slice
) -> FormQuestion:
    """Return a question of a number or a date with the answers to it."""
    if not question.ended:
        return question

    page = parsed.rows.pages[question.name]
    outcome_share = asked_range(form_of(page.form)).place(page.answer)
    outcome_in_range = min(max(outcome_share, 0.0), 1.0)
    chance = numbers.chance[part]
    count = chance.size
    return replace(
        question,
        brier=np.full(count, np.nan),
        distance=np.abs(np.clip(numbers.median[part], 0, 1) - outcome_in_range),
        blank=abs(0.5 - outcome_in_range),
        forecasts=Forecasts(
            forecaster=parsed.who[part],
            start=parsed.start[part],
            end=parsed.end[part],
            chance=chance,
            base=np.ones(count, dtype=np.bool_),
            other=chance,
            listed=np.ones(count, dtype=np.bool_),
            ignorance=numbers.ignorance[part],
            own_points=np.full(count, 50.0),
            points=50.0,
            mean=True,
        ),
    )


@dataclass(frozen=True, slots=True)
class AskedRange(NumberRange):
    """The range of a season's question; an outcome beyond a closed end is moved to that end."""

    def place(self, text: str) -> float:
        """Return the position of a value: 0 at the lower end, 1 at the upper; beyond these at open ends."""
        share = self.share(_parse_value_cached(text))
        if not self.open_low:
            share = max(share, 0.0)
        if not self.open_high:
            share = min(share, 1.0)
        return share


@lru_cache(maxsize=65_536)
def _parse_value_cached(text: str) -> float:
    """Return a number, or a date in seconds; cached, because few values are stated again and again."""
    return parse_value(text)


@lru_cache(maxsize=4_096)
def asked_range(form: QuestionForm) -> AskedRange:
    """Return the range of a number, or of a date in seconds."""
    return AskedRange(parse_value(form.low), parse_value(form.high), form.open_low, form.open_high)


def _number_columns(parsed: ParsedRows) -> NumberColumns:
    """Return the columns of numeric questions that have ended, computed in groups."""
    size = parsed.market.size
    columns = NumberColumns(*(np.full(size, np.nan) for _ in range(3)))
    pages = [parsed.rows.pages[name] for name in parsed.rows.markets]
    is_resolved_number = [bool(page.answer) and not has_options(form_of(page.form)) for page in pages]
    range_of = {
        market: asked_range(form_of(pages[market].form))
        for market in np.flatnonzero(is_resolved_number).tolist()
    }
    outcome_share_of = {
        market: number_range.place(pages[market].answer) for market, number_range in range_of.items()
    }

    # Answers with the same levels to ranges that are open at the same ends share a table.
    groups = defaultdict[tuple[tuple[int, ...], bool, bool], list[tuple[int, list[float]]]](list)
    for row in np.flatnonzero(np.array(is_resolved_number)[parsed.market]).tolist():
        number_range = range_of[int(parsed.market[row])]
        quantiles = parsed.answer_content[parsed.answer[row]]["quantiles"]
        levels = tuple(level for level, _ in quantiles)
        values = [_parse_value_cached(text) for _, text in quantiles]
        groups[levels, number_range.open_low, number_range.open_high].append((row, values))

    for (levels, open_low, open_high), group_rows in groups.items():
        for start in range(0, len(group_rows), CURVES_AT_ONCE):
            batch = group_rows[start : start + CURVES_AT_ONCE]
            rows = np.array([row for row, _ in batch])
            markets = parsed.market[rows].tolist()
            low = np.array([[range_of[market].low] for market in markets])
            high = np.array([[range_of[market].high] for market in markets])
            shares = (np.array([values for _, values in batch]) - low) / (high - low)
            if not open_low:
                shares = np.maximum(shares, 0.0)
            if not open_high:
                shares = np.minimum(shares, 1.0)

            curves = quantile_curves([level / ONE for level in levels], shares, open_low, open_high)
            buckets = [range_of[market].bucket(outcome_share_of[market], BUCKETS) for market in markets]
            _put_numbers(columns, rows, curves, np.array(buckets), open_low + open_high)
    return columns


def _put_numbers(
    columns: NumberColumns, rows: Ints, curves: Floats, outcome_bucket: Ints, open_ends: int
) -> None:
    """Put in what the cdfs of these rows gave to the buckets that happened."""
    shares_up_to = np.column_stack([np.zeros(rows.size), curves, np.ones(rows.size)])
    row = np.arange(rows.size)

    # Bucket 0 is what lies below the range, and the last one what lies above it.
    bucket_share = shares_up_to[row, outcome_bucket + 1] - shares_up_to[row, outcome_bucket]
    is_beyond = (outcome_bucket == 0) | (outcome_bucket == BUCKETS + 1)

    # Within the range the density counts, where the range is 1 wide; beyond it the whole share.
    columns.chance[rows] = np.where(is_beyond, bucket_share, bucket_share * BUCKETS)
    columns.ignorance[rows] = np.where(is_beyond, OUTSIDE, 1 - OUTSIDE * open_ends)
    columns.median[rows] = curve_medians(curves)
