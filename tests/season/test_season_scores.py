"""A season scored by others' rules: an export, a tournament, the leaderboard; and how it was played."""

import json
import math
import shutil
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from arena.record.model.columns import ForecastColumns
from arena.scores.metaculus_scores import read_known
from tests.program.running import arena, arena_json
from tests.records.demo import six_rounds
from tests.rows import forecasts_seen, read_only


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(six_rounds(tmp_path_factory), tmp_path_factory.mktemp("scores") / "season"))


def asked(season: Path, *words: str) -> Any:
    return arena_json(season, "--database", "demo.db", *words)


@pytest.fixture(scope="module")
def board(season: Path) -> Any:
    return asked(season, "board")


def test_an_export_is_scored_as_the_record_is(season: Path, board: Any) -> None:
    """The same verdict, Brier scores, skills, intervals and peer scores as on the leaderboard."""
    asked(season, "share", "export", str(season / "out"))
    found = asked(season, "score", str(season / "out"))
    assert (found["leader"], found["pairs"]) == (board["leader"], board["pairs"])
    rows = {row["forecaster"]: row for row in found["rows"]}
    for line in board["leaderboard"]:
        row = rows[line["agent"]]
        assert row["brier"] == pytest.approx(line["brier_stated"], abs=1e-12)
        assert (row["rank_low"], row["rank_high"]) == (line["rank_low"], line["rank_high"]), line["agent"]
        if not line["is_reference"]:
            assert row["copies"] == line["copies"], line["agent"]
        if line["ranked"]:
            for name in ("skill", "skill_low", "skill_high", "events_effective", "evidence"):
                assert row[name] == pytest.approx(line[name], abs=1e-9), name

    asked(season, "share", "export", "--cohort", "1", str(season / "first"))
    first = {row["forecaster"]: row for row in asked(season, "score", str(season / "first"))["rows"]}
    for told in asked(season, "board", "--metaculus", "--cohort", "1")["metaculus"]:
        for name in ("peer", "baseline", "relative"):
            if told["agent"] in first:
                assert first[told["agent"]][name] == pytest.approx(told[name], abs=1e-6), name


def cup_of(season: Path, rules: str) -> str:
    """Write a tournament of the first cohort's agents, and return its file."""
    (season / "cup.yaml").write_text(f"cohort: 1\n{rules}\n", "utf-8")
    return "cup.yaml"


def test_a_cohort_is_a_tournament(season: Path) -> None:
    """Sums of peer scores are the leaderboard's means times the questions; who has no model wins nothing."""
    means = {row["agent"]: row for row in asked(season, "board", "--metaculus", "--cohort", "1")["metaculus"]}
    found = asked(season, "score", cup_of(season, "pool: 1000"))
    assert found["rows"]
    for row in found["rows"]:
        told = means[row["forecaster"]]
        assert row["score"] == pytest.approx(told["peer"] * told["questions"], abs=1e-6)
        assert row["coverage"] == pytest.approx(told["coverage"], abs=1e-9)
        assert row["excluded"] == told["outside"]
    assert sum(row["prize"] for row in found["rows"]) == pytest.approx(1000)
    community = means["community"]
    assert (community["outside"], community["questions"]) == (True, found["asked"])
    old = asked(season, "score", cup_of(season, "pool: 9\nform: 2022\nhidden: 1"), "--sweep")
    first = old["rows"][0]
    by_weight = next(row for row in old["sweep"] if row["forecaster"] == first["forecaster"])
    assert by_weight["prizes"]["1"] == pytest.approx(first["prize"])
    assert [*by_weight["prizes"]] == ["0", "0.25", "0.5", "0.75", "1"]


CONTRACT = {"sentence", "guarantee", "leader", "pairs"}
ROW = {"rank_low", "rank_high", "better_than", "worse_than", "price", "verdict", "price_verdict"}


def test_programs_read_one_verdict_everywhere(season: Path, board: Any) -> None:
    """Of the record; a cohort has none of its own, and says what is told over all."""
    assert board.keys() >= CONTRACT
    assert all(row.keys() >= ROW for row in board["leaderboard"])
    ranks = [row["rank_low"] for row in board["leaderboard"] if not row["is_reference"]]
    assert ranks
    assert all(ranks)
    assert {row["rank_low"] for row in board["leaderboard"] if row["is_reference"]} == {None}

    cohort = asked(season, "board", "--cohort", "1")
    assert [cohort[key] for key in ("sentence", "leader", "pairs")] == [None, None, []]
    assert cohort["over_all_cohorts"] == board["sentence"]
    assert {row["rank_low"] for row in cohort["leaderboard"]} == {None}

    whole, part = (asked(season, "board", "sharp", "hasty", *more) for more in ((), ("--cohort", "1")))
    assert whole["pair"] == part["pair"]
    assert {*whole["pair"]} >= {"told", "never", "since", "weeks_more", "better", "worse", "by"}
    assert part["rows"] < whole["rows"]
    words = arena(season, "--database", "demo.db", "board", "sharp", "hasty", "--cohort", "1").stdout
    assert f"\nOver all cohorts: {whole['sentence']}\n" in words
    assert "p =" not in words


