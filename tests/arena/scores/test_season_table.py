"""A season as a table: the same as if its rows had been written into a file of forecasts by hand."""

import csv
import json
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from arena.scores.all_kinds import read_all_kinds
from arena.scores.files.forecasts import ForecastTable, read_forecasts
from arena.scores.files.report import FileReport, report_data, report_file
from arena.scores.files.score_choices import ScoreChoices
from markets.distributions import form_of
from tests.opened_record import OpenedRecord
from tests.records.question_season import play
from tests.rows import rows_in

COLUMNS = (
    "question", "forecaster", "probability", "outcome", "market_probability", "event", "category", "time",
    "open", "close", "scheduled_close", "resolved", "title", "reason", "option", "low", "high", "open_low",
    "open_high", *(f"q{percent}" for percent in (5, 10, 25, 50, 75, 90, 95)),
)  # fmt: skip
SHOWN = """
    SELECT e.name, r.at, v.market_id, v.form, v.event_id, v.category, v.closes_at, v.question, q.mid,
           f.probability, f.distribution, f.reason, n.known_at, n.payout, n.answer
    FROM turn t JOIN entrant e ON e.id = t.entrant_id JOIN round r ON r.id = t.round_id
    JOIN snapshot_item i ON i.snapshot_id = r.snapshot_id AND i.shown = 1
    JOIN market_version v ON v.id = i.version_id LEFT JOIN quote q ON q.id = i.quote_id
    LEFT JOIN forecast f ON f.turn_id = t.id AND f.market_id = v.market_id AND f.stage = 'final'
    LEFT JOIN resolution n ON n.market_id = v.market_id
"""


def csv_of(path: Path) -> str:
    """Write the season as a file, from its rows and the plain rules of docs/scoring.md."""
    rows = rows_in(path, SHOWN)
    shown = defaultdict(list)
    for row in rows:
        shown[row[2]].append(_instant(row[1]))

    text = StringIO()
    lines = csv.DictWriter(text, COLUMNS)
    lines.writeheader()
    for name, at, market, form, event, category, closes_at, title, mid, chance, said, reason, *end in rows:
        known_at, payout, answer = end
        opened = min(shown[market])
        planned = max(_instant(closes_at), *shown[market], opened + timedelta(seconds=1))
        closed = planned
        resolved = ""
        if known_at is not None:
            closed = max(min(planned, _instant(known_at)), *shown[market])
            resolved = max(_instant(known_at), planned).isoformat()
        line: dict[str, Any] = {
            "question": market,
            "forecaster": name,
            "outcome": "",
            "event": event,
            "category": category,
            "time": (_instant(at) + timedelta(microseconds=1)).isoformat(),
            "open": (opened + timedelta(microseconds=1)).isoformat(),
            "close": closed.isoformat(),
            "scheduled_close": planned.isoformat(),
            "resolved": resolved,
            "title": title,
            "reason": reason if form else "",
        }
        if known_at is not None:
            line["outcome"] = answer or payout / 1_000_000
        if not form:
            price = 0.5 if mid is None else mid / 1_000_000
            line["market_probability"] = price
            line["probability"] = price if chance is None else chance / 1_000_000
            lines.writerow(line)
            continue
        lines.writerows(_other_lines(line, json.loads(form), said))
    return text.getvalue()


def _other_lines(line: dict[str, Any], form: dict[str, Any], said: str | None) -> list[dict[str, Any]]:
    answer = json.loads(said) if said else {}
    if form["kind"] == "multiple_choice":
        options = form["options"]
        odds = form.get("odds", [""] * len(options))
        chances = answer.get("chances", odds if odds[0] else [1_000_000 / len(options)] * len(options))
        return [
            line
            | {"option": option, "probability": chance / 1_000_000}
            | ({"market_probability": price / 1_000_000} if price else {})
            for option, chance, price in zip(options, chances, odds, strict=True)
        ]
    low, high = (_number(form[name]) for name in ("low", "high"))
    bounds = {"low": low, "high": high, "open_low": "no", "open_high": "no"}
    bounds |= {name: "yes" for name in ("open_low", "open_high") if form.get(name)}
    quantiles = {f"q{share // 10_000}": _number(value) for share, value in answer.get("quantiles", ())}
    if not quantiles:
        percents = (5, 10, 25, 50, 75, 90, 95)
        quantiles = {f"q{percent}": low + (high - low) * percent / 100 for percent in percents}
    if line["outcome"]:
        line = line | {"outcome": _number(line["outcome"])}
    return [line | bounds | quantiles]


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def table_of(record: OpenedRecord) -> ForecastTable:
    return record.read(read_all_kinds)


def reports(path: Path, **season: Any) -> tuple[FileReport, FileReport]:
    """Return the reports of a season by its record, and by the file of it."""
    ours = table_of(play(path, **season))
    theirs = replace(read_forecasts("season.csv", csv_of(path)), as_of=ours.as_of)
    choices = ScoreChoices(outside=ours.outside, references=ours.references, rule="autocast")
    return report_file(ours, choices=choices), report_file(theirs, choices=choices)


def assert_alike(ours: Any, theirs: Any, place: str = "") -> None:
    """Check that every figure is the same, except for the last digits."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys(), place
        for key, value in theirs.items():
            assert_alike(ours[key], value, f"{place}/{key}")
    elif isinstance(theirs, list | tuple):
        assert len(ours) == len(theirs), place
        for number, value in enumerate(theirs):
            assert_alike(ours[number], value, f"{place}/{number}")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-7, abs=1e-9), place
    else:
        assert ours == theirs, place


@pytest.mark.parametrize(
    "season",
    [{}, {"size": 30, "rounds": 2}, {"kinds": ("multiple_choice",)}, {"kinds": ()}],
    ids=["all kinds", "two rounds", "options", "yes or no"],
)
def test_a_season_is_scored_as_a_file_of_it_is(tmp_path: Path, season: dict[str, Any]) -> None:
    ours, theirs = reports(tmp_path / "season.db", **season)
    one = report_data(ours)
    other = report_data(theirs)
    for data in (one, other):
        for name in ("name", "notes"):
            del data[name]
    assert_alike(one, other)
    assert any(row.brier is not None for row in ours.rows), "somebody is scored"


def test_what_is_left_out_agrees_with_the_odds_or_knows_nothing(tmp_path: Path) -> None:
    ours, theirs = reports(tmp_path / "season.db", silent=("bob",), size=9)
    [bob] = [row for row in ours.rows if row.forecaster == "bob"]
    [other] = [row for row in theirs.rows if row.forecaster == "bob"]
    assert (bob.brier, bob.peer, bob.autocast) == pytest.approx((other.brier, other.peer, other.autocast))
    assert not bob.ranked
    assert bob.why_not is not None
    assert bob.why_not.startswith("covers ")


def test_the_kind_of_a_question_is_that_of_its_form(tmp_path: Path) -> None:
    table = table_of(play(tmp_path / "season.db", size=3))
    kinds = {form.name: form.kind for form in table.forms}
    assert kinds["q:multiple_choice-1"] == "choice"
    assert kinds["q:numeric-1"] == kinds["q:date-1"] == "number"
    assert form_of("").kind == "yes_no"
    assert len(table.questions) == 3
