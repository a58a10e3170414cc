"""Questions that are made from series: their templates, their texts, and how they are decided.

    rise        has increased           rise-0.1    by 0.1 or more      rise-10pct   by 10% or more
    fall        has decreased           fall-0.1    by 0.1 or more      fall-10pct   by 10% or more
    above-4     is above 4              below-4     is below 4

A question's id has all that decides it but the values to come: `series:NAME:TEMPLATE:ASKED:DATE:VALUE@DUE`,
of the day on which it is asked, and of the last value known when that day began. So whoever has the id and
the series as it is known by then can tell how it ended.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from markets.millionths import ONE
from markets.model import SILENCE, Market, MarketId, Resolution
from markets.observations import (
    KnownValues,
    Series,
    known_values,
    number_text,
    start_of,
)

PREFIX = "series:"
HISTORY_HEAD = "Latest values"
"""The head of the last part of a question's rules: its lines are dates and values, oldest first."""
_TEMPLATE = re.compile(
    r"(?P<way>rise|fall)(-(?P<change>[0-9]{1,12}(\.[0-9]{1,9})?)(?P<percent>pct)?)?"
    r"|(?P<side>above|below)-(?P<level>-?[0-9]{1,15}(\.[0-9]{1,9})?)"
)
_HISTORY_LINE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}): (-?[0-9.]+)")
_UNREADABLE_NUMBER = (ValueError, ArithmeticError)


@dataclass(frozen=True, slots=True)
class Template:
    """What is asked of a value: that it is beyond a threshold, upward or downward.

    The threshold is `amount` itself if it is `fixed`, else the base value with the `amount` added or taken
    away, of `percent` as a share of the base. A change of 0 is any change; another may be met exactly.
    """

    upward: bool
    amount: Decimal
    fixed: bool = False
    percent: bool = False

    def threshold(self, base: Decimal) -> Decimal:
        """Return what the value is compared with."""
        if self.fixed:
            return self.amount

        change = self.amount
        if self.percent:
            change = base * change / 100
        if self.upward:
            return base + change
        return base - change

    @property
    def may_equal(self) -> bool:
        """Tell whether the threshold itself is enough."""
        return not self.fixed and self.amount > 0

    def is_met(self, value: Decimal | Fraction, threshold: Decimal | Fraction) -> bool:
        """Tell whether a value meets the template."""
        if value == threshold:
            return self.may_equal
        return (value > threshold) is self.upward

    @property
    def words(self) -> str:
        """Return what is asked, as it stands in the question behind the name of the series."""
        amount = number_text(self.amount)
        if self.fixed:
            return f"be {'above' if self.upward else 'below'} {amount}"

        words = f"have {'increased' if self.upward else 'decreased'}"
        if self.amount:
            words += f" by {amount}{'%' if self.percent else ''} or more"
        return words


def template_of(name: str) -> Template:
    """Return the template of a name. Raise `ValueError` if there is none."""
    match = _TEMPLATE.fullmatch(name)
    if match is None:
        raise ValueError(f"{name[:40]!r} is no template; take rise, fall-0.1, rise-10pct, above-4 or below-4")

    if match["side"]:
        return Template(match["side"] == "above", Decimal(match["level"]), fixed=True)
    return Template(match["way"] == "rise", Decimal(match["change"] or 0), percent=bool(match["percent"]))


@dataclass(frozen=True, slots=True)
class SeriesQuestion:
    """A question about a series: `asked` on a day, about its value on the day `due`.

    `base` is the last value that was known when the day began, and `base_date` the date of that.
    """

    series: str
    template: str
    asked: date
    base_date: date
    base: Decimal
    due: date

    @property
    def id(self) -> MarketId:
        """Return the id, which says all of it."""
        base = number_text(self.base)
        what = f"{PREFIX}{self.series}:{self.template}:{self.asked}:{self.base_date}:{base}"
        return MarketId(f"{what}@{self.due}")

    @property
    def threshold(self) -> Decimal:
        """Return what the value is compared with."""
        return template_of(self.template).threshold(self.base)

    def is_met(self, value: Decimal) -> bool:
        """Tell whether a value on the day means YES."""
        return template_of(self.template).is_met(value, self.threshold)


