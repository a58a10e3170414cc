"""What the record says of one agent, held against its raw rows, and read by indices alone."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from arena.record.queries.accounts import read_accounts, read_marked_cohort
from arena.scores.agent_summary import agent_details
from dashboard.record import read_account_spans, read_equity_at, read_event_questions
from dashboard.views.agent import COUNTED_COLUMNS, read_call_sums, read_counts, read_questions
from tests.arena.operations.test_status import asked, plans
from tests.opened_record import OpenedRecord, moved
from tests.records.full_record import build
from tests.rows import cohorts_seen, opened_to_read, rows_in

NAMES = ("ann", "bob", "eve")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("agent") / "record.db"
    build(file).close()
    return file


@pytest.fixture
def engine(path: Path) -> Iterator[Engine]:
    with opened_to_read(path) as opened:
        yield opened


def ids(engine: Engine, name: str) -> list[int]:
    with OpenedRecord(engine).reading() as connection:
        return [one.entrant_ids[name] for one in cohorts_seen(connection) if name in one.entrant_ids]


@pytest.mark.parametrize("name", NAMES)
def test_turns_calls_and_forecasts_are_those_of_the_dossier(name: str, engine: Engine) -> None:
    own = ids(engine, name)
    with OpenedRecord(engine).reading() as connection:
        known = agent_details(connection, name)
        answers = read_call_sums(connection, own)
        statuses = read_counts(connection, "turns", own)
        stages = read_counts(connection, "forecasts", own)
    assert known is not None
    assert [statuses.get(key, {}) for key in own] == [stay.statuses for stay in known.cohorts]
    assert sum(each.get("final", 0) for each in stages.values()) == known.forecasts
    assert sum(each.calls for each in answers) == sum(each.calls for each in known.calls)
    assert sum(each.cost for each in answers) == known.cost
    assert sum(each.unknown for each in answers) == known.unknown
    assert sum(each.tokens_in for each in answers) == sum(each.tokens_in for each in known.calls)
    errors = {each.error: each.calls for each in answers if each.error is not None}
    assert sum(errors.values()) == sum(known.errors.values())
    assert {each.model for each in answers if each.model} == {each.model for each in known.models}


@pytest.mark.parametrize("name", NAMES)
def test_fills_and_refusals_are_counted(name: str, path: Path, engine: Engine) -> None:
    own = ids(engine, name)
    with OpenedRecord(engine).reading() as connection:
        actions = read_counts(connection, "fills", own)
        refused = read_counts(connection, "rejections", own)
    for table, column, found in (("fill", "action", actions), ("rejection", "code", refused)):
        query = (
            f"SELECT turn.entrant_id, {column}, count(*) FROM {table} JOIN turn ON turn.id = turn_id "
            "JOIN entrant ON entrant.id = turn.entrant_id WHERE entrant.name = ? GROUP BY 1, 2"
        )
        expected: dict[object, dict[object, object]] = {}
        for key, value, count in rows_in(path, query, name):
            expected.setdefault(key, {})[value] = count
        assert found == expected


def test_an_account_is_worth_what_its_newest_mark_by_then_says(path: Path, engine: Engine) -> None:
    own = ids(engine, "ann")
    with OpenedRecord(engine).reading() as connection:
        spans = read_account_spans(connection, own)
        wanted = [
            (span.entrant_id, at + shift)
            for span in spans
            for at in (span.first_at, span.last_at)
            for shift in (-timedelta(seconds=1), timedelta(), timedelta(seconds=1))
        ]
        found = read_equity_at(connection, wanted)
    assert spans
    query = "SELECT at, cash + value FROM mark WHERE entrant_id = ? AND at <= ? ORDER BY at DESC LIMIT 1"
    expected = [
        (key, *known[0])
        for key, at in wanted
        if (known := rows_in(path, query, key, at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")))
    ]
    assert [
        (each.entrant_id, each.at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), each.total) for each in found
    ] == expected


def test_questions_are_those_of_the_newest_page_and_of_the_first_market(path: Path, engine: Engine) -> None:
    pages = rows_in(
        path, "SELECT market_id, event_id, question FROM market_version ORDER BY market_id, version"
    )
    newest = {str(market): str(question) for market, _, question in pages}
    with OpenedRecord(engine).reading() as connection:
        assert read_questions(connection, list(newest)) == newest
        events = read_event_questions(connection, [str(event) for _, event, _ in pages])

    earliest = "id IN (SELECT min(id) FROM market_version GROUP BY event_id)"
    first = rows_in(path, f"SELECT event_id, question FROM market_version WHERE {earliest}")
    assert events == dict(first)
    assert len(pages) > len(first), "some events have several pages, or nothing tells the first from others"


def test_what_an_agent_holds_is_read_without_the_others(engine: Engine) -> None:
    with OpenedRecord(engine).reading() as connection:
        for stored in cohorts_seen(connection):
            whole = read_marked_cohort(connection, stored.id)
            for name in stored.entrant_ids:
                own = read_marked_cohort(connection, stored.id, name)
                assert whole is not None
                assert own is not None
                assert own.ledgers == {name: whole.ledgers[name]}
                assert (own.at, own.snapshot) == (whole.at, whole.snapshot)


def test_every_question_goes_by_an_index(path: Path) -> None:
    engine = OpenedRecord.at(path).engine
    own = ids(engine, "ann")
    with asked(engine) as questions, OpenedRecord(engine).reading() as connection:
        spans = read_account_spans(connection, own)
        read_equity_at(connection, [(span.entrant_id, span.last_at) for span in spans])
        for counted in COUNTED_COLUMNS:
            read_counts(connection, counted, own)
        read_call_sums(connection, own)
        read_questions(connection, ["a"])
        read_event_questions(connection, ["a"])
    steps = [step for step, _ in plans(engine, questions)]
    engine.dispose()
    assert len(questions) >= 9
    assert [plan for plan in steps if plan.startswith("SCAN") and "VIRTUAL TABLE" not in plan] == []


def everything(database: str) -> list[Any]:
    """Read what the page of an agent reads, of every agent."""
    engine = OpenedRecord.join(database).engine
    found: list[Any] = []
    with OpenedRecord(engine).reading() as connection:
        for name in NAMES:
            own = [one.entrant_ids[name] for one in cohorts_seen(connection) if name in one.entrant_ids]
            places = {key: place for place, key in enumerate(own)}
            spans = read_account_spans(connection, own)
            wanted = [(span.entrant_id, at) for span in spans for at in (span.first_at, span.last_at)]
            worth = read_equity_at(connection, wanted)
            found.append(sorted((places[one.entrant_id], one.at, one.total) for one in worth))
            counts = (read_counts(connection, counted, own) for counted in COUNTED_COLUMNS)
            found.extend({places[key]: some for key, some in each.items()} for each in counts)
            answers = read_call_sums(connection, own)
            found += [(places[one.entrant_id], one.model, one.calls, one.cost) for one in answers]
        found.append(repr(read_accounts(connection)))  # as text: a whole number is no Decimal
    engine.dispose()
    return found


def test_both_databases_tell_the_page_the_same(path: Path, new_database: Callable[[], str]) -> None:
    server = new_database()
    moved(path, server)
    assert everything(server) == everything(str(path))
