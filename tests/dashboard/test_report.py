"""`arena share report`: one file, the figures of the leaderboard, and text that stays text."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from subprocess import CompletedProcess
from typing import Any

import pandas as pd
import pytest

from arena.cli import demo
from arena.config import load
from arena.config.new_folder import template
from arena.scores.verdict import Verdict
from dashboard.board import COLUMNS
from dashboard.site.standings import ReportFacts, gather, report_page
from dashboard.site.write import report
from tests.builders import NOW
from tests.dashboard.opening import tables_of
from tests.dashboard.records import shared
from tests.dashboard.sites import PageParts
from tests.program.in_process import answered
from tests.program.running import arena
from tests.records.seasons import HOSTILE
from tests.rows import read_only

MARKUP = "</style></title><script>alert(1)</script><img src=http://203.0.113.9/x onerror=alert(1)>{{ 7*7 }}"


def run(record: Path, *words: str) -> CompletedProcess[str]:
    """Run the real command."""
    return arena(record.parent, "share", "report", "--database", str(record), *words)


def renamed(facts: ReportFacts, old: str, new: str) -> ReportFacts:
    """Return the same facts about an agent of another name, which no config would take."""
    rows = tuple(replace(row, agent=row.agent.replace(old, new)) for row in facts.ranking.rows)
    curves = [
        (line, tuple(replace(p, agent=p.agent.replace(old, new)) for p in points))
        for line, points in facts.curves
    ]
    agents = [replace(one, agent=one.agent.replace(old, new)) for one in facts.calibrations]
    return replace(
        facts,
        ranking=replace(facts.ranking, rows=rows),
        verdict=Verdict(f"{new} forecasts best so far."),
        curves=tuple(curves),
        calibrations=tuple(agents),
        season=replace(
            facts.season, agents=tuple((name.replace(old, new), kind) for name, kind in facts.season.agents)
        ),
    )


def program(capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, *words: object) -> Any:
    """Run the command's program in this process, and return its last line and its exit status."""
    patch.setattr(sys, "argv", ["report", *map(str, words)])
    status = report()
    return json.loads(capsys.readouterr().out.splitlines()[-1]), status


def test_a_place_that_has_no_room_is_named(
    season: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    most = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (40_000, most[1]))
    try:
        said, status = program(capsys, monkeypatch, season, tmp_path / "season.html")
    finally:
        setrlimit(RLIMIT_FSIZE, most)
    assert (said["error"]["message"], status) == (f"{tmp_path / 'season.html'}: File too large", 1)


