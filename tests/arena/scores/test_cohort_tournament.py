"""A cohort with questions of every kind as a tournament: peer scores, the seed's takes, the file's form."""

import json
import math
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from arena.record.queries.answers import read_answer_columns
from arena.scores.all_kinds import read_all_kinds
from arena.scores.cohort_tournament import read_cohort_tournament
from arena.scores.files.score_choices import ScoreChoices
from arena.scores.files.scores import score_file
from arena.scores.files.tournament import TournamentSettings
from tests.program.rehearsal import rows
from tests.program.running import arena_json
from tests.records.full_record import week
from tests.records.question_season import play
from tests.rows import read_only

HIDDEN = 1
RULES = TournamentSettings.model_validate({"form": "2022", "cohort": 1})
POINTS = {"multiple_choice": 100, "numeric": 50, "date": 50}
"""What a step of e in probability earns in peer scores."""


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a season in which everybody answered everything, with a hidden round."""
    folder = tmp_path_factory.mktemp("kinds")
    play(folder / "demo.db", hidden=HIDDEN).close()
    return folder


def cup(season: Path, rules: str, *words: str) -> Any:
    (season / "cup.yaml").write_text(rules, "utf-8")
    return arena_json(season, "score", "cup.yaml", "--database", "demo.db", *words)


def test_peer_scores_of_all_kinds_are_those_of_the_table_of_the_record(tmp_path: Path) -> None:
    """Sums of what the engine of files scores of the same record: options and numbers count as there."""
    play(tmp_path / "demo.db").close()
    found = cup(tmp_path, "cohort: 1\npool: 100\n")
    with read_only(tmp_path / "demo.db") as connection:
        table = read_all_kinds(connection, 1)
    scored = score_file(table, choices=ScoreChoices(outside=table.outside, references=table.references))
    peers = {row.forecaster: row.peer * row.questions for row in scored.rows if row.peer is not None}
    assert {row["forecaster"]: row["score"] for row in found["rows"]} == pytest.approx(peers, abs=1e-3)
    kinds = {form.kind for form in table.forms if form.ended}
    assert kinds == {"choice", "number"}
    assert found["asked"] == len([form for form in table.forms if form.ended]) + len(
        {
            question
            for question, outcome in zip(table.question, table.outcome, strict=True)
            if outcome in (0, 1)
        }
    )


def test_prizes_of_all_kinds_are_those_of_the_files_form(season: Path) -> None:
    """In both forms, the hidden period from the cohort."""
    for form in ("2022", "peer"):
        rules = f"form: {form}\npool: 1000\n"
        of_cohort = cup(season, f"cohort: 1\n{rules}", "--entries", "cup.csv", "--force")
        more = ""
        if form == "peer":
            more = "exclude: [flat]\noutside: [flat]\n"
        of_file = cup(season, f"forecasts: cup.csv\nhidden_weight: 1\n{rules}{more}")
        file_rows = {row["forecaster"]: row for row in of_file["rows"]}
        assert len(file_rows) == len(of_cohort["rows"]) == 4
        for row in of_cohort["rows"]:
            other = file_rows[row["forecaster"]]
            keys = ("score", "coverage", "take", "prize")
            assert [row[key] for key in keys] == pytest.approx([other[key] for key in keys], rel=1e-9)


def test_an_option_question_scores_by_what_was_given_to_the_option_that_happened(season: Path) -> None:
    """The relative log score of seed 001, worked out from the stored texts of the answers."""
    with read_only(season / "demo.db") as connection:
        answers = read_answer_columns(connection, 1)
        played = read_cohort_tournament(connection, RULES, 1)
    entries = played.entries
    stored = """SELECT e.name, f.market_id, r.number, f.distribution, v.form, o.answer FROM forecast f
        JOIN turn t ON t.id = f.turn_id JOIN round r ON r.id = t.round_id
        JOIN entrant e ON e.id = t.entrant_id
        JOIN market_version v ON v.market_id = f.market_id JOIN resolution o ON o.market_id = f.market_id
        WHERE f.market_id LIKE 'q:multiple_choice%' AND o.answer <> ''"""
    expected: dict[tuple[str, str, float], float] = {}
    for name, market, number, said, form, answer in rows(season, stored, "demo.db"):
        options = json.loads(form)["options"]
        chances = json.loads(said)["chances"]
        chance = chances[options.index(answer)] / 1_000_000
        expected[name, market, week(number - 1).timestamp()] = min(max(chance, 0.001), 0.999)
    found = {}
    for place, market in enumerate(entries.questions[one] for one in entries.question.tolist()):
        if market.startswith("q:multiple_choice"):
            key = entries.forecaster[entries.who[place]], market, float(entries.start[place])
            found[key] = float(entries.stated[place])
    assert expected
    assert found == pytest.approx(expected, abs=1e-6)
    assert answers.markets


def test_a_hidden_round_alone_counts_as_coverage_of_what_was_asked_in_it(
    season: Path, tmp_path: Path
) -> None:
    """Who was silent in it on some kinds loses coverage there, whatever was said later."""
    whole = {row["forecaster"]: row["coverage"] for row in cup(season, "cohort: 1\nform: 2022\n")["rows"]}
    assert len(set(whole.values())) == 1
    play(tmp_path / "demo.db", hidden=HIDDEN, silent=("cid",)).close()
    found = {row["forecaster"]: row for row in cup(tmp_path, "cohort: 1\nform: 2022\n")["rows"]}
    assert found["ann"]["coverage"] == whole["ann"]
    assert 0 < found["cid"]["coverage"] < whole["cid"]
    assert found["cid"]["questions"] < found["ann"]["questions"]


def test_the_hidden_period_of_all_kinds_ends_with_the_cohorts_hidden_rounds(tmp_path: Path) -> None:
    """Also of kinds that were not shown again after it."""
    record = play(tmp_path / "demo.db", hidden=HIDDEN, asked_once=("multiple_choice", "numeric", "date"))
    entries = record.read(read_cohort_tournament, RULES, 1).entries
    assert entries.hidden_until is not None
    ends = set(entries.hidden_until[~np.isnan(entries.hidden_until)].tolist())
    assert ends == {week(HIDDEN).timestamp()}


def test_takes_of_all_kinds_by_loops(season: Path) -> None:
    """Each question's spans one after another: e to the sum of relative logs, times the mean coverage."""
    found = cup(season, "cohort: 1\nform: 2022\npool: 1000\n")
    with read_only(season / "demo.db") as connection:
        entries = read_cohort_tournament(connection, RULES, 1).entries
    own: dict[int, list[int]] = defaultdict(list)
    for place, question in enumerate(entries.question.tolist()):
        own[question].append(place)
    assert entries.hidden_until is not None
    scores: dict[str, float] = defaultdict(float)
    covered: dict[str, float] = defaultdict(float)
    for places in own.values():
        first = places[0]
        opens, ends, planned = (
            float(part[first]) for part in (entries.opens, entries.closes, entries.scheduled)
        )
        until = float(entries.hidden_until[first])
        until = planned if math.isnan(until) else until
        cuts = {opens, until, ends, *(float(entries.start[one]) for one in places)}
        times = sorted(time for time in cuts if opens <= time <= ends)
        for at, following in pairwise(times):
            stands = {
                entries.forecaster[entries.who[one]]: float(entries.stated[one])
                for one in places
                if entries.start[one] <= at < entries.end[one]
            }
            for agent, chance in stands.items():
                relative = math.log(chance) - math.log(median(stands.values()))
                scores[agent] += relative * (following - at) / (planned - opens)
                covered[agent] += max(min(following, until) - at, 0) / (until - opens)
    takes = {agent: math.exp(scores[agent]) * covered[agent] / len(own) for agent in scores}
    assert {row["forecaster"]: row["take"] for row in found["rows"]} == pytest.approx(takes)