def test_an_agent_is_shown_with_what_is_told_of_it(season: Path, board: Any) -> None:
    told = {row["agent"]: row for row in board["leaderboard"]}["sharp"]
    found = asked(season, "show", "agent", "sharp")
    assert (found["verdict"], found["price_verdict"]) == (told["verdict"], told["price_verdict"])
    words = arena(season, "--database", "demo.db", "show", "agent", "sharp").stdout
    assert f"{told['verdict']} {told['price_verdict']}" in words


def peers_by_loops(columns: ForecastColumns, outside: set[str], rounds: int) -> dict[str, float]:
    """Return sums over markets of peer scores in the first rounds of each, instant by instant."""
    by_market: dict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(columns.outcome >= 0).tolist():
        by_market[int(columns.market[row])].append(row)
    sums: dict[str, float] = defaultdict(float)
    for rows in by_market.values():
        instants = sorted({int(columns.at[row]) for row in rows})
        newest = next(row for row in rows if columns.at[row] == instants[-1])
        scheduled = max(float(columns.closes[newest]), instants[0] + 1)
        until = min(instants[rounds] if len(instants) > rounds else scheduled, scheduled)
        ends = min(float(columns.known[newest]), until)
        standing: dict[str, float] = {}
        for at, following in pairwise([*instants, math.inf]):
            said = {columns.agents[columns.agent[row]]: row for row in rows if columns.at[row] == at}
            for agent, row in said.items():
                if columns.stated[row] and not columns.early[row]:
                    chance = min(max(columns.forecast[row] / 1_000_000, 0.001), 0.999)
                    standing[agent] = math.log(chance if columns.outcome[row] == 1 else 1 - chance)
            share = max(min(following, ends) - at, 0) / (until - instants[0])
            for agent, own in standing.items():
                others = [one for name, one in standing.items() if name not in {agent, *outside}]
                sums[agent] += 100 * (own - fmean(others)) * share if others else 0
    return sums


def test_metaculus_scores_are_columns_of_the_leaderboard(season: Path, board: Any) -> None:
    """Where they are asked for by name, beside skill."""
    wanted = "agent,skill,peer,baseline,spot_peer,relative,coverage_in_time"
    asking = ("--database", "demo.db", "board", "--columns", wanted)
    lines = arena(season, *asking).stdout.splitlines()
    scores = {row["agent"]: row for row in board["metaculus"]}
    names = [row["agent"] for row in board["leaderboard"] if row["rank_low"] is not None]
    assert names
    for name in names:
        (line,) = (each for each in lines if each.split()[:1] == [name])
        own = scores[name]
        shown = (f"{own['peer']:+.2f}", f"{own['baseline']:+.2f}", f"{own['spot_peer']:+.2f}")
        assert line.split()[2:] == [*shown, f"{own['relative']:+.3f}", f"{own['coverage']:.0%}"]


def test_the_community_is_a_reference_on_the_board(season: Path, board: Any) -> None:
    """With the Brier score and the peer score of the median; in no rank and no pair."""
    scores = {row["agent"]: row for row in board["metaculus"]}
    community = scores["community"]
    asking = ("--database", "demo.db", "board", "--columns", "agent,brier_stated,peer")
    lines = arena(season, *asking).stdout.splitlines()
    below = lines[lines.index("References, not ranked") :]
    (line,) = (each for each in below if each.split()[:1] == ["community"])
    assert line.split()[1:] == [f"{community['brier']:.4f}", f"{community['peer']:+.2f}"]
    assert "community" not in {row["agent"] for row in board["leaderboard"]}

    # who states something in every round has the Brier score of the leaderboard
    first = asked(season, "board", "--cohort", "1")
    found = {row["agent"]: row for row in first["metaculus"]}
    for row in first["leaderboard"]:
        if row["agent"] in found and row["coverage"] == 1:
            assert found[row["agent"]]["brier"] == pytest.approx(row["brier_stated"], abs=0.001)


