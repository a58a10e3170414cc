"""`arena show positions`: what it says of a record whose figures are worked by hand, and its sums."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.opened_record import new_record
from tests.program.in_process import answered, invoke
from tests.records.full_record import build

Weeks = Callable[[int], Path]


@pytest.fixture(scope="session")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Weeks:
    """Return the small record after this many weeks, each made once."""
    made: dict[int, Path] = {}

    def after(number: int) -> Path:
        if number not in made:
            made[number] = tmp_path_factory.mktemp("weeks") / "record.db"
            build(made[number], number).close()
        return made[number]

    return after


def run(record: Path, *arguments: str, command: str = "show positions") -> Any:
    """Return what the command line answers."""
    return invoke(*command.split(), "--database", record, *arguments)


def said(record: Path, *arguments: str, command: str = "show positions") -> Any:
    """Return the answer as JSON."""
    return answered(*command.split(), "--database", record, *arguments)


def lots(record: Path, *arguments: str) -> dict[tuple[str, str], Any]:
    return {(row["market_id"], row["side"]): row for row in said(record, *arguments)["positions"]}


ANN = ("--cohort", "1", "--agent", "ann")


def test_a_lot_that_is_held_with_its_average_its_price_and_how_old_that_is(weeks: Weeks) -> None:
    """$150 and $100 bought 420.282494 shares of a wind that was last quoted at 58¢, a week ago."""
    assert lots(weeks(4), *ANN)["sim:wind", "YES"] == {
        "agent": "ann",
        "market_id": "sim:wind",
        "question": "Will sim:wind happen?",
        "venue_url": None,
        "side": "YES",
        "bought": 420.282494,
        "sold": 0,
        "settled": 0,
        "shares": 420.282494,
        "average_cost": 0.594838,
        "price": 0.58,
        "stale": "old",
        "age_seconds": 7 * 86_400,
        "paid": 250,
        "received": 0,
        "cost": 250,
        "value": 243.763846,
        "realised": 0,
        "unrealised": -6.236154,
        "pnl": -6.236154,
    }


def test_a_lot_that_was_sold_in_part_settled_and_corrected(weeks: Weeks) -> None:
    """Half was sold for 148.52068; the rest was paid 357.770811, which the venue took back."""
    before = lots(weeks(3), *ANN)["sim:sun", "YES"]
    after = lots(weeks(4), *ANN)["sim:sun", "YES"]
    assert (before["sold"], before["settled"], before["shares"]) == (357.77081, 357.770811, 0)
    assert (before["received"], before["realised"]) == (506.291491, 206.291491)
    assert (after["sold"], after["settled"], after["shares"]) == (357.77081, 357.770811, 0)
    assert (after["received"], after["realised"], after["pnl"]) == (148.52068, -151.47932, -151.47932)
    assert (after["average_cost"], after["price"], after["value"]) == (None, None, 0)


def test_a_refund_realises_nothing_and_the_sides_of_a_market_are_two_lots(weeks: Weeks) -> None:
    refunded = lots(weeks(4), *ANN)["sim:rain", "NO"]
    assert (refunded["paid"], refunded["received"], refunded["realised"]) == (200, 200, 0)
    zoe_and_ann = said(weeks(4), "--by", "market")["positions"]
    sun = next(row for row in zoe_and_ann if row["market_id"] == "sim:sun")
    assert (sun["agents"], sun["lots"], sun["held"]) == (1, 2, 0)
    assert (sun["paid"], sun["received"], sun["pnl"]) == (1_200, 526.315789, -673.684211)


@pytest.mark.parametrize(
    "week", [pytest.param(n, marks=pytest.mark.thorough if n in (2, 4) else ()) for n in range(1, 6)]
)
def test_the_totals_are_the_leaderboards_whatever_a_line_is_about(week: int, weeks: Weeks) -> None:
    record = weeks(week)
    for cohort in ("1",) if week == 1 else ("1", "2"):
        board = said(record, "--cohort", cohort, command="board")["leaderboard"]
        profits = {row["agent"]: row["pnl"] for row in board if row["kind"] != "market"}
        by_agent = said(record, "--cohort", cohort, "--by", "agent")["positions"]
        assert {row["agent"]: row["pnl"] for row in by_agent} == profits
        totals = [said(record, "--cohort", cohort, "--by", by)["total"] for by in ("lot", "market", "agent")]
        assert totals[0] == totals[1] == totals[2]
        assert totals[0]["pnl"] == pytest.approx(sum(profits.values()), abs=1e-9)
        for agent, profit in profits.items():
            assert said(record, "--cohort", cohort, "--agent", agent)["total"]["pnl"] == profit


def test_only_what_is_open_of_the_newest_cohort_where_none_is_named(weeks: Weeks) -> None:
    assert (said(weeks(1))["cohort"], said(weeks(5))["cohort"]) == (1, 2)
    answer = said(weeks(4), *ANN, "--open")
    assert [row["market_id"] for row in answer["positions"]] == ["sim:wind"]
    assert answer["total"] | {"agents": 1, "lots": 1, "held": 1, "stale": 1} == answer["total"]
    assert answer["total"]["pnl"] == -6.236154
    assert said(weeks(5), "--open")["positions"] == []
    assert "No open positions." in run(weeks(5), "--open").stdout


def test_who_never_bet_has_a_line_among_the_agents(weeks: Weeks) -> None:
    idle = next(row for row in said(weeks(1), "--by", "agent")["positions"] if row["agent"] == "eve")
    assert (idle["lots"], idle["pnl"]) == (0, 0)
    assert "No positions yet." in run(weeks(1), "--agent", "eve").stdout


def test_the_table(weeks: Weeks) -> None:
    names = "question,side,shares,average,price,stale,realised,unrealised"
    wrong = run(weeks(4), "--columns", "sides", "--json")
    assert (wrong.exit_code, json.loads(wrong.stdout)["error"]["code"]) == (64, "no_column")
    assert "there is no column 'sides'; did you mean side?" in wrong.stdout
    lines = run(weeks(4), *ANN, "--columns", names).stdout.splitlines()
    assert lines[0] == "Cohort 1, ann, as marked at 2026-01-25 12:00 UTC"
    assert [" ".join(line.split()) for line in lines[1:6]] == [
        "question side shares average price stale realised unrealised",
        "Will sim:wind happen? YES 420.28 0.594838 0.5800 old +0.00 -6.24",
        "Will sim:rain happen? NO 0.00 – – – +0.00 +0.00",
        "Will sim:sun happen? YES 0.00 – – – -151.48 +0.00",
        "all -151.48 -6.24",
    ]
    assert lines[-1] == "P/L -$157.72, realised and unrealised, as in arena board --cohort 1."


def test_an_agent_or_a_cohort_that_is_not_there(weeks: Weeks) -> None:
    for words, *told in (
        (("--cohort", "3"), "no_cohort", "there is no cohort 3 here", "cohorts: 1, 2"),
        (("--agent", "bob"), "no_agent", "there is no agent 'bob' in cohort 2", "agents: ann, zoe"),
    ):
        error = answered("show", "positions", "--database", weeks(5), *words, status=1)["error"]
        assert list(error.values()) == told


def test_a_record_in_which_nobody_has_played(tmp_path: Path) -> None:
    new_record(tmp_path / "record.db")
    answer = run(tmp_path / "record.db", "--json")
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["error"]["message"] == "no agent has played yet"


def test_a_cohort_that_has_not_been_marked(weeks: Weeks, tmp_path: Path) -> None:
    record = changed(weeks(1), tmp_path, "DELETE FROM mark")
    answer = said(record, "--by", "agent")
    assert (answer["at"], {row["pnl"] for row in answer["positions"]}) == (None, {0})
    assert "Cohort 1 has not been marked yet" in run(record).stdout


def test_a_ledger_that_does_not_add_up_is_not_shown(weeks: Weeks, tmp_path: Path) -> None:
    record = changed(
        weeks(1), tmp_path, "UPDATE entry SET cash = cash + 1 WHERE entrant_id = 1 AND number = 2"
    )
    answer = run(record, "--json")
    assert answer.exit_code == 1
    error = json.loads(answer.stdout)["error"]
    assert error["code"] == "broken_ledger"
    assert error["message"].startswith("ann's ledger is inconsistent: entry 2")


def test_a_question_is_shown_as_text_in_one_line(weeks: Weeks, tmp_path: Path) -> None:
    evil = "UPDATE market_version SET question = 'A' || char(10) || char(27) || '[31m[red]B[/red]'"
    lines = run(changed(weeks(1), tmp_path, evil), "--agent", "bob").stdout
    assert "\x1b" not in lines
    assert lines.count("A [31m[red]B[/red]") == 2


def changed(record: Path, folder: Path, statement: str) -> Path:
    """Return a copy of the record, changed past its triggers."""
    source = sqlite3.connect(record)
    target = sqlite3.connect(folder / "changed.db", isolation_level=None)
    source.backup(target)
    source.close()
    for (trigger,) in target.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        target.execute(f"DROP TRIGGER {trigger}")
    target.execute(statement)
    target.close()
    return folder / "changed.db"
