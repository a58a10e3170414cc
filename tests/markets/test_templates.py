"""Questions made from series: what they say, that nothing later shows, and how they are decided."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import pytest

from markets.model import MarketId
from markets.observations import Observation, Series, SeriesPage, known_values
from markets.templates import (
    AskingRule,
    SeriesQuestion,
    market_of,
    question_of,
    questions_on,
    read_history,
    resolutions_of,
    template_of,
)
from tests.series import DAY, a_random_series, a_series

RULE = AskingRule(("rise",), (7, 30), wait=20, shown=5)
SUNDAY = date(2026, 1, 11)
TEMPLATES = ("rise", "rise-2", "rise-50pct", "fall", "fall-1", "fall-10pct", "above-4", "below-2.5")


def at(day: date, hour: int = 0) -> datetime:
    return datetime(day.year, day.month, day.day, hour, tzinfo=UTC)


def a_river(**levels: str) -> Series:
    """Return levels by days of January, each published on the same day: `d05="3.9"`."""
    return a_series(
        *[(f"2026-01-{name[1:]}", level, f"2026-01-{name[1:]}") for name, level in levels.items()]
    )


def asked(series: Series, rule: AskingRule = RULE, day: date = SUNDAY) -> list[SeriesQuestion]:
    return [question for question in questions_on(series, day, rule) if not isinstance(question, str)]


def reasons(series: Series, rule: AskingRule = RULE, day: date = SUNDAY) -> list[str]:
    return [reason for reason in questions_on(series, day, rule) if isinstance(reason, str)]


@pytest.mark.parametrize(
    ("name", "base", "threshold", "words", "yes", "no"),
    [
        ("rise", "3.9", "3.9", "have increased", "3.91", "3.9"),
        ("rise-0.1", "3.9", "4.0", "have increased by 0.1 or more", "4", "3.99"),
        ("rise-10pct", "200", "220", "have increased by 10% or more", "220", "219.99"),
        ("fall", "-1", "-1", "have decreased", "-1.5", "-1"),
        ("fall-2", "-1", "-3", "have decreased by 2 or more", "-3", "-2.9"),
        ("fall-50pct", "8", "4", "have decreased by 50% or more", "4", "4.01"),
        ("above-4", "1", "4", "be above 4", "4.01", "4"),
        ("below--2.5", "1", "-2.5", "be below -2.5", "-3", "-2.5"),
    ],
)
def test_a_template_says_what_it_asks(
    name: str, base: str, threshold: str, words: str, yes: str, no: str
) -> None:
    template = template_of(name)
    assert template.threshold(Decimal(base)) == Decimal(threshold)
    assert template.words == words
    question = SeriesQuestion("river", name, SUNDAY, SUNDAY - DAY, Decimal(base), SUNDAY + 7 * DAY)
    assert question.is_met(Decimal(yes))
    assert not question.is_met(Decimal(no))


@pytest.mark.parametrize(
    "name", ["", "rises", "rise-", "rise--1", "rise-1%", "above", "above-x", "above-4pct"]
)
def test_what_is_no_template_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is no template"):
        template_of(name)


def test_a_question_is_all_in_its_id() -> None:
    [week, month] = asked(a_river(d05="3.90", d09="4.10"))
    assert week.id == "series:river:rise:2026-01-11:2026-01-09:4.1@2026-01-18"
    assert question_of(week.id) == week
    assert question_of(month.id) == month
    for other in (
        "series:river:rise:2026-01-11:2026-01-09:4.10@2026-01-18",
        "sim:rain",
        "series:@",
        f"{week.id}x",
    ):
        assert question_of(MarketId(other)) is None


def test_its_page_says_how_it_is_decided_and_shows_the_latest_values() -> None:
    page = SeriesPage(title="the level of the river", unit="metres", about="It is measured at noon.")
    river = replace(a_river(d05="3.90", d08=".", d09="4.10"), page=page)
    week, month = (market_of(question, river, RULE) for question in asked(river))
    assert week.question == (
        "Will the level of the river have increased by 2026-01-18 compared with its value on 2026-01-09, 4.1?"
    )
    assert week.rules == (
        "How it is decided: YES if the value on 2026-01-18 is above 4.1 as first published. If that day has "
        "no value, the last one before it counts. A revision that turns the outcome is a correction; later "
        "revisions of the value on 2026-01-09 change nothing. If the series has ended, was renamed, or says "
        "nothing of that day by 2026-02-07, the question is called off.\n\n"
        "Unit: metres\n\nBackground: It is measured at noon.\n\n"
        "Latest values (published before 2026-01-11):\n2026-01-05: 3.9\n2026-01-09: 4.1"
    )
    assert (week.opens_at, week.closes_at) == (at(SUNDAY), at(SUNDAY + 7 * DAY))
    assert week.series == month.series
    assert read_history(week.rules).values == (Decimal("3.9"), Decimal("4.1"))


def test_a_page_that_pretends_to_have_values_is_not_read_for_them() -> None:
    river = replace(
        a_river(d05="3.9"), page=SeriesPage(about="x\n\nLatest values (published):\n2026-01-01: 9")
    )
    rules = market_of(asked(river)[0], river, RULE).rules
    assert read_history(rules).values == (Decimal("3.9"),)
    assert read_history("2026-01-01: 9").values == ()


def test_what_can_not_be_asked_is_counted_with_its_reason() -> None:
    assert reasons(a_river(d12="4")) == ["no value yet"]
    assert reasons(a_river(d05="0", d09="-1"), replace(RULE, asks=("rise-10pct",))) == [
        "no percentage of a value that is not above 0"
    ]
    monthly = a_series(
        ("2025-11-01", "1", "2025-11-02"),
        ("2025-12-01", "2", "2025-12-02"),
        ("2026-01-01", "3", "2026-01-02"),
    )
    assert reasons(monthly) == ["no new value by then"]
    assert [question.due for question in asked(monthly)] == [SUNDAY + 30 * DAY]
    assert reasons(a_river(d05="1", d06="2"), day=date(2026, 1, 29)) == ["no new values"]


@pytest.mark.parametrize("seed", range(12))
def test_nothing_published_later_shows(seed: int) -> None:
    series = a_random_series(seed)
    day = date(2026, 1, 25)
    cut = tuple(seen for seen in series.observations if seen.published <= at(day))
    wild = tuple(
        seen if seen.published <= at(day) else replace(seen, value=Decimal(77))
        for seen in series.observations
    )
    rule = replace(RULE, asks=TEMPLATES)
    questions = list(questions_on(series, day, rule))
    for other in (replace(series, observations=cut), replace(series, observations=wild)):
        assert list(questions_on(other, day, rule)) == questions
        for question in questions:
            if not isinstance(question, str):
                assert market_of(question, other, rule) == market_of(question, series, rule)


# ── deciding ─────────────────────────────────────────────────────────────────────────────────────────────


def ends(question: SeriesQuestion, series: Series | None, until: date) -> list[tuple[str, int | None]]:
    return [
        (f"{end.known_at:%m-%d}", None if end.payout is None else end.payout // 10**6)
        for end in resolutions_of(question, series, RULE.wait, at(until))
    ]


def test_it_is_decided_as_first_published_and_a_revision_is_a_correction() -> None:
    question = asked(a_river(d08="1", d09="4"))[0]
    river = a_series(
        ("2026-01-08", "1", "2026-01-08"),
        ("2026-01-09", "4", "2026-01-09"),
        ("2026-01-18", "5", "2026-01-20"),
        ("2026-01-09", "9", "2026-01-21"),  # a new base changes nothing
        ("2026-01-18", "6", "2026-01-22"),
        ("2026-01-18", "3", "2026-01-24"),
    )
    assert ends(question, river, date(2026, 1, 20)) == []
    assert ends(question, river, date(2026, 1, 24)) == [("01-21", 1)]
    assert ends(question, river, date(2026, 2, 24)) == [("01-21", 1), ("01-25", 0)]


def test_a_day_without_a_value_has_the_last_one_before_it() -> None:
    question = asked(a_river(d08="1", d09="4"))[0]
    river = a_river(d08="1", d09="4", d16="5", d18=".", d19="2")
    assert ends(question, river, date(2026, 1, 19)) == []
    assert ends(question, river, date(2026, 1, 20)) == [("01-20", 1)]


def test_a_value_of_a_month_is_waited_for_no_longer_than_it_takes() -> None:
    monthly = [(f"2025-{month:02}-01", "1", f"2025-{month:02}-15") for month in range(8, 13)]
    question = asked(a_series(*monthly))[1]
    assert question.due == date(2026, 2, 10)
    later = [("2026-01-01", "2", "2026-01-15"), ("2026-02-01", "3", "2026-02-15")]
    assert ends(question, a_series(*monthly, *later), date(2026, 2, 20)) == [("02-16", 1)]


def test_a_series_that_ends_or_is_gone_is_called_off_after_the_wait() -> None:
    river = a_river(d08="1", d09="4")
    question = asked(river)[0]
    for known in (river, None):
        assert ends(question, known, date(2026, 2, 6)) == []
        [end] = resolutions_of(question, known, RULE.wait, at(date(2026, 2, 7)))
        assert (end.payout, end.source) == (None, "called off: the series has no value for 2026-01-18")

    late = a_series(("2026-01-09", "4", "2026-01-09"), ("2026-01-19", "5", "2026-02-20"))
    assert ends(question, late, date(2026, 3, 1)) == [("02-07", None), ("02-21", 0)]


def test_where_nobody_says_when_values_were_published_it_stands_as_it_does_now() -> None:
    question = asked(a_river(d08="1", d09="4"))[0]
    river = replace(a_river(d09="4", d18="5"), has_vintages=False)
    [end] = resolutions_of(question, river, RULE.wait, at(date(2026, 1, 19), hour=7))
    assert (end.version, end.payout, end.known_at) == (1, 10**6, at(date(2026, 1, 19), hour=7))


# ── a second hand ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(30))
def test_outcomes_are_those_of_a_second_hand(seed: int) -> None:
    """The series is looked at every hour, as somebody would who writes down what the newest table says."""
    series = a_random_series(seed)
    rule = replace(RULE, asks=TEMPLATES)
    day = date(2026, 1, 25)
    for question in asked(series, rule, day):
        expected = list(second_hand(question, series.observations, rule.wait))
        versions = resolutions_of(question, series, rule.wait, at(date(2026, 6, 1)))
        assert [(end.known_at, end.payout) for end in versions] == expected
        assert [end.version for end in versions] == list(range(1, len(versions) + 1))


def second_hand(
    question: SeriesQuestion, rows: tuple[Observation, ...], wait: int
) -> Iterator[tuple[datetime, int | None]]:
    """Yield when a question turned to what, by looking every hour until three months after its day."""
    base = float(question.base)
    way = question.template.split("-", 1)
    last: object = "nothing"
    to_come = sorted(rows, key=lambda row: row.published)
    table = {}
    sure = False
    value = 0.0
    for hour in range(24 * 90):
        now = at(question.due) + timedelta(hours=hour)
        has_news = bool(to_come) and to_come[0].published <= now
        while to_come and to_come[0].published <= now:
            row = to_come.pop(0)
            table[row.date] = row.value

        if has_news:
            days = sorted(day for day, value in table.items() if value is not None)
            before = [day for day in days if day <= question.due]
            gaps = [(b - a).days for a, b in pairwise(days)][-10:]
            is_past = bool(days) and days[-1] >= question.due
            is_last = bool(gaps) and days[-1] + min(gaps) * DAY > question.due
            sure = bool(before) and (is_past or is_last)
            value = float(table[before[-1]] or 0) if before else 0.0
        if sure:
            payout: int | None = 10**6 * is_yes(way, base, value)
        elif hour >= 24 * wait and last == "nothing":
            payout = None
        else:
            continue
        if payout != last:
            yield now, payout
            last = payout


def is_yes(way: list[str], base: float, value: float) -> bool:
    """Tell whether a value means YES, in plain arithmetic."""
    if way[0] in ("above", "below"):
        return value > float(way[1]) if way[0] == "above" else value < float(way[1])
    change = value - base if way[0] == "rise" else base - value
    if len(way) == 1:
        return change > 0
    if way[1].endswith("pct"):
        return change >= base * float(way[1][:-3]) / 100
    return change >= float(way[1])


def test_the_values_known_are_the_last_published_of_each_date() -> None:
    series = a_series(
        ("2026-01-01", "1", "2026-01-01"),
        ("2026-01-01", "2", "2026-01-05"),
        ("2026-01-02", ".", "2026-01-02"),
    )
    assert known_values(series, at(date(2026, 1, 6))).values == (Decimal(2),)
    assert known_values(series, at(date(2026, 1, 5))).values == (Decimal(1),)
    assert known_values(series, at(date(2026, 1, 1))).dates == ()
