"""A replay with articles from a folder: each is read when it was out, and none changes what was before."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bundles import simulated
from tests.program.command_line import ROOT
from tests.program.running import AGREES, arena, arena_json, loaded
from tests.rows import rows_in

READER = '''\
"""Believes a little more with every article on a market."""

from agents.model import Agent, Ask, Decision, Forecast, Given, View
from agents.model import KindSettings
from markets.millionths import ONE


class Settings(KindSettings):
    """Nothing to set."""


def agent(settings: Settings, given: Given) -> Agent:
    async def decide(view: View, ask: Ask) -> Decision:
        at = view.snapshot.at
        assert all(x.published_at <= at for found in view.evidence.values() for x in found)
        counts = {x.market.id: len(view.evidence.get(x.market.id, ())) for x in view.snapshot.shown}
        return Decision(tuple(Forecast(m, 0.5 + n / 20) for m, n in counts.items()))

    return decide
'''
CONFIG = """\
markets: {venue: simulator, min_volume: 0}
evidence: {from: folder, per_market: 6}
cohorts: {rounds: 3}
agents:
  - kind: reader
"""
WORDS = "title: News of {day}\npublished: {day}\nsource: Paper\nmarkets: {markets}\n\nSomething of {day}.\n"
BEFORE = ("2026-01-02", "2026-01-16", "2026-01-17")
AFTER = ("2026-01-18", "2026-02-06", "2026-02-20T10:00Z")
LEAK = "It was over on 4 May 2027. So much"
"""What an article of January can't know."""
LAST = "2026-01-18"
"""The last decision time before which the later articles were not out: 00:00 of a Sunday."""


def played(folder: Path, *days: str) -> Any:
    """Play the replay with articles of these days on every market."""
    simulated(folder / "spring", markets=15, events=6)
    (folder / "extensions").mkdir()
    (folder / "extensions" / "reader.py").write_text(READER, "utf-8")
    (folder / "config.yaml").write_text(CONFIG, "utf-8")
    (folder / "news").mkdir()
    (folder / "news" / "README.md").write_text("No article.\n", "utf-8")
    markets = ", ".join(f"simulator:{line}" for line in names(folder))
    leak = WORDS.format(day=BEFORE[0], markets=markets).replace("News of", "Old").replace("Something", LEAK)
    (folder / "news" / "leak.md").write_text(leak, "utf-8")
    for day in days:
        (folder / "news" / f"{day[:10]}.md").write_text(WORDS.format(day=day, markets=markets), "utf-8")
    return arena_json(folder, "study", "replay", "spring", "--database", "arena.db")


def names(folder: Path) -> list[str]:
    """Return the ids of the recording's markets."""
    lines = (folder / "spring" / "prices.csv").read_text("utf-8").splitlines()[1:]
    return sorted({line.split(",")[1] for line in lines})


DECIDED = """SELECT cohort.number, round.number, turn.hash, gathering.hash IS NULL
    FROM turn JOIN round ON round.id = turn.round_id JOIN cohort ON cohort.id = round.cohort_id
    LEFT JOIN gathering ON gathering.round_id = round.id WHERE round.at {} ? ORDER BY 1, 2"""
SHOWN = """SELECT round.at, article.published_at, article.dated FROM evidence
    JOIN gathering ON gathering.id = gathering_id JOIN round ON round.id = round_id
    JOIN article ON article.hash = article"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the replay with the articles before a day, and with later ones too."""
    early, late = (tmp_path_factory.mktemp(name) for name in ("early", "late"))
    played(early, *BEFORE)
    played(late, *BEFORE, *AFTER)
    return early, late


def test_articles_are_shown_from_when_they_were_out(folders: tuple[Path, Path]) -> None:
    shown = rows_in(folders[1] / "arena.db", SHOWN)
    assert {dated[:10] for _, _, dated in shown} == {day[:10] for day in (*BEFORE, *AFTER)}
    assert all(published <= at for at, published, _ in shown)
    first = min(at for at, _, dated in shown if dated == "2026-01-17")
    assert first[:10] == "2026-01-25"  # on the 18th at 00:00 UTC the day before may not be over everywhere


