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
class SaidRows:
    """Answers sorted by question, agent and time, with their parsed content.

    `said` has the chances or quantiles that each index in `answer` stands for; `start` and `end` are the
    times from and until which each answer stood.
    """

    rows: ShownAnswers
    forms: tuple[QuestionForm, ...]
    said: Sequence[Mapping[str, Any]]
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
    own = _said_rows(rows)
    numbers = _number_columns(own)

    starts = np.flatnonzero(np.diff(own.market, prepend=-1))
    edges = [*starts.tolist(), own.market.size]
    questions = []
    for first, last in pairwise(edges):
        questions.append(_question(own, numbers, slice(first, last)))
    return tuple(questions)


def _said_rows(rows: ShownAnswers) -> SaidRows:
    """Return sorted rows; a skipped answer agrees with the odds, or else knows nothing."""
    order = rows.order
    forms = tuple(map(form_of, rows.forms))
    texts = list(rows.answers)
    answer = rows.answer[order]
    form = rows.form[order]
    blind = rows.blind[order]

    silent = np.flatnonzero(answer < 0)
    for row_form, is_blind in sorted(set(zip(form[silent].tolist(), blind[silent].tolist(), strict=True))):
        imputed = question_kind(forms[row_form].kind).uniform(forms[row_form])
        if forms[row_form].odds and not is_blind:
            imputed = Distribution(forms[row_form].odds)
        answer[(answer < 0) & (form == row_form) & (blind == is_blind)] = len(texts)
        texts.append(imputed.text)

    market = rows.market[order]
    who = rows.agents[order]
    start = rows.time[order]
    is_followed = (market[1:] == market[:-1]) & (who[1:] == who[:-1])
    end = np.full(start.size, np.inf)
    end[:-1] = np.where(is_followed, start[1:], np.inf)
    return SaidRows(
        rows=rows,
        forms=forms,
        said=json.loads(f"[{','.join(texts)}]"),
        answer=answer,
        start=start,
        end=end,
        market=market,
        form=form,
        who=who,
        reason=rows.reason[order],
    )


def _question(own: SaidRows, numbers: NumberColumns, part: slice) -> FormQuestion:
    """Return a question with the answers to it."""
    place = int(own.market[part.start])
    name = own.rows.markets[place]
    page = own.rows.pages[name]
    times = {column: float(values[place]) for column, values in own.rows.lives.items()}
    who = tuple(own.who[part].tolist())
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
        return _choice(replace(question, kind="choice"), own, part, page.answer, times)
    return _number(question, own, numbers, part)


def has_options(form: QuestionForm) -> bool:
    """Tell whether a question is answered by a chance for each option rather than by quantiles."""
    return question_kind(form.kind).KEY == "options"


def _choice(
    question: FormQuestion, own: SaidRows, part: slice, happened: str, times: Mapping[str, float]
) -> FormQuestion:
    """Return a multiple choice question with the answers to it."""
    form = own.form[part]
    used = np.unique(form).tolist()
    options = set(chain.from_iterable(own.forms[place].options for place in used))
    names = option_order(options | {happened} - {""})
    has_other = names[-1].lower() == OTHER

    # An option that a form didn't have yet was not asked for; the site reads it from "Other".
    count = form.size
    given = np.full((count, len(names)), np.nan if has_other else 0.0)
    odds = np.full((count, len(names)), np.nan)
    answer = own.answer[part]
    for place in used:
        rows = np.flatnonzero(form == place)
        columns = np.array([names.index(option) for option in own.forms[place].options])
        chances = [own.said[index]["chances"] for index in answer[rows].tolist()]
        given[np.ix_(rows, columns)] = np.array(chances) / ONE
        if own.forms[place].odds:
            odds[rows] = 0.0
            odds[np.ix_(rows, columns)] = np.array(own.forms[place].odds) / ONE

    shares = np.nan_to_num(given)
    shares /= shares.sum(axis=1, keepdims=True)
    total = odds.sum(axis=1)
    reasons = own.rows.reasons
    columns_of_time = {column: np.full(count, value) for column, value in times.items()}
    ended = names.index(happened) if happened else None
    question = replace(
        question,
        options=OptionForecasts(
            names=tuple(names),
            shares=shares,
            odds=odds / total[:, None],
            margin=total - 1,
            answer=ended,
            times={"time": own.start[part], **columns_of_time},
            reasons=tuple("" if why < 0 else reasons[why] for why in own.reason[part].tolist()),
        ),
    )
    if ended is None:
        return question

    is_answer = np.arange(len(names)) == ended
    return replace(
        question,
        brier=((shares - is_answer) ** 2).sum(axis=1) / 2,
        distance=np.full(count, np.nan),
        blank=(1 - 1 / len(names)) / 2,
        forecasts=multiple_choice(own.who[part], own.start[part], given, ended, own.end[part]),
    )


