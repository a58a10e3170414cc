"""What pages show is what the command line says of the same record, figure by figure."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from arena.scores.leaderboard import percent_of_price
from arena.scores.profiles.calibrations import compute_calibrations
from dashboard.words import JOINER, in_dollars, plain, written
from tests.dashboard.addresses import BET_ON, busiest
from tests.dashboard.opening import Show, tables, tiles, words
from tests.dashboard.records import shared
from tests.rows import read_only, rows_in

STANDINGS = ("brier_stated", "brier_implied", "pnl", "return_pct", "bets", "resolved")
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
    """Return a record without a config beside it, from which the command line would know more than pages."""
    monkeypatch.chdir(tmp_path)
    return shared(request.param, tmp_path_factory)


def told(record: Path, *command: str) -> Any:
    """Return the JSON output of the command line."""
    said = CliRunner().invoke(app, [*command, "--json", "--database", str(record)])
    assert said.exit_code == 0, said.output
    return json.loads(said.stdout)


def same(cell: Any, figure: Any, times: float = 1) -> bool:
    """Tell whether a cell of a table is a figure of the command line; a dash is null."""
    if figure is None:
        return cell is None or math.isnan(cell)
    return cell is not None and math.isclose(cell, figure * times, rel_tol=1e-9, abs_tol=1e-9)


def money(dollars: float) -> str:
    """Return profit or loss as pages write it."""
    sign = "+" if round(dollars, 2) > 0 else "−" if round(dollars, 2) < 0 else ""
    return f"{sign}${abs(dollars):,.2f}"


def cohorts_of(record: Path) -> list[int]:
    return [int(number) for (number,) in rows_in(record, "SELECT number FROM cohort ORDER BY number")]


def test_the_same_forecasts_have_the_same_calibration(tmp_path_factory: pytest.TempPathFactory) -> None:
    """In the demo kelly bets on what sharp states."""
    path = shared("demo", tmp_path_factory)
    with read_only(path) as connection:
        for number in cohorts_of(path):
            stated = {one.agent: one.diagram for one in compute_calibrations(connection, number).stated}
            assert stated["kelly"] == stated["sharp"]


def test_the_standings_of_a_cohort(record: Path, show: Show) -> None:
    for cohort in cohorts_of(record):
        rows = told(record, "board", "--cohort", str(cohort))["leaderboard"]
        found = tables(show("cohort", record, cohort=str(cohort)))
        parts = [
            [row for row in rows if row["is_reference"] == is_reference] for is_reference in (False, True)
        ]
        for part, table in zip([part for part in parts if part], found, strict=False):
            assert list(table["agent"]) == [row["agent"] for row in part]
            for place, row in enumerate(part):
                for key in STANDINGS:
                    shown = table.get(key)
                    assert shown is None or same(shown[place], row[key]), (cohort, row["agent"], key)


def test_an_agent(record: Path, show: Show) -> None:
    name = busiest(record)[0]
    said = told(record, "show", "agent", name)
    page = show("agent", record, agent=name)
    rows = told(record, "board")["leaderboard"]
    (row,) = [row for row in rows if row["agent"] == name]
    if row["rank_low"] is not None:
        ranks = "–".join(map(str, dict.fromkeys((row["rank_low"], row["rank_high"]))))
        entries = [one for one in rows if one["rank_low"] is not None]
        assert re.search(rf"ranks? {ranks} of {len(entries)} ", words(page))
    assert plain(row["verdict"], 2_000).replace(JOINER, "") in words(page)
    assert plain(row["price_verdict"], 2_000).replace(JOINER, "") in words(page)
    profit, closer, _, cost = (value for _, value in tiles(page))
    ends = [percent_of_price(row[key], row["brier_market"]) for key in ("skill", "skill_low", "skill_high")]
    shown = [written(end, "%+.1f%") for end in ends if end is not None]
    assert closer == shown[0]
    assert all(figure in words(page) for figure in shown)
    assert profit.split()[-1] == money(row["pnl"])
    assert cost == in_dollars(said["record"]["known_cost_usd"])
    assert f"{said['record']['forecasts']:,} forecasts stated" in words(page)
    assert money(said["scores"]["money"]["split"]["pnl"]) == money(row["pnl"])


def test_the_positions_of_a_market(record: Path, show: Show) -> None:
    ((market,),) = rows_in(record, BET_ON)
    table = tables(show("market", record, market=market))[0]
    cells = {(row["cohort"], row["agent"], row["side"]): row for _, row in table.iterrows()}
    known = {
        (cohort, lot["agent"], lot["side"]): lot
        for cohort in cohorts_of(record)
        for lot in told(record, "show", "positions", "--cohort", str(cohort))["positions"]
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
        for lot in told(record, "show", "positions", "--cohort", str(cohort), "--agent", name, "--open")[
            "positions"
        ]
    ]
    page = show("agent", record, agent=name)
    if not lots:
        assert "No open positions." in words(page)
        return
    shown = [table for table in tables(page) if "Price ¢" in table]
    assert sum(map(len, shown)) == len(lots)
    for column, keys in (
        ("Value $", ("value",)),
        ("P/L", ("realised", "unrealised")),
        ("Shares", ("shares",)),
    ):
        values = [value for table in shown for value in table[column]]
        assert sorted(values) == pytest.approx(sorted(sum(lot[key] for key in keys) for lot in lots)), column


def test_operations(record: Path, show: Show) -> None:
    said = told(record, "status")
    page = show("operations", record)
    all_said = words(page)
    rounds = said["rounds"]
    spend = said["spend"]
    held = said["positions"]
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