def test_the_boards_peer_and_spot_scores_of_each_kind_by_loops(season: Path) -> None:
    """Of what was given to what happened: over the life of each question, and as it closed."""
    found = arena_json(season, "board", "--metaculus", "--database", "demo.db")["metaculus_kinds"]
    with read_only(season / "demo.db") as connection:
        entries = read_cohort_tournament(connection, RULES, 1).entries
    peers: dict[tuple[str, str], list[float]] = defaultdict(list)
    spots: dict[tuple[str, str], list[float]] = defaultdict(list)
    for question, name in enumerate(entries.questions):
        kind = name.removeprefix("q:").partition("-")[0]
        places = [place for place, one in enumerate(entries.question.tolist()) if one == question]
        if kind not in POINTS or not places:
            continue
        first = places[0]
        opens, ends, planned = (float(x[first]) for x in (entries.opens, entries.closes, entries.scheduled))
        own: dict[str, float] = defaultdict(float)
        spot: dict[str, float] = {}
        times = sorted({float(entries.start[one]) for one in places} | {ends})
        for at, following in pairwise(times):
            stands = {
                entries.forecaster[entries.who[one]]: math.log(entries.stated[one])
                for one in places
                if entries.start[one] <= at < entries.end[one]
            }
            spot = {}
            for agent, log in stands.items():
                others = [other for who, other in stands.items() if who not in (agent, "flat")]
                spot[agent] = POINTS[kind] * (log - sum(others) / len(others))
                own[agent] += spot[agent] * (following - at) / (planned - opens)
        for agent, score in own.items():
            peers[kind, agent].append(score)
            spots[kind, agent].append(spot[agent])

    assert set(found) == set(POINTS)
    for kind, board in found.items():
        told = {row["agent"]: row for row in board}
        assert told["community"]["outside"]
        assert told["flat"]["outside"]
        for agent in ("ann", "bob", "cid", "flat"):
            own_peers = peers[kind, agent]
            assert told[agent]["questions"] == len(own_peers)
            assert told[agent]["peer"] == pytest.approx(sum(own_peers) / len(own_peers))
            own_spots = spots[kind, agent]
            assert told[agent]["spot_peer"] == pytest.approx(sum(own_spots) / len(own_spots))