@pytest.mark.parametrize("cohort", [None, 1])
def test_its_figures_and_its_sentence_are_those_of_the_leaderboard(
    season: Path,
    tmp_path: Path,
    cohort: int | None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "report.html"
    if cohort is None:
        said, status = program(capsys, monkeypatch, season, file)
        assert status == 0
    else:
        said = replaced(season, file, "--cohort", str(cohort))
    only = [] if cohort is None else ["--cohort", cohort]
    board = answered("board", "--database", season, *only)
    verdict = answered("board", "--database", season)["sentence"]
    assert (verdict if cohort is None else f"Over all cohorts: {verdict}") in file.read_text("utf-8")
    assert "Simulated season" in file.read_text("utf-8")
    found = re.findall("<table.*?</table>", file.read_text("utf-8"), re.DOTALL)
    tables = [table for html in found for table in tables_of(f"<div>{html}</div>")]
    rows = pd.concat(tables).groupby("agent", sort=False).first().reset_index().to_dict("records")
    assert said["agents"] == len(rows) == len(board["leaderboard"])
    keys = board["leaderboard"][0].keys() - {"skill_low", "skill_high"}  # the interval has them
    numbers = [x for x in COLUMNS if x.key in keys and x.column.format not in ("text", "times", "dollar")]
    assert len(numbers) == 28
    for row, known in zip(rows, board["leaderboard"], strict=True):
        assert row["agent"] == known["agent"]
        for column in numbers:
            shown = row.get(column.key)
            value = known[column.key]
            assert pd.isna(shown) if value is None else shown == value * column.times, column.key
    charts = file.read_text("utf-8").count('<figure class="chart"')
    assert charts == 1 + said["cohorts"] + len(rows) - 1
    assert file.read_text("utf-8").count("Open positions at mid; dashed: references.") == said["cohorts"]


def test_after_the_first_round_no_table_has_names_alone(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    record = shared("one_round", tmp_path_factory)
    with read_only(record) as connection:
        html = report_page(gather(connection, None), NOW)
    found = re.findall("<table.*?</table>", html, re.DOTALL)
    tables = [table.set_index("agent") for one in found for table in tables_of(f"<div>{one}</div>")]
    assert tables
    for table in tables:
        assert (table.notna() & (table != 0)).any(axis=None)


@pytest.mark.parametrize(("rounds", "has_results"), [(1, False), (5, True)])
def test_while_the_board_is_provisional_every_table_is_in_its_order(
    tmp_path: Path, rounds: int, has_results: bool
) -> None:
    early = tmp_path / "early.db"
    demo.play(load(template("demo.yaml"), {}), str(early), rounds)
    with read_only(early) as connection:
        facts = gather(connection, None)
    rows = tuple(replace(row, events=min(row.events, 19)) for row in facts.ranking.rows)
    html = report_page(replace(facts, ranking=replace(facts.ranking, rows=rows)), NOW)
    found = []
    for part in html.split("<h2>")[1:]:
        title = part.partition("<")[0]
        found += [(title, table) for table in re.findall("<table.*?</table>", part, re.DOTALL)]
    players = [row for row in rows if not row.is_reference]
    by_profit = sorted(players, key=lambda row: -(row.pnl or 0.0))
    assert found[0][0] == "Provisional board"
    assert "Provisional, sorted by profit: nothing is ranked before 20 events have resolved" in found[0][1]

    titles = [title for title, _ in found]
    assert ("Standings: Verdict" in titles) == has_results
    assert ("References, not ranked: Verdict" in titles) == has_results
    if not has_results:
        assert not [title for title in titles if title.startswith("References")]
    for title, table in found:
        agents = list(next(tables_of(f"<div>{table}</div>"))["agent"])
        if title.startswith("Standings") or title == "Provisional board":
            assert agents == [row.agent for row in by_profit if row.agent in agents]
            assert "Rank<" not in table


def test_nothing_in_it_acts_or_is_loaded_whatever_names_say(season: Path, tmp_path: Path) -> None:
    with read_only(season) as connection:
        facts = renamed(gather(connection, None), HOSTILE, MARKUP)
    file = tmp_path / "report.html"
    file.write_text(report_page(facts, NOW), "utf-8")
    found = PageParts(file.read_text("utf-8"))
    assert found.tags.count("script") == 1, "our own, which the policy names"
    assert not {"iframe", "link", "object", "embed", "form", "base"} & set(found.tags)
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert not found.leads
    assert "&lt;script&gt;" in file.read_text("utf-8")
    assert MARKUP in found.text
    assert re.search(r'return</h2>\s*<section class="box">', file.read_text("utf-8"))
    policy = next(value for name, value in found.attributes if value.startswith("default-src"))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def replaced(season: Path, file: Path, *words: str) -> Any:
    """Return the output of writing a file again, which happens only if replacing it is confirmed."""
    file.write_text("mine")
    refused = run(season, "-o", str(file), *words)
    assert refused.returncode == 1
    assert "already exists" in refused.stderr
    assert file.read_text() == "mine"
    done = run(season, "-o", str(file), "--force", "--json", *words)
    assert done.returncode == 0, done.stderr
    assert file.read_text("utf-8").startswith("<!doctype html>")
    assert [path.name for path in file.parent.iterdir()] == ["report.html"]
    return json.loads(done.stdout)


def test_what_cannot_be_reported_is_said_and_leaves_no_file(
    season: Path,
    empty: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "report.html"
    for record, why in ((empty, "no cohort yet"), (tmp_path / "none.db", "no record")):
        said, status = program(capsys, monkeypatch, record, file)
        assert status == 1
        assert why in said["error"]["message"]
    done = run(season, "-o", str(file), "--cohort", "9")
    assert done.returncode == 1
    assert "no cohort 9" in done.stderr
    assert "Traceback" not in done.stderr
    assert run(season, "-o", str(tmp_path / "no" / "report.html")).returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_a_season_without_results_says_so_and_shows_what_there_is(
    first_round: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.html"
    assert program(capsys, monkeypatch, first_round, file)[1] == 0
    found = PageParts(file.read_text("utf-8"))
    assert "Valued once, on 4 Jan 2026: a chart needs two valuations." in file.read_text("utf-8")
    assert "img" not in found.tags
    assert re.search("No|nobody|yet", file.read_text("utf-8"))
