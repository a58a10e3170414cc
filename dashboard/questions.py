"""Questions that are not of yes or no: what they ask, pictures and tables of what was answered, their ends.

A picture is as large as a cell of a table: bars of options, or a strip of a number's or a date's quantiles,
the middle half of it thicker. Below what happened stands a mark. What it shows stands in words beside it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from math import ceil, log10

from markupsafe import Markup

from arena.record.queries.cohorts import read_hidden_rounds
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.database import Connection
from arena.record.schema.newest import newest_rows
from arena.record.schema.turn import ForecastRow, TurnRow
from arena.record.schema.typed import col, joined, select
from arena.record.schema.world import MarketVersionRow, ResolutionRow
from dashboard.html import NOTHING, HtmlColumn, Rows, columns_of_table, html_table
from dashboard.pictures import REST, SMALL, Scale, dot, small_scale
from dashboard.words import filled, flat
from markets.distributions import (
    Distribution,
    QuestionForm,
    check_distribution_text,
    distribution_of,
    question_kind,
)
from markets.millionths import ONE, decimal_of

CALLED_OFF = "called off"
DECIMALS = re.compile(r"(?<![\w.])-?\d+\.\d{3,}")
"""A number with more digits than anybody reads."""
TIME_OF_DAY = re.compile(r"(?<=\d{4}-\d\d-\d\d)T[\d:.]+(Z|\+00:00)?")
MANY_DAYS = 10 * 24 * 60 * 60
"""Between dates at least this many seconds apart, the time of day is left out."""
MOST_COLUMNS = 5
"""The most options with a column of their own, the likeliest."""
QUARTERS = (250_000, 750_000)
HALF = ONE // 2


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An agent's answer to a question, as the record has it, with its colour and its link."""

    agent: str
    text: str
    look: str = REST
    href: str | None = None


def form_words(form: QuestionForm) -> str:
    """Describe the possible answers to a question.

    >>> form_words(QuestionForm("numeric", low="0", high="9", open_high=True, unit="mm"))
    'A number from 0 to 9 mm or higher'
    >>> form_words(QuestionForm("multiple_choice", ("red", "blue")))
    'One of 2 options'
    """
    if form.options:
        return f"One of {len(form.options)} options"
    unit = f" {form.unit}" if form.unit else ""
    is_date = form.kind == "date"
    above = (" or later" if is_date else " or higher") * form.open_high
    below = (" or earlier" if is_date else " or lower") * form.open_low
    noun = "date" if is_date else "number"
    return flat(f"A {noun} from {form.low}{below} to {form.high}{unit}{above}")


def answer_words(form: QuestionForm, text: str) -> str:
    """Return an answer in a few words, with numbers and dates to a thousandth of the range.

    >>> form = QuestionForm("numeric", low="0", high="10", unit="mm")
    >>> text = Distribution(quantiles=((100_000, "1.123456"), (500_000, "2"), (900_000, "4.5"))).text
    >>> answer_words(form, text)
    '2 mm (80%: 1.12 to 4.5)'
    """
    words = question_kind(form.kind).words(form, distribution_of(text))
    if form.options:
        return flat(words)
    range_size = place_of(form, form.high) - place_of(form, form.low)
    if form.kind == "date":
        return flat(TIME_OF_DAY.sub("", words) if range_size > MANY_DAYS else words)
    decimal_places = max(0, 3 - ceil(log10(range_size)))
    return flat(DECIMALS.sub(lambda number: f"{float(number[0]):.{decimal_places}f}", words))


def is_answer(form: QuestionForm, text: str) -> bool:
    """Tell whether a text is a valid answer to a question, which may have changed since.

    >>> is_answer(QuestionForm("multiple_choice", ("a", "b")), '{"chances":[1000000]}')
    False
    """
    try:
        check_distribution_text(form, text)
    except ValueError:
        return False
    return True


def end_words(form_text: str, answer: str) -> str | None:
    """Say how a question of another kind than yes or no was resolved; None for yes or no."""
    if not form_text:
        return None
    return flat(answer) or CALLED_OFF


def odds_of(form: QuestionForm) -> Distribution | None:
    """Return the market's odds of the options as an answer, if there are any."""
    return Distribution(form.odds) if form.odds else None


