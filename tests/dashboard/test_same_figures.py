"""What pages show is what the command line says of the same record, figure by figure."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from dashboard.words import in_dollars, written
from tests.dashboard.addresses import BET_ON, ask, busiest
from tests.dashboard.opening import Show, tables, tiles, words
from tests.dashboard.records import shared

PERCENT = {"win_rate": 100, "coverage": 100}
"""What a page multiplies a share by."""
STANDINGS = ("skill", "brier_implied", "pnl", "return_pct", "bets", "resolved")
LOT = {
    "held": "shares",
    "cost": "cost",
    "average": "average_cost",
    "value": "value",
    "profit": "pnl",
    "paid": "paid",
    "received": "received",
}


@pytest.fixture(params=["demo", "a_replay"])
def record(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A record, and no config beside it that would tell the command line more than the pages know."""
    monkeypatch.chdir(tmp_path)
    return shared(request.param, tmp_path_factory)


def told(record: Path, *command: str) -> Any:
    """What the command line says for programs."""
    said = CliRunner().invoke(app, [*command, "--json", "--database", str(record)])
    assert said.exit_code == 0, said.output
    return json.loads(said.stdout)


def same(cell: Any, figure: Any, times: float = 1) -> bool:
    """Whether a cell of a table is a figure of the command line; a dash is null."""
    if figure is None:
        return cell is None or math.isnan(cell)
    return cell is not None and math.isclose(cell, figure * times, rel_tol=1e-9, abs_tol=1e-9)


def money(dollars: float) -> str:
    """Profit or loss as pages write it."""
    sign = "+" if round(dollars, 2) > 0 else "−" if round(dollars, 2) < 0 else ""
    return f"{sign}${abs(dollars):,.2f}"


def cohorts_of(record: Path) -> list[int]:
    return [int(number) for (number,) in ask(record, "SELECT number FROM cohort ORDER BY number")]


def test_the_standings_of_a_cohort(record: Path, show: Show) -> None:
    for cohort in cohorts_of(record):
        rows = told(record, "leaderboard", "--cohort", str(cohort))["leaderboard"]
        table = tables(show("cohort", record, cohort=str(cohort)))[0]
        assert list(table["agent"]) == [row["agent"] for row in rows]
        for place, row in enumerate(rows):
            for key in STANDINGS:
                assert same(table[key][place], row[key], PERCENT.get(key, 1)), (cohort, row["agent"], key)


def test_an_agent(record: Path, show: Show) -> None:
    name = busiest(record)[0]
    said, page = told(record, "agents", "show", name), show("agent", record, agent=name)
    gain = said["scores"]["gain"]
    rows = [row for row in told(record, "leaderboard")["leaderboard"] if row["agent"] != "market"]
    (row,) = [row for row in rows if row["agent"] == name]
    if row["place_best"] is not None and not row["reason"]:
        places = dict.fromkeys((row["place_best"], row["place_worst"]))
        assert f"rank {'–'.join(map(str, places))} of {sum(one['ranked'] for one in rows)}" in words(page)
    skill, profit, _, cost = (value for _, value in tiles(page))
    assert skill == written(gain["skill"], "%+.4f")
    assert profit.split()[-1] == money(row["pnl"])
    assert cost == in_dollars(said["record"]["known_cost_usd"])
    assert f"{said['record']['forecasts']:,} forecasts stated" in words(page)
    assert money(said["scores"]["money"]["split"]["pnl"]) == money(row["pnl"])
    known = {written(gain[key], "%+.4f") for key in ("low", "high") if gain[key] is not None}
    assert all(figure in words(page) for figure in known)


def test_the_forecasts_of_an_agent_in_parts(record: Path, show: Show) -> None:
    name = busiest(record)[0]
    parts = told(record, "agents", "show", name, "--by", "price")["parts"]["parts"]
    page = show("agent", record, agent=name, part="forecasts", by="price")
    table = tables(page)[1]
    assert len(table) == len(parts) > 0
    for place, part in enumerate(parts):
        assert same(table["Brier"][place], part["brier"])
        assert same(table["Miscalibration"][place], part["miscalibration"])
        assert same(table["Forecasts"][place], part["forecasts"])


def test_the_positions_of_a_market(record: Path, show: Show) -> None:
    ((market,),) = ask(record, BET_ON)
    table = tables(show("market", record, market=market))[0]
    cells = {(row["cohort"], row["agent"], row["side"]): row for _, row in table.iterrows()}
    known = {
        (cohort, lot["agent"], lot["side"]): lot
        for cohort in cohorts_of(record)
        for lot in told(record, "positions", "--cohort", str(cohort))["positions"]
        if lot["market_id"] == market
    }
    assert set(cells) == set(known) != set()
    for place, lot in known.items():
        for key, figure in LOT.items():
            if key not in table:  # a column that would be empty in every row is left out
                assert not any(each["shares"] for each in known.values())
                continue
            wanted = None if key in ("cost", "value", "average") and not lot["shares"] else lot[figure]
            assert same(cells[place][key], wanted, 100 if key == "average" else 1), (place, key)


def test_what_an_agent_holds(record: Path, show: Show) -> None:
    name = busiest(record)[0]
    lots = [
        lot
        for cohort in cohorts_of(record)
        for lot in told(record, "positions", "--cohort", str(cohort), "--agent", name, "--open")["positions"]
    ]
    page = show("agent", record, agent=name, part="money")
    if not lots:
        assert "No open positions." in [info.value for info in page.info]
        return
    table = tables(page)[-1]
    assert len(table) == len(lots)
    for column, key in (("Value $", "value"), ("Gain $", "unrealised"), ("Shares", "shares")):
        assert sorted(table[column]) == pytest.approx(sorted(lot[key] for lot in lots)), column


def test_operations(record: Path, show: Show) -> None:
    said, page = told(record, "status"), show("operations", record)
    all_said, rounds, spend, held = words(page), said["rounds"], said["spend"], said["positions"]
    [today] = [value for label, value in tiles(page) if "spent today" in label]
    assert today == f"${spend['today_usd']:,.2f}"
    assert f"{rounds['done']:,} of {rounds['due']:,} due are done" in all_said
    assert re.search(
        rf"Spent this month( \(simulated\))?{re.escape(in_dollars(spend['month_usd']))}", all_said
    )
    assert f"Calls in progress{said['calls']['under_way']:,}." in all_said
    assert f"Open positions{held['open']:,} in" in all_said
    assert f"{held['stale_markets']:,} at stale prices" in all_said
    assert f"{said['health'].capitalize()}. " in all_said