def test_a_later_article_changes_nothing_that_was_decided_before(folders: tuple[Path, Path]) -> None:
    early, late = folders
    until = f"{LAST}T00:00:00.000000Z"
    assert (
        rows_in(early / "arena.db", DECIDED.format("<="), until)
        == rows_in(late / "arena.db", DECIDED.format("<="), until)
        != []
    )
    assert rows_in(early / "arena.db", DECIDED.format(">"), until) != rows_in(
        late / "arena.db", DECIDED.format(">"), until
    )


def test_an_article_that_knows_too_much_is_withheld_and_kept(folders: tuple[Path, Path]) -> None:
    gatherings = [
        json.loads(text) for (text,) in rows_in(folders[1] / "arena.db", "SELECT dropped FROM gathering")
    ]
    suspects = [each for gathering in gatherings for each in gathering["audit"]["suspects"]]
    assert {(each["verdict"], each["words"], each["shown"]) for each in suspects} == {
        ("dated later", "It was over on 4 May 2027.", False)
    }
    assert sum(gathering["dated later"] for gathering in gatherings) == len(suspects) > 0
    assert rows_in(folders[1] / "arena.db", "SELECT count(*) FROM article WHERE text LIKE ?", "%2027%") == [
        (0,)
    ]


def test_the_record_verifies_and_says_what_was_set_aside(folders: tuple[Path, Path]) -> None:
    folder = folders[1]
    assert arena_json(folder, "admin", "verify", "--database", "arena.db").items() >= AGREES.items()
    words = ("show", "markets", "--rejected", "--kind", "article", "--database", "arena.db")
    (aside,) = arena_json(folder, *words)["rejected"]
    assert (aside["venue"], aside["record"], aside["code"]) == ("folder", "README.md", "malformed")


def test_playing_it_again_in_another_process_gathers_nothing(folders: tuple[Path, Path]) -> None:
    folder = folders[0]
    gathered = "SELECT id, hash FROM gathering ORDER BY id"
    before = rows_in(folder / "arena.db", gathered)
    (folder / "news" / "2026-01-02.md").unlink()
    assert loaded().start(folder, "study", "replay", "spring", "--database", "arena.db").wait() == 0
    assert rows_in(folder / "arena.db", gathered) == before != []


def test_check_says_where_articles_come_from(folders: tuple[Path, Path]) -> None:
    folder = folders[0]
    assert "evidence  folder" in arena(folder, "check").stdout
    assert arena_json(folder, "check")["guard"] == {"per_market": 6, "characters": 1_000, "restricted": []}


def test_the_source_that_the_page_shows_is_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "news.md").read_text("utf-8")
    code = page.split("```python\n")[-1].split("```")[0]
    (tmp_path / "extensions" / "research").mkdir(parents=True)
    (tmp_path / "extensions" / "research" / "same.py").write_text(code, "utf-8")
    block = "evidence: {from: same, same: {title: Hello}}\n"
    lines = f"markets: {{venue: simulator}}\n{block}agents: [{{kind: market}}]\n"
    (tmp_path / "config.yaml").write_text(lines, "utf-8")
    words = ("demo", "--headless", "--rounds", "2", "--config", "config.yaml", "--database", "arena.db")
    assert arena_json(tmp_path, *words)["turns"] == 3
    assert rows_in(tmp_path / "arena.db", "SELECT DISTINCT source, title FROM article") == [
        ("My paper", "Hello")
    ]
    assert min(at for at, _, _ in rows_in(tmp_path / "arena.db", SHOWN))[:10] == "2026-01-11"
    assert arena_json(tmp_path, "admin", "verify", "--database", "arena.db")["ok"]
