"""What the record says of agents, held against sums over its raw rows; and in how many questions."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from arena.record.model.model_version import ReportedModel
from arena.scores.agent_calls import ServedModel, read_reported_models, read_served_models
from arena.scores.agent_summary import AgentDetails, agent_details, agent_summaries, model_changes_since
from portfolio.rules import REALISTIC
from tests.records.full_record import MARKETS as SEEN
from tests.records.full_record import Season, a_cohort, build, decides, said, the_book, week
from tests.rows import opened_to_read

CALLS = """
SELECT entrant.name, cohort.number, call.* FROM call
JOIN entrant ON entrant.id = call.entrant_id JOIN cohort ON cohort.id = entrant.cohort_id
WHERE entrant.name = ?
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the small record, with one more cohort in which ann's provider changes its model."""
    file = tmp_path_factory.mktemp("asked") / "record.db"
    season = Season(build(file))
    for number, marks in ((3, ("demo-1/fp", "demo-1/fq")), (4, ("demo-2/fq", "demo-2/"))):
        season.start(a_cohort(number, week(number + 2), REALISTIC, "ann", "zoe"))
        season.look(number, week(number + 2), *(the_book(market, week(0)) for market in SEEN))
        calls = [
            replace(
                said("{}"), model=mark.partition("/")[0], fingerprint=mark.partition("/")[2], latency_ms=ms
            )
            for mark, ms in zip(marks, (30, 70), strict=True)
        ]
        season.turn(number, "ann", decides(sun="0.5"), *calls)
    season.record.close()
    return file


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    with opened_to_read(path) as opened:
        yield opened


def raw(path: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of an agent's calls as they are."""
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(CALLS, (name,))]


def of(engine: Engine, name: str) -> AgentDetails:
    with engine.connect() as connection:
        found = agent_details(connection, name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", ["ann", "bob", "eve"])
def test_calls_tokens_costs_and_errors_are_those_of_the_rows(name: str, path: Path, engine: Engine) -> None:
    found = of(engine, name)
    rows = raw(path, name)
    assert sum(each.calls for each in found.calls) == len(rows)
    assert sum(each.tokens_in for each in found.calls) == sum(row["tokens_in"] for row in rows)
    assert sum(each.tokens_out for each in found.calls) == sum(row["tokens_out"] for row in rows)
    assert found.cost == sum(row["cost"] or 0 for row in rows)
    assert found.unknown == sum(row["cost"] is None for row in rows)
    codes = [row["error_code"] for row in rows if row["error_code"] is not None]
    assert found.errors == {code: codes.count(code) for code in sorted(set(codes))}
    assert found.rungs == ({"prompt": len(rows)} if rows else {})


def test_latencies_are_those_of_answers(path: Path, engine: Engine) -> None:
    found = of(engine, "ann")
    took = sorted(row["latency_ms"] for row in raw(path, "ann") if row["error_code"] is None)
    assert took == [12, 12, 12, 12, 30, 30, 70, 70]
    assert (found.median_ms, found.late_ms) == (21, 70)
    assert of(engine, "bob").median_ms is None


def test_how_turns_ended_cohort_by_cohort_and_what_was_forecast(engine: Engine) -> None:
    found = of(engine, "eve")
    assert [(stay.cohort, stay.statuses) for stay in found.cohorts] == [
        (1, {"failed": 1, "malformed": 1, "played": 1})
    ]
    assert [stay.cohort for stay in of(engine, "ann").cohorts] == [1, 2, 3, 4]
    assert of(engine, "ann").forecasts == 8
    assert found.forecasts == 1


def test_what_answered_when_and_where_it_changed(engine: Engine) -> None:
    with engine.connect() as connection:
        served = read_served_models(connection, "ann")
        rows = read_reported_models(connection)
        seen = model_changes_since(connection, rows[0].at)
    assert [(each.model, each.fingerprint, each.answers) for each in served] == [
        ("demo-1", "fp", 5),
        ("demo-1", "fq", 1),
        ("demo-2", "", 1),
        ("demo-2", "fq", 1),
    ]
    assert isinstance(served[0], ServedModel)
    ann = [row for row in rows if row.name == "ann"]
    assert [(row.model, row.fingerprint) for row in ann] == [
        ("demo-1", "fp"),
        ("demo-1", "fq"),
        ("demo-2", "fq"),
        ("demo-2", ""),
    ]
    assert isinstance(ann[0], ReportedModel)
    assert [(change.what, change.after) for change in seen] == [("fingerprint", "fq"), ("model", "demo-2")]


def test_the_summary_of_everyone(engine: Engine) -> None:
    with engine.connect() as connection:
        found = agent_summaries(connection)
    assert list(found) == ["ann", "bob", "eve", "zoe"]
    ann = found["ann"]
    assert (ann.cohorts, ann.models, len(ann.changes)) == ((1, 2, 3, 4), ("demo-1", "demo-2"), 2)
    assert (ann.cost, found["bob"].cost) == (None, 0)
    assert (found["eve"].malformed, found["eve"].failed) == (1, 1)


def test_as_many_questions_for_four_cohorts_as_for_one(tmp_path: Path, engine: Engine) -> None:
    build(tmp_path / "small.db", weeks=1).close()
    with opened_to_read(tmp_path / "small.db") as small:
        counts = [asked_of(engine), asked_of(small)]
    assert counts[0] == counts[1]
    assert counts[0] > 0


def asked_of(engine: Engine) -> int:
    """Count the statements that all of this takes."""
    made: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        made.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    with engine.connect() as connection:
        agent_summaries(connection)
        agent_details(connection, "ann")
    event.remove(engine, "before_cursor_execute", note)
    return len(made)