def _number(question: FormQuestion, own: SaidRows, numbers: NumberColumns, part: slice) -> FormQuestion:
    """Return a question of a number or a date with the answers to it."""
    if not question.ended:
        return question

    page = own.rows.pages[question.name]
    truth = asked_range(form_of(page.form)).place(page.answer)
    in_range = min(max(truth, 0.0), 1.0)
    chance = numbers.chance[part]
    count = chance.size
    return replace(
        question,
        brier=np.full(count, np.nan),
        distance=np.abs(np.clip(numbers.median[part], 0, 1) - in_range),
        blank=abs(0.5 - in_range),
        forecasts=Forecasts(
            forecaster=own.who[part],
            start=own.start[part],
            end=own.end[part],
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
        share = self.share(_value(text))
        if not self.open_low:
            share = max(share, 0.0)
        if not self.open_high:
            share = min(share, 1.0)
        return share


@lru_cache(maxsize=65_536)
def _value(text: str) -> float:
    """Return a number, or a date in seconds; cached, because few values are stated again and again."""
    return parse_value(text)


@lru_cache(maxsize=4_096)
def asked_range(form: QuestionForm) -> AskedRange:
    """Return the range of a number, or of a date in seconds."""
    return AskedRange(parse_value(form.low), parse_value(form.high), form.open_low, form.open_high)


def _number_columns(own: SaidRows) -> NumberColumns:
    """Return the columns of numeric questions that have ended, computed in groups."""
    size = own.market.size
    columns = NumberColumns(*(np.full(size, np.nan) for _ in range(3)))
    pages = [own.rows.pages[name] for name in own.rows.markets]
    is_number = [bool(page.answer) and not has_options(form_of(page.form)) for page in pages]
    ranges = {place: asked_range(form_of(pages[place].form)) for place in np.flatnonzero(is_number).tolist()}
    truths = {place: asked.place(pages[place].answer) for place, asked in ranges.items()}

    # Answers with the same levels to ranges that are open at the same ends share a table.
    groups = defaultdict[tuple[tuple[int, ...], bool, bool], list[tuple[int, list[float]]]](list)
    for row in np.flatnonzero(np.array(is_number)[own.market]).tolist():
        asked = ranges[int(own.market[row])]
        quantiles = own.said[own.answer[row]]["quantiles"]
        levels = tuple(share for share, _ in quantiles)
        values = [_value(text) for _, text in quantiles]
        groups[levels, asked.open_low, asked.open_high].append((row, values))

    for (levels, open_low, open_high), found in groups.items():
        for start in range(0, len(found), CURVES_AT_ONCE):
            some = found[start : start + CURVES_AT_ONCE]
            rows = np.array([row for row, _ in some])
            markets = own.market[rows].tolist()
            low = np.array([[ranges[place].low] for place in markets])
            high = np.array([[ranges[place].high] for place in markets])
            shares = (np.array([values for _, values in some]) - low) / (high - low)
            if not open_low:
                shares = np.maximum(shares, 0.0)
            if not open_high:
                shares = np.minimum(shares, 1.0)
            buckets = [ranges[place].bucket(truths[place], BUCKETS) for place in markets]
            _put_curves(columns, rows, shares, (levels, open_low, open_high), np.array(buckets))
    return columns


def _put_curves(
    columns: NumberColumns,
    rows: Ints,
    values: Floats,
    shape: tuple[tuple[int, ...], bool, bool],
    bucket: Ints,
) -> None:
    """Put in what answers by the same percents gave to the buckets that happened."""
    levels, open_low, open_high = shape
    curves = quantile_curves([share / ONE for share in levels], values, open_low, open_high)

    edges = np.column_stack([np.zeros(rows.size), curves, np.ones(rows.size)])
    row = np.arange(rows.size)
    mass = edges[row, bucket + 1] - edges[row, bucket]
    is_beyond = (bucket == 0) | (bucket == BUCKETS + 1)
    columns.chance[rows] = np.where(is_beyond, mass, mass * BUCKETS)
    columns.ignorance[rows] = np.where(is_beyond, OUTSIDE, 1 - OUTSIDE * (open_low + open_high))
    columns.median[rows] = curve_medians(curves)
