"""Pages, site, report and JSON of a season say one verdict, and no other."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from arena.cli import demo as demo_command
from arena.cli.main import app
from arena.config import load
from arena.config.new_folder import template
from arena.scores.leaderboard import read_leaderboard
from arena.scores.verdict import Verdict
from dashboard.site.standings import gather, report_page
from dashboard.words import JOINER
from tests.builders import NOW
from tests.dashboard.opening import Show, markup, tables, words
from tests.dashboard.records import shared
from tests.dashboard.sites import PageParts, PublishedSite
from tests.once import made_once
from tests.records.seasons import worked_out
from tests.rows import read_only

FORBIDDEN = ("proven", "too close", "ahead of the market", "holm", "p =", "p <")
"""What no page says: these were other verdicts than the one."""
OPENED: tuple[tuple[str, dict[str, str]], ...] = (
    ("arena", {}),
    ("leaderboard", {}),
    ("leaderboard", {"columns": "all"}),
    ("leaderboard", {"cohort": "1"}),
    ("cohort", {"cohort": "1"}),
    ("agent", {"agent": "sharp"}),
    ("agent", {"agent": "oracle", "part": "money"}),
    ("duel", {"a": "sharp", "b": "hasty"}),
    ("duel", {"a": "sharp", "b": "oracle"}),
    ("how", {}),
    ("glossary", {}),
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shared("demo", tmp_path_factory)


@pytest.fixture(scope="module")
def site(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> PublishedSite:
    """Return the site of the demo, made once for all processes and only read."""
    made = made_once("demo's site", tmp_path_factory, lambda path: PublishedSite(path / "site").publish(demo))
    return PublishedSite(made / "site")


@pytest.fixture
def connection(demo: Path) -> Iterator[Connection]:
    with read_only(demo) as found:
        yield found


@pytest.fixture
def verdict(connection: Connection) -> Verdict:
    found = read_leaderboard(connection).verdict
    assert found is not None
    assert len([one for one in found.agents if one.rank_low is not None]) > 1
    return found


def bare(text: str) -> str:
    """Return words as they are read, without the marks of Markdown."""
    return " ".join(text.replace("\\", "").replace(JOINER, "").replace("\u00a0", " ").split())


def every_word(page: AppTest) -> str:
    """Return all text of a page, including its tables."""
    cells = [re.sub("<[^>]+>", " ", html) for html in markup(page)]
    return bare("\n".join([words(page), *cells]))


def said_twice(text: str) -> set[str]:
    return {word for word in FORBIDDEN if re.search(rf"\b{word}", text, re.IGNORECASE)}


@pytest.mark.parametrize(("view", "address"), OPENED)
def test_no_page_says_another_verdict(demo: Path, show: Show, view: str, address: dict[str, str]) -> None:
    assert said_twice(every_word(show(view, demo, **address))) == set()


def test_the_same_sentence_stands_wherever_the_verdict_does(
    demo: Path, show: Show, connection: Connection, verdict: Verdict, site: PublishedSite
) -> None:
    texts = {path: bare(page.text) for path, page in site.pages().items()}
    report = bare(PageParts(report_page(gather(connection, None), NOW)).text)
    home = show("arena", demo)
    title = bare(home.title[0].value)
    assert {path: found for path, text in texts.items() if (found := said_twice(text))} == {}
    assert said_twice(report) == set()

    assert verdict.sentence.startswith(title)
    rest = verdict.sentence.removeprefix(title).strip()
    assert rest in bare(words(home))
    assert title in texts["index.html"]
    assert rest in texts["index.html"]
    for text in (bare(words(show("leaderboard", demo))), texts["agents.html"], report):
        assert f"{verdict.sentence} {verdict.guarantee}".strip() in text
    for text in (bare(words(show("cohort", demo, cohort="1"))), texts["cohorts/1.html"]):
        assert f"Over all cohorts: {verdict.sentence}" in text

    data = json.loads(site.files()["data.json"])
    told = CliRunner().invoke(app, ["board", "--json", "--database", str(demo)])
    assert told.exit_code == 0, told.output
    command = json.loads(told.stdout)
    assert data["sentence"] == command["sentence"] == verdict.sentence
    assert data["guarantee"] == command["guarantee"] == verdict.guarantee
    assert len(data["pairs"]) == len(verdict.told)


def test_references_stand_in_a_group_of_their_own_on_the_site(site: PublishedSite) -> None:
    page = site.folder.joinpath("index.html").read_text("utf-8")
    board, _, apart = page.partition('class="group"')
    assert 'data-label="Agent" title="sharp"' in board
    assert 'data-label="Agent" title="oracle"' not in board
    assert 'title="oracle"' in apart
    assert 'title="sharp"' not in apart


def test_before_there_are_intervals_the_board_is_provisional(show: Show, tmp_path: Path) -> None:
    early = tmp_path / "early.db"
    demo_command.play(load(template("demo.yaml"), {}), str(early), 1)
    worked_out(early)
    with read_only(early) as connection:
        board = read_leaderboard(connection)
    assert board.verdict is not None
    players = [row for row in board.rows if not row.is_reference]
    page = show("arena", early)
    table = next(table for table in tables(page) if "agent" in table)
    assert set(table["agent"]) == {row.agent for row in players}
    assert list(table["pnl"]) == sorted(table["pnl"], reverse=True)
    assert {"pnl", "invested", "distance"} <= set(table.columns)
    assert not {"closer", "better", "rank"} & set(table.columns)
    known = {row.agent: row for row in players}
    for _, shown in table.iterrows():
        row = known[shown["agent"]]
        assert (shown["pnl"], shown["invested"]) == (row.pnl, row.invested)
        assert shown["distance"] == pytest.approx(100 * (row.distance or 0))
    assert "Provisional" in every_word(page)
    assert bare(page.title[0].value) in board.verdict.sentence


def test_where_every_turn_failed_the_first_page_says_so(
    show: Show, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page = show("arena", shared("all_failed", tmp_path_factory))
    said = bare(page.title[0].value)
    assert said.startswith("No agent gave a usable answer in ")
    table = tables(page)[0]
    assert set(table["agent"]) == {"ann", "bob"}
    assert "Provisional" in every_word(page)