def answer_picture(form: QuestionForm, text: str, look: str, answer: str = "") -> Markup:
    """Draw an answer in a cell, with a mark at the result of the question."""
    distribution = distribution_of(text)
    if distribution.chances:
        inside = _option_bars(form, distribution.chances, look, answer)
    else:
        inside = _quantile_strip(form, distribution.quantiles, look, answer)
    size = filled('width="%s" height="%s" viewBox="0 0 %s %s"', *SMALL, *SMALL)
    return filled('<svg class="cell" %s aria-hidden="true">%s</svg>', size, inside)


def _option_bars(form: QuestionForm, chances: Sequence[int], look: str, answer: str) -> Markup:
    """Draw a bar for each option, as high as its chance."""
    bar_distance = (SMALL[0] - 4) / len(chances)
    height_scale = Scale(0, ONE, 0, 19)
    drawn = filled('<path class="base" d="M2 21H%s"/>', SMALL[0] - 2)
    for number, (option, chance) in enumerate(zip(form.options, chances, strict=True)):
        left = round(2 + number * bar_distance, 1)
        bar_height = max(height_scale.at(chance), 0.5)
        bar = '<rect class="%s part" x="%s" y="%s" width="%s" height="%s"/>'
        drawn += filled(
            bar, look, left, round(20.5 - bar_height, 1), round(max(bar_distance * 0.8, 0.5), 1), bar_height
        )
        if option == answer:
            drawn += dot("ink", round(left + bar_distance * 0.4, 1), 23.5, 2)
    return drawn


def _quantile_strip(
    form: QuestionForm, quantiles: Sequence[tuple[int, str]], look: str, answer: str
) -> Markup:
    """Draw a line from the first quantile to the last, thicker between the quarters, with the median."""
    scale = small_scale(place_of(form, form.low), place_of(form, form.high))
    points = [(share, place_of(form, value)) for share, value in quantiles]
    quarter, three_quarters = (_at_share(points, share) for share in QUARTERS)

    # Axis, then the whole range as a thin bar, the middle half as a thick one, the median and the answer.
    drawn = filled('<path class="base" d="M7 21H%s"/>', SMALL[0] - 7)
    drawn += _quantile_bar(scale, points[0][1], points[-1][1], f"{look} span", thick=4)
    drawn += _quantile_bar(scale, quarter, three_quarters, f"{look} span", thick=10)
    drawn += dot(look, scale.at(_at_share(points, HALF)), y=10, radius=3.5)
    if answer:
        drawn += dot("ink", scale.at(place_of(form, answer)), y=23.5, radius=2)
    return drawn


def _quantile_bar(scale: Scale, low: float, high: float, look: str, thick: int) -> Markup:
    """Draw a bar from one value to another."""
    left = scale.at(low)
    wide = round(max(scale.at(high) - left, 1), 1)
    block = '<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="2"/>'
    return filled(block, look, left, 10 - thick / 2, wide, thick)


def place_of(form: QuestionForm, value: str) -> float:
    """Return a number, or a date as seconds, to be drawn.

    >>> place_of(QuestionForm("date"), "1970-01-02"), place_of(QuestionForm("numeric"), "2.5")
    (86400.0, 2.5)
    """
    if form.kind != "date":
        return float(decimal_of(value))
    at = datetime.fromisoformat(value)
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return at.timestamp()


def _at_share(points: Sequence[tuple[int, float]], wanted_share: int) -> float:
    """Return the value at a share, interpolated between the quantiles around it."""
    if wanted_share <= points[0][0]:
        return points[0][1]
    for (share_before, value_before), (share_after, value_after) in pairwise(points):
        if wanted_share <= share_after:
            return value_before + (value_after - value_before) * (wanted_share - share_before) / (
                share_after - share_before
            )
    return points[-1][1]


def answers_table(form: QuestionForm, answers: Sequence[GivenAnswer], answer: str, says: str) -> Markup:
    """Return answers to a question, a row each: a picture, and its chances or quantiles in figures."""
    columns = dict(columns_of_table("answers"))
    rows: Iterable[Mapping[str, object]]
    if form.options:
        shown_options = _options_to_show(form, [distribution_of(row.text).chances for row in answers], answer)
        for place in shown_options:
            option = flat(form.options[place])
            label = f"{option[:40]} %" + " ✓" * (form.options[place] == answer)
            columns[f"option {place}"] = HtmlColumn(label, f"Its chance of “{option}”.", "%.1f")
        rows = _option_rows(form, answers, answer, shown_options)
    else:
        for share in _all_quantile_shares(answers):
            label = f"{share * 100 // ONE}%"
            column_help = f"It gives a chance of {label} that the answer lies below."
            columns[f"below {share}"] = HtmlColumn(label, column_help)
        rows = _quantile_rows(form, answers, answer)
    return html_table(rows, columns, says)


