"""Crowds, twins, people with a file and functions of one's own, in one season by the command line."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.clock import now
from arena.config import load
from arena.rounds.adapters import open_venue
from markets.model import Listing
from tests.builders import listed
from tests.program.running import agents_of, arena, arena_json, demo_config

LINE_UP = """\
  - kind: market
  - {kind: constant, p: 0.4}
  - {kind: oracle, noise: 0.5}
  - kind: favourite
  - {kind: crowd, of: [market, constant, oracle], method: mean}
  - {kind: kelly, of: crowd}
  - {kind: random, name: ann, bets: 2}
  - {kind: random, name: ann-again, bets: 2}
  - {kind: recorded, name: bob, file: people/bob.csv}
  - {kind: python, function: "mine:decide", arguments: {p: 0.25}}
"""
MINE = """\
from agents.model import Decision, Forecast
from tests.builders import listed

def decide(view, ask, p):
    return Decision(tuple(Forecast(listing.market.id, p) for listing in view.snapshot.shown))
"""
ROUNDS = 3


def world(config: Path) -> list[Listing]:
    """The markets on offer at the decision times, as the simulator has them."""
    settings = load(config)
    venue, first = open_venue(settings), settings.first_start(now())
    weeks = [first + timedelta(weeks=number) for number in range(ROUNDS)]
    return [listing for week in weeks for listing in asyncio.run(listed(venue, week))]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Mapping[str, Any]]:
    folder = tmp_path_factory.mktemp("own")
    config = demo_config(folder, LINE_UP, show=40, markets=150, events=55)
    (folder / "mine.py").write_text(MINE, "utf-8")
    (folder / "people").mkdir()
    listed = dict.fromkeys(listing.market.id for listing in world(config))
    said = [f"2026-01-01,{market},0.9,,\n" for market in listed]
    moves = [f"2026-01-{day:02},{market},,YES,60\n" for day in (3, 9, 10) for market in list(listed)[:1]]
    table = "".join(["at,market,probability,side,amount\n", *said, *moves])
    (folder / "people" / "bob.csv").write_text(table, "utf-8")
    words = ("demo", "--headless", "--rounds", str(ROUNDS), "--config", str(config))
    season = arena_json(folder, *words)
    assert arena_json(folder, "verify", "--database", season["database"])["ok"]
    return agents_of(season["leaderboard"])


def test_everyone_states_a_forecast_on_every_market(rows: Mapping[str, Mapping[str, Any]]) -> None:
    stating = [row for name, row in rows.items() if name != "kelly"]
    assert {row["coverage"] for row in stating} == {1}
    assert len({row["resolved"] for row in stating}) == 1
    assert rows["market"]["resolved"] > 0


def test_a_crowd_beats_the_average_of_its_agents_and_kelly_bets_on_it(
    rows: Mapping[str, Mapping[str, Any]],
) -> None:
    """The square of a mean is at most the mean of the squares: so it is for every crowd, up to rounding."""
    apart = [rows[name]["brier_stated"] for name in ("market", "constant", "oracle")]
    assert rows["crowd"]["brier_stated"] <= sum(apart) / 3 + 1e-6
    assert (rows["crowd"]["bets"], rows["kelly"]["bets"] > 0) == (0, True)
    assert rows["kelly"]["brier_stated"] == rows["crowd"]["brier_stated"]


def test_twins_play_apart_and_what_tells_them_apart_is_noise(rows: Mapping[str, Mapping[str, Any]]) -> None:
    ann, again = rows["ann"], rows["ann-again"]
    assert ann["turns"] == again["turns"]
    assert ann["bets"] == again["bets"] == 2 * ann["turns"]
    assert ann["brier_stated"] != again["brier_stated"]
    assert ann["pnl"] != again["pnl"]


def test_bets_in_a_file_and_a_function_are_played(rows: Mapping[str, Mapping[str, Any]]) -> None:
    assert rows["bob"]["bets"] > 0
    assert rows["favourite"]["bets"] == 3 * rows["favourite"]["turns"]
    assert rows["python"]["brier_stated"] != rows["constant"]["brier_stated"]


def test_a_missing_file_is_seen_by_check_and_fails_nobody_elses_turn(tmp_path: Path) -> None:
    line_up = LINE_UP + "  - {kind: kelly, name: after-bob, of: bob}\n"
    config = demo_config(tmp_path, line_up, show=40, markets=150, events=55)
    checked = arena(tmp_path, "check", "--config", str(config))
    assert checked.returncode == 1
    assert "agents[8].file: there is no file people/bob.csv beside the config" in checked.stderr
    assert "agents[9].function: there is no mine.py beside the config" in checked.stderr
    words = ("demo", "--headless", "--rounds", "1", "--config", str(config))
    rows = agents_of(arena_json(tmp_path, *words)["leaderboard"])
    assert {name for name, row in rows.items() if row["failed"]} == {"bob", "after-bob", "python"}
