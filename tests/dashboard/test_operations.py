"""The page of operations: it says what `arena status` says, and shows what went wrong as text."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from arena.clock import now
from arena.config import load
from arena.operations.status import read_status_by_config
from arena.record.queries.calls import record_size
from dashboard.html import health_light
from dashboard.record import read_failed_turns
from dashboard.views.operations import read_agent_spending, read_daily_spending
from markets.venue import QuarantinedRecord
from tests.dashboard.opening import Show, markup, tables, tiles, words
from tests.dashboard.records import made, shared
from tests.opened_record import opened_record
from tests.rows import read_only

AT = datetime(2026, 1, 18, 9, 30, tzinfo=UTC)
PAYLOAD = "![x](http://203.0.113.9/x) <img src=http://203.0.113.9/y>"


@pytest.fixture
def troubled(tmp_path: Path) -> Path:
    """Return a record in which everything has gone wrong."""
    path = made("all_failed", tmp_path)
    with opened_record(path) as record:
        record.add_incident("venue_down", "polymarket@1", f"polymarket does not answer: {PAYLOAD}", AT)
        wrong = "the record does not agree with itself: 1 difference"
        record.add_incident("verify_failed", "1", wrong, AT)
        record.put_job("backup", AT, AT, AT)
        record.put_job("resolutions", AT, AT, AT, 4, PAYLOAD)
        record.quarantine(
            [QuarantinedRecord("polymarket", "m1", "market", "bad_price", PAYLOAD, '{"price": "<script>"}')],
            AT,
        )
    return path


def test_what_went_wrong_is_listed_as_text(troubled: Path, show: Show) -> None:
    page = show("operations", troubled)
    assert "spent today (simulated)" in {label for label, _ in tiles(page)}
    by_column = {name: table for table in tables(page) for name in table.columns}
    assert by_column["Turn"]["Turn"].tolist() == ["failed"] * 10
    assert by_column["Job"].set_index("Job")["Failures"].to_dict() == {"backup": 0, "resolutions": 4}
    assert [text for text in by_column["What"]["What"] if PAYLOAD in text]
    assert by_column["Code"]["Reason"].tolist() == [PAYLOAD]
    assert ("10 of 10", "turns failed, newest rounds") in [(value, label) for label, value in tiles(page)]
    [fields] = [html for html in markup(page) if "turn-failed" in html]
    assert fields.count('class="turn-failed"') == 10
    said = words(page)
    assert f"polymarket does not answer: {PAYLOAD}" in said, "as text: no element is made of it"
    assert "since 2026-01-18 09:30 UTC" in said
    assert "arena run --sync" in said
    assert "arena admin backup" in said


def test_a_reason_for_trouble_cannot_turn_the_order_of_its_letters() -> None:
    assert "<li>down</li>" in health_light("trouble", "Trouble.", "", ["\u202edo\u200bwn\u202c"])


def test_a_check_that_failed_is_said_where_the_record_is_spoken_of(troubled: Path, show: Show) -> None:
    page = show("operations", troubled)
    assert "1 difference, since 18 Jan 2026, 09:30 UTC: “arena admin verify” shows all of it" in words(page)
    assert "Each backup is verified" not in words(page)


def test_a_record_without_a_cohort_has_no_time_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, show: Show
) -> None:
    assert ("next round", "none") in tiles(show("operations", shared("empty", tmp_path_factory)))


def test_the_time_of_a_season_is_not_counted_from_now(
    tmp_path_factory: pytest.TempPathFactory, show: Show
) -> None:
    said = words(show("operations", shared("all_failed", tmp_path_factory)))
    [advice] = re.findall(r"ann, bob have no good turn yet[^•]*?arena show turn", said)
    assert "next try" not in advice
    assert "plays the failed turn again (cohorts 1, 2)" in advice


def test_only_one_kind_of_what_was_set_aside_may_be_asked_for(troubled: Path, show: Show) -> None:
    for kind, is_none in (("page", True), ("market", False)):
        said = words(show("operations", troubled, aside=kind))
        assert ("No rejected data" in said) == is_none


def test_a_replay_is_started_by_its_own_command(tmp_path: Path, show: Show) -> None:
    said = words(show("operations", made("a_replay", tmp_path)))
    found = re.findall("not running; “arena (.+?)”|(by itself)", said)
    assert found == [("study replay", "")], "and nothing is said to wait for it, for it is over"
    assert "None: `arena study replay` plays its rounds without jobs." in said
    assert "arena run" not in said.replace("none by “arena run” yet", "")


@pytest.mark.parametrize("name", ["all_failed", "demo"])
def test_failures_and_spending_are_those_of_plain_sql(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    record = shared(name, tmp_path_factory)
    plain = create_engine(f"sqlite:///{record}")
    with plain.connect() as sql, read_only(record) as connection:
        failed = sql.execute(text("SELECT count(*) FROM turn WHERE status = 'failed'")).scalar_one()
        assert len(read_failed_turns(connection, 1_000)) == failed
        assert len(read_failed_turns(connection, 3)) == min(failed, 3)
        newest = "(SELECT max(number) FROM cohort)"
        spent = (
            "SELECT coalesce(sum(coalesce(call.cost, call.worst, 0)), 0), count(call.id) FROM call "
            "JOIN entrant ON entrant.id = call.entrant_id JOIN cohort ON cohort.id = entrant.cohort_id "
            f"WHERE cohort.ended_at IS NULL OR cohort.number = {newest}"
        )
        found = read_agent_spending(connection)
        assert (sum(x.spent for x in found), sum(x.calls for x in found)) == sql.execute(text(spent)).one()
        last = sql.execute(text("SELECT max(made_at) FROM call")).scalar_one()
        if last is not None:
            day = datetime.fromisoformat(str(last)[:10]).replace(tzinfo=UTC)
            daily = read_daily_spending(connection, day, 400)
            whole = sql.execute(text("SELECT sum(coalesce(cost, worst, 0)) FROM call")).scalar_one()
            assert sum(amount for _, amount in daily) == whole
            assert daily[-1][0] - daily[0][0] == timedelta(days=399)
        assert record_size(connection) >= record.stat().st_size
    plain.dispose()


def test_beside_a_config_it_knows_the_budgets_and_what_is_to_come(
    troubled: Path, monkeypatch: pytest.MonkeyPatch, show: Show
) -> None:
    config = troubled.parent / "config.yaml"
    config.write_text(
        config.read_text(encoding="utf-8") + "\nbudget: {day: 2, arena: 50}\n", encoding="utf-8"
    )
    monkeypatch.setenv("ARENA_CONFIG", str(config))
    with read_only(troubled) as connection:
        status = read_status_by_config(connection, now(), load(config))
    page = show("operations", troubled)
    assert [limit.scope for limit in status.spend.limits] == ["day", "arena"]
    assert [bar.text for bar in page.get("progress")] == [
        "Today: \\$0.00 of \\$2.00",
        f"All that was ever spent: \\${status.spend.limits[1].spent / 1_000_000:,.2f} of \\$50.00",
    ]
    [jobs] = [table for table in tables(page) if "Job" in table.columns]
    assert dict(zip(jobs["Job"], jobs["Next"], strict=True)) == {
        job.name: status.next_jobs.get(job.name) for job in status.jobs
    }


def test_a_config_that_can_t_be_read_is_named_and_the_page_stands(
    troubled: Path, monkeypatch: pytest.MonkeyPatch, show: Show
) -> None:
    config = troubled.parent / "config.yaml"
    config.write_text("agents: 5\napi_key: sk-secret\n", encoding="utf-8")
    monkeypatch.setenv("ARENA_CONFIG", str(config))
    page = show("operations", troubled)
    assert "`arena check` says why" in page.warning[0].value
    assert "sk-secret" not in page.warning[0].value + words(page)
    assert "Budgets are unknown: this dashboard has no readable config" in words(page)


def test_prices_of_a_season_in_its_own_time_are_dated_by_it(
    season: Path, first_round: Path, empty: Path, show: Show
) -> None:
    pages = [tiles(show("operations", record)) for record in (empty, first_round, season)]
    read = [value for page in pages for label, value in page if label == "prices read"]
    assert read == ["not yet", "4 Jan 2026", "no longer"], "no days ago, by a clock that it does not follow"
