"""The page of a duel: what it says is what the command says, and its figures are those worked out."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from arena.scores.leaderboard import read_leaderboard
from arena.scores.profiles.duels import DUELS, DuelDetails, compute_duels
from arena.scores.profiles.inputs import read_inputs
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.verdict import PairVerdict, Verdict
from dashboard.views.duel import figures, heading, verdict_time_text
from dashboard.words import with_true_minus
from tests.arena.stated_rows import only
from tests.dashboard.opening import Show, healthy, in_address, tables, tiles, words
from tests.dashboard.records import shared
from tests.records.seasons import HOSTILE
from tests.rows import read_only


def fought(season: Path, a: str) -> tuple[DuelDetails, ...]:
    with read_only(season) as connection:
        kept = DUELS.read(connection, a)
    assert kept is not None
    return kept.value


def of(season: Path, a: str, b: str) -> DuelDetails:
    return next(one for one in fought(season, a) if one.duel.b == b)


def test_each_bar_of_the_spread_is_on_one_side(season: Path) -> None:
    """0 is exactly an edge, so no bar that is right of it has the colour of the left."""
    spread = [found for found in fought(season, "oracle") if found.differences]
    assert spread
    for found in spread:
        assert 0.0 in found.edges
        assert sum(low < 0 for low in found.edges[:-1]) == len(found.differences) / 2


def test_a_market_that_an_old_record_shows_twice_in_a_round_counts_once(season: Path) -> None:
    with read_only(season) as connection:
        inputs = read_inputs(connection)
    places = np.arange(len(inputs.stated.outcome)).repeat(2)
    twice = replace(inputs, stated=only(inputs.stated, places))
    assert compute_duels(twice)["oracle"][0].for_a == compute_duels(inputs)["oracle"][0].for_a


def test_the_spread_counts_the_events_of_the_duel(season: Path) -> None:
    """Markets of one story are one event, whatever events their venue sees in them."""
    with read_only(season) as connection:
        inputs = read_inputs(connection)
    stated = inputs.stated
    assert len(stated.events) > 1
    stated = replace(stated, stories=("all",), story=np.zeros_like(stated.story))
    details = compute_duels(replace(inputs, stated=stated))["oracle"]
    assert [found.duel.events for found in details] == [1] * len(details)
    assert all(sum(found.differences) <= 1 for found in details)


def test_it_says_how_many_events_an_interval_takes(season: Path, show: Show) -> None:
    said = words(show("duel", season, a="oracle", b="random"))
    assert f"an interval takes {ENOUGH_EVENTS:.0f} events of equal size" in said


def bare(text: str) -> str:
    """Return words as they are read, without the marks of Markdown."""
    return text.replace("\\", "").replace("\u2060", "").replace("*", "")


@pytest.mark.parametrize(("a", "b"), [("oracle", "random"), ("constant", "oracle"), ("market", HOSTILE)])
def test_it_says_what_the_command_says(season: Path, show: Show, a: str, b: str) -> None:
    page = show("duel", season, a=a, b=b)
    told = CliRunner().invoke(app, ["board", a, b, "--database", str(season)])
    assert told.exit_code == 0, told.output
    found = of(season, a, b)
    about, gap, *rest = told.output.splitlines()
    shown = dict(tiles(page))
    for label, noun in (("Common forecasts", "common forecast"), ("Markets", "market"), ("Events", "event")):
        assert re.search(rf"\b{shown[label]} {noun}s?\b", about)
    assert re.findall(r"([\d.]+) effective", about) == re.findall(r"(\d+\.\d) effective events", words(page))
    if found.duel.reason:
        assert all(line in bare(words(page)) for line in (gap, *rest))
    else:
        assert gap.split(" (")[0] in bare(words(page))


def test_it_says_what_the_verdict_tells_of_the_pair_as_the_command_does(
    show: Show, tmp_path_factory: pytest.TempPathFactory
) -> None:
    demo = shared("demo", tmp_path_factory)
    with read_only(demo) as connection:
        verdict = read_leaderboard(connection).verdict
    assert verdict is not None
    assert verdict.pairs
    for pair in verdict.pairs[:2]:
        page = show("duel", demo, a=pair.better, b=pair.worse)
        told = CliRunner().invoke(app, ["board", pair.better, pair.worse, "--database", str(demo)])
        assert pair.sentence == bare(page.title[0].value)
        assert pair.sentence in " ".join(told.output.split())
        assert bare(words(page)).count(pair.sentence) == 1
        table = tables(page)[-1].set_index("Against")
        row = table.loc[pair.worse]
        assert row["Verdict"] == verdict_time_text(pair)
        assert "Better" not in table or row["Better"] == (pair.better if pair.since else None)
        assert "oracle" in table.index, "against references too, of whom nothing is told"
        assert pd.isna(table.loc["oracle"]["Verdict"])


def test_what_each_cost_stands_on_the_page_as_the_command_has_it(
    show: Show, tmp_path_factory: pytest.TempPathFactory
) -> None:
    demo = shared("demo", tmp_path_factory)
    page = show("duel", demo, a="sharp", b="hasty")
    told = CliRunner().invoke(app, ["board", "sharp", "hasty", "--database", str(demo)])
    cost, skill = told.output.splitlines()[-2:]
    assert cost.startswith("Cost: sharp $")
    assert skill.startswith("Skill per dollar: sharp ")
    assert cost in bare(words(page))
    assert "These costs are simulated: no money was paid." in bare(words(page))
    assert with_true_minus(skill) in bare(words(page))


def test_its_figures_are_those_that_were_worked_out(season: Path, show: Show) -> None:
    page = show("duel", season, a="oracle", b="random")
    found = of(season, "oracle", "random")
    assert dict(tiles(page)) == {tile.label: tile.value for tile in figures(found.duel, None)}
    for_a, for_b, all_duels = (table for table in tables(page))
    assert list(for_a["Market"]) == [one.question for one in found.for_a]
    assert list(for_b["Share"]) == [one.share for one in found.for_b]
    assert (for_a["Share"] > 0).all()
    assert (for_b["Share"] < 0).all()
    known = {one.duel.b: one.duel for one in fought(season, "oracle")}
    assert set(all_duels["Against"]) == set(known)
    for name, gap in zip(all_duels["Against"], all_duels["Gap"], strict=True):
        assert math.isclose(gap, known[name].gap or 0.0, abs_tol=1e-12)


def test_two_that_are_chosen_stand_in_the_address(season: Path, show: Show) -> None:
    page = show("duel", season, a="oracle", b="random")
    assert [box.value for box in page.selectbox] == ["oracle", "random"]
    page.selectbox[1].select("constant")
    page = healthy(page.run())
    assert (in_address(page, "a"), in_address(page, "b")) == ("oracle", "constant")
    assert "oracle against constant" in bare(words(page))
    assert "Simulated season" in words(page)


def test_an_agent_is_never_held_against_itself(season: Path, show: Show) -> None:
    page = show("duel", season, a="oracle", b="oracle")
    assert page.selectbox[0].value == "oracle"
    assert page.selectbox[1].value != "oracle"


@pytest.mark.parametrize(
    ("since", "weeks", "said", "title"),
    [
        (
            "2026-03-12",
            None,
            "since 12 March 2026",
            "ann forecasts better than bob since 12 March 2026.",
        ),
        (
            None,
            5.6,
            "would take about 6 more weeks",
            "ann and bob cannot be told apart yet (would take about 6 more weeks).",
        ),
    ],
)
def test_a_pair_is_told_since_a_day_or_in_some_weeks(
    since: str | None, weeks: float | None, said: str, title: str
) -> None:
    pair = PairVerdict("ann", "bob", 0.01, since, 1.0, weeks)
    assert verdict_time_text(pair) == said
    assert heading("bob", "ann", Verdict(pairs=(pair,))) == title


def test_of_two_that_are_no_entries_the_heading_tells_nothing() -> None:
    assert heading("oracle", "market", Verdict()) == "oracle against market"
    assert verdict_time_text(None) == "–"