@pytest.mark.parametrize("hidden", [1, 2, 99])
def test_only_the_hidden_rounds_of_a_cohort_count(season: Path, hidden: int) -> None:
    """As plain loops over the record have it; a period longer than the season hides all of it."""
    found = asked(season, "score", cup_of(season, f"pool: 1000\nform: peer\nhidden: {hidden}"), "--sweep")
    outside = {row["forecaster"] for row in found["rows"] if row["excluded"]}
    with read_only(season / "demo.db") as connection:
        rows = forecasts_seen(connection, 1)
        columns = replace(rows, known=read_known(connection, rows)[rows.market])
    scores = {row["forecaster"]: row["score"] for row in found["rows"]}
    assert scores == pytest.approx(peers_by_loops(columns, outside, hidden))
    if hidden == 99:
        plain = asked(season, "score", cup_of(season, "pool: 1000"))["rows"]
        assert scores == pytest.approx({row["forecaster"]: row["score"] for row in plain})
    takes = {name: 0 if name in outside else max(score, 0) ** 2 for name, score in scores.items()}
    prizes = {row["forecaster"]: row["prizes"]["1"] for row in found["sweep"]}
    assert prizes == pytest.approx({name: 1000 * take / sum(takes.values()) for name, take in takes.items()})


@pytest.mark.parametrize(
    ("rules", "words", "code"),
    [
        ("pool: 5", ("--sweep",), "no_hidden"),
        ("form: 2022", ("--sweep",), "no_hidden"),
        ("hidden_weight: 0.5", (), "no_hidden"),
        ("cohort: 99", (), "no_cohort"),
        ("hidden: 2\nexclude: [nobody]", (), "unknown_name"),
    ],
)
def test_a_cohort_that_cannot_be_a_tournament(
    season: Path, rules: str, words: tuple[str, ...], code: str
) -> None:
    own = rules if rules.startswith("cohort") else f"cohort: 1\n{rules}"
    (season / "cup.yaml").write_text(own, "utf-8")
    done = arena(season, "--database", "demo.db", "score", "cup.yaml", *words, "--json")
    error = json.loads(done.stdout)["error"]
    assert (error["code"], bool(error["mend"])) == (code, True)


def test_a_hidden_period_of_a_cohort_may_count_in_part(season: Path) -> None:
    """By the weight of its rules, as a sweep has it for that weight."""
    rules = "pool: 1000\nhidden: 2"
    swept = asked(season, "score", cup_of(season, rules), "--sweep")["sweep"]
    half = asked(season, "score", cup_of(season, f"{rules}\nhidden_weight: 0.5"))
    assert half["hidden_weight"] == 0.5
    assert {row["forecaster"]: row["prize"] for row in half["rows"]} == {
        row["forecaster"]: row["prizes"]["0.5"] for row in swept
    }


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("board", "--metaculus", "--provisional"), "two_views"),
        (("board", "sharp"), "one_agent"),
        (("board", "sharp", "sharp"), "one_agent"),
        (("board", "sharp", "hasty", "blind"), "many_agents"),
        (("board", "sharp", "hasty", "--by", "price"), "not_together"),
        (("board", "sharp", "hasty", "--metaculus"), "not_together"),
        (("board", "sharp", "hasty", "--provisional"), "not_together"),
        (("board", "sharp", "hasty", "--columns", "agent"), "not_together"),
    ],
)
def test_what_makes_no_sense_on_a_board_is_refused(season: Path, words: tuple[str, ...], code: str) -> None:
    done = arena(season, "--database", "demo.db", *words, "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["code"], bool(error["mend"])) == (64, code, True)


def test_one_agent_alone_is_shown_by_another_command(season: Path) -> None:
    done = arena(season, "--database", "demo.db", "board", "sharp")
    assert (done.returncode, done.stdout) == (64, "")
    assert "arena show agent sharp --database demo.db shows one agent" in done.stderr


def test_several_files_of_forecasts_are_no_tournament(season: Path) -> None:
    done = arena(season, "score", "a.csv", "b.csv", "--json")
    assert json.loads(done.stdout)["error"]["code"] == "no_file"


def test_the_method_of_a_season(season: Path, board: Any) -> None:
    """Cohorts, models, prompts by hash, calls and costs, and the sentence, as the record has them."""
    found = asked(season, "share", "report", "--method", "-o", str(season / "method.md"))
    text = (season / "method.md").read_text("utf-8")
    assert board["sentence"] in text
    assert found["state_hash"] in text
    costs = {row["agent"]: row["cost_usd"] for row in board["leaderboard"]}
    for one in found["method"]:
        assert one["cost"] == pytest.approx(costs[one["agent"]])
        assert all(prompt in text for prompt in one["prompts"].values())
        assert sum(one["statuses"].values()) > 0
    asked_models = [one for one in found["method"] if one["model"]]
    assert asked_models
    assert all(one["calls"] and one["prompts"] and one["reported"] for one in asked_models)
    assert "Simulated markets" in text