def _first_cells(form: QuestionForm, given: GivenAnswer, answer: str) -> dict[str, object]:
    """Return the first cells of every row."""
    return {
        "agent": given.agent,
        "picture": answer_picture(form, given.text, given.look, answer),
        "href": given.href,
    }


def _options_to_show(form: QuestionForm, chances: Sequence[Sequence[int]], answer: str) -> list[int]:
    """Return the places of the options with the highest chances on average, and of the one that happened."""
    weights = [sum(column) for column in zip(*chances, strict=True)]
    ranked = sorted(range(len(weights)), key=lambda place: (form.options[place] != answer, -weights[place]))
    return sorted(ranked[:MOST_COLUMNS])


def _option_rows(
    form: QuestionForm, given: Sequence[GivenAnswer], answer: str, chosen: Sequence[int]
) -> Rows:
    """Yield the chances that each answer gives to the chosen options."""
    for row in given:
        chances = distribution_of(row.text).chances
        yield _first_cells(form, row, answer) | {
            f"option {place}": chances[place] / 10_000 for place in chosen
        }


def _all_quantile_shares(given: Sequence[GivenAnswer]) -> list[int]:
    """Return the shares of the quantiles that any answer states."""
    shares = set[int]()
    for row in given:
        shares.update(share for share, _ in distribution_of(row.text).quantiles)
    return sorted(shares)


def _quantile_rows(form: QuestionForm, given: Sequence[GivenAnswer], answer: str) -> Rows:
    """Yield the quantiles of each answer."""
    for row in given:
        quantiles = distribution_of(row.text).quantiles
        yield _first_cells(form, row, answer) | {f"below {share}": value for share, value in quantiles}


def asked_box(form: QuestionForm, answer: str) -> Markup:
    """Return the options of a question, with their odds if there are any, and the result."""
    if not form.options:
        return NOTHING
    return html_table(_asked_rows(form, answer), columns_of_table("options"), "Options: one row each")


def _asked_rows(form: QuestionForm, answer: str) -> Iterator[Mapping[str, object]]:
    """Yield the options."""
    for place, option in enumerate(form.options):
        odds = form.odds[place] / 10_000 if form.odds else None
        yield {"option": option, "odds": odds, "happened": "yes" if option == answer else None}


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """An agent's answer in a round to another question than yes or no; `answer` is None while open."""

    agent: str
    cohort: int
    round: int
    at: datetime
    question: str
    form: str
    distribution: str
    answer: str | None


MOST_ANSWERS = 50
"""The most answers of an agent in a list."""


def read_agent_answers(connection: Connection, agent: str) -> tuple[AgentAnswer, ...]:
    """Return an agent's newest answers to such questions, except those that are hidden for now."""
    is_shown = SnapshotItemRow.snapshot_id == RoundRow.snapshot_id
    is_asked = SnapshotItemRow.market_id == ForecastRow.market_id
    query = (
        select(col(CohortRow.number).label("cohort"), col(RoundRow.number).label("round"))
        .add_columns(RoundRow.at, ForecastRow.market_id, ForecastRow.distribution)
        .add_columns(MarketVersionRow.question, MarketVersionRow.form)
        .select_from(joined(ForecastRow, TurnRow, EntrantRow, RoundRow, CohortRow))
        .join(SnapshotItemRow, is_shown & is_asked)
        .join(MarketVersionRow, MarketVersionRow.id == SnapshotItemRow.version_id)
        .where(EntrantRow.name == agent, ForecastRow.stage == "final", ForecastRow.distribution != "")
        .where(col(RoundRow.id).not_in(read_hidden_rounds(connection)))
        .order_by(col(RoundRow.at).desc(), col(CohortRow.number).desc(), ForecastRow.market_id)
        .limit(MOST_ANSWERS)
    )
    rows = connection.execute(query).all()
    ends = newest_rows(connection, ResolutionRow, [row.market_id for row in rows], "version", "answer")
    answers = []
    for row in rows:
        resolution = ends.get(row.market_id)
        result = None if resolution is None else resolution.answer
        turn_and_question = (agent, row.cohort, row.round, row.at, row.question, row.form)
        answers.append(AgentAnswer(*turn_and_question, row.distribution, result))
    return tuple(answers)