def question_of(market: MarketId) -> SeriesQuestion | None:
    """Return the question behind an id, or None if the id isn't of a series."""
    question_part, _, due_date = market.rpartition("@")
    parts = question_part.removeprefix(PREFIX).split(":")
    if not market.startswith(PREFIX) or len(parts) != 5:
        return None

    series, template, asked_date, base_date, base_value = parts
    try:
        template_of(template)
        question = SeriesQuestion(
            series,
            template,
            date.fromisoformat(asked_date),
            date.fromisoformat(base_date),
            Decimal(base_value),
            date.fromisoformat(due_date),
        )
    except _UNREADABLE_NUMBER:
        return None
    if question.id != market:
        return None
    return question


# ── asking ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class AskingRule:
    """Which questions are made, and how: templates, horizons in days, and the texts' lengths.

    A question without a value by `wait` days after its date is called off. `shown` is how many of the latest
    values a question shows.
    """

    asks: Sequence[str]
    horizons: Sequence[int]
    wait: int
    shown: int


def questions_on(series: Series, day: date, rule: AskingRule) -> Iterator[SeriesQuestion | str]:
    """Yield the questions that are asked of a series on a day, or why one is not.

    They are made from what was known when the day began.
    """
    known = known_values(series, start_of(day))
    if not known.dates:
        yield "no value yet"
        return
    if _is_silent(known, day, rule.wait):
        yield "no new values"
        return

    base_date = known.dates[-1]
    base = known.values[-1]
    for name in series.page.asks or rule.asks:
        if template_of(name).percent and base <= 0:
            yield "no percentage of a value that is not above 0"
            continue

        for days in rule.horizons:
            due = day + timedelta(days=days)
            if _is_settled_by(known, due):
                yield "no new value by then"
            else:
                yield SeriesQuestion(series.name, name, day, base_date, base, due)


def _is_silent(known: KnownValues, day: date, wait: int) -> bool:
    """Tell whether a series has had no new value for longer than it ever takes lately, and than the wait."""
    longest = max(known.gaps, default=0)
    return (day - known.dates[-1]).days > wait + 2 * longest


def _is_settled_by(known: KnownValues, due: date) -> bool:
    """Tell whether the value on a day is known: it is that of the day, or none can lie between.

    The smallest of the latest gaps tells when the next value can come: that of a month is its only one.
    """
    index = known.place_on(due)
    if index is None:
        return False
    if known.dates[-1] >= due:
        return True

    gaps = known.gaps
    return bool(gaps) and known.dates[-1] + timedelta(days=min(gaps)) > due


def market_of(question: SeriesQuestion, series: Series, rule: AskingRule) -> Market:
    """Return the market that asks a question. Its page has nothing that was not known when its day began."""
    page = series.page
    title = page.title or series.name
    known = known_values(series, start_of(question.asked))

    return Market(
        id=question.id,
        event_id=f"{PREFIX}{question.series}",
        question=question_text(question, title),
        rules=rules_text(question, series, known, rule),
        category=page.category or "series",
        opens_at=start_of(question.asked),
        closes_at=start_of(question.due),
    )


def question_text(question: SeriesQuestion, title: str) -> str:
    """Return what is asked, in the manner of the benchmark's questions on data."""
    template = template_of(question.template)
    if template.fixed:
        return f"Will {title} {template.words} on {question.due}?"

    base = f"its value on {question.base_date}, {number_text(question.base)}"
    return f"Will {title} {template.words} by {question.due} compared with {base}?"


def rules_text(question: SeriesQuestion, series: Series, known: KnownValues, rule: AskingRule) -> str:
    """Return how a question is decided, what the series is, and its latest values."""
    template = template_of(question.template)
    threshold_words = "above" if template.upward else "below"
    if template.may_equal:
        threshold_words = "at least" if template.upward else "at most"

    called_off = question.due + timedelta(days=rule.wait)
    threshold = number_text(question.threshold)
    decision_rule = (
        f"YES if the value on {question.due} is {threshold_words} {threshold} as first published. "
        "If that day has no value, the last one before it counts. A revision that turns the outcome is a "
        f"correction; later revisions of the value on {question.base_date} change nothing. If the series has "
        f"ended, was renamed, or says nothing of that day by {called_off}, the question is called off."
    )

    lines = [f"How it is decided: {decision_rule}"]
    if series.page.unit:
        lines.append(f"Unit: {series.page.unit}")
    if series.page.about:
        lines.append(f"Background: {series.page.about}")
    return "\n\n".join([*lines, history_text(known, question.asked, rule.shown)])


def history_text(known: KnownValues, day: date, shown: int) -> str:
    """Return the latest values by the beginning of a day, a line each, under a head of their own."""
    lines = [f"{HISTORY_HEAD} (published before {day}):"]
    for value_date, value in zip(known.dates[-shown:], known.values[-shown:], strict=True):
        lines.append(f"{value_date}: {number_text(value)}")
    return "\n".join(lines)


def read_history(rules: str) -> KnownValues:
    """Return the latest values listed at the end of a question's rules, if there are any."""
    dates: list[date] = []
    values: list[Decimal] = []
    _, head, text = rules.rpartition(f"\n\n{HISTORY_HEAD} (")

    if not head:
        return KnownValues((), ())

    for line in text.splitlines()[1:]:
        match = _HISTORY_LINE.fullmatch(line)
        if match is None:
            continue

        try:
            day = date.fromisoformat(match[1])
            value = Decimal(match[2])
        except _UNREADABLE_NUMBER:
            continue

        dates.append(day)
        values.append(value)

    return KnownValues(tuple(dates), tuple(values))


# ── deciding ─────────────────────────────────────────────────────────────────────────────────────────────


def resolutions_of(
    question: SeriesQuestion, series: Series | None, wait: int, at: datetime
) -> list[Resolution]:
    """Return all versions known by an instant of how a question ended; None stands for a series that is gone.

    The first is what was first published, and each revision that turns the outcome is the next. Where a
    series doesn't tell when its values were published, there is one: how it stands at the instant.
    """
    called_off_at = start_of(question.due + timedelta(days=wait))
    if series is None or series.has_vintages:
        decision_instants = {called_off_at, *_deciding_instants(question, series)}
    else:
        decision_instants = {max(at, start_of(question.due))}

    versions: list[Resolution] = []
    for instant in sorted(decision_instants):
        if instant > at:
            break

        outcome = _known_outcome(question, series, instant)
        if outcome is not None:
            payout = ONE if outcome[0] else 0
            source = outcome[1]
        elif instant >= called_off_at and not versions:
            payout = None
            source = f"{SILENCE}the series has no value for {question.due}"
        else:
            continue
        if not versions or versions[-1].payout != payout:
            versions.append(Resolution(question.id, len(versions) + 1, instant, payout, source))
    return versions


def _deciding_instants(question: SeriesQuestion, series: Series | None) -> Iterator[datetime]:
    """Yield the instants from the day on at which something was published that may decide a question."""
    due_at = start_of(question.due)
    yield due_at

    if series is None:
        return

    is_later_value_published = False
    for observation in series.observations:
        if observation.published <= due_at:
            continue
        if observation.date <= question.due:
            yield observation.published
        elif not is_later_value_published:
            # What comes after the first value of a later day changes nothing any more.
            yield observation.published
            is_later_value_published = observation.value is not None


def _known_outcome(question: SeriesQuestion, series: Series | None, at: datetime) -> tuple[bool, str] | None:
    """Return whether a question has come to YES by what is known at an instant, and by which value."""
    if series is None:
        return None

    known = known_values(series, at)
    index = known.place_on(question.due)
    if index is None or not _is_settled_by(known, question.due):
        return None

    value = known.values[index]
    return question.is_met(value), f"{number_text(value)} on {known.dates[index]}"
