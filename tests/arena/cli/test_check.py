"""What `arena check` says of a config; mistakes end in exit status 1."""

import json
from pathlib import Path

import pytest

from arena.config import load
from tests.arena.cli.test_main import ROOT, arena
from tests.arena.config_files import SMALL, write


def test_check_lists_the_next_cohort_as_json() -> None:
    config = load(ROOT / "examples/demo.yaml")
    done = arena("check", "--json", "--config", "examples/demo.yaml")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["ok"] is True
    assert found["venue"] == "simulator"
    assert (found["rounds"], found["cohorts"]) == (config.cohorts.rounds, config.cohorts.count)
    assert found["first_start"] == "2026-01-04T00:00:00+00:00"
    assert found["rules"]["fill"] == "book"
    assert found["universe"] == config.markets.universe.model_dump(mode="json")
    assert found["agents"][-1] == {
        "name": "kelly", "kind": "kelly", "model": None, "of": ["sharp"], "settings": {"of": "sharp"},
        "thinking": None,
    }  # fmt: skip


@pytest.mark.parametrize("flags", [["--config", "x.yaml", "check"], ["check", "--config", "x.yaml"]])
def test_check_tells_every_mistake_with_its_line_and_ends_in_status_1(
    tmp_path: Path, flags: list[str]
) -> None:
    write(tmp_path, SMALL.replace("rounds: 5", "rounds: five") + "extra: 1\n", "x.yaml")
    done = arena(*flags, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    known = (
        "agents, ask, backup, budget, calls, cohorts, database, evidence, heads, markets, public, publish, "
        "run, scores, season, seed, watch"
    )
    wrong = 'found "five", expected a whole number of rounds, or a duration such as "5 weeks"'
    unknown = f"x.yaml:7: extra: unknown key. Choose from: {known}"
    assert " ".join(done.stderr.split()) == f"x.yaml:4: cohorts.rounds: {wrong} {unknown}"


def test_check_tells_mistakes_as_json_part_by_part(tmp_path: Path) -> None:
    write(tmp_path, SMALL.replace("market\n", "markte\n"))
    done = arena("check", "--json", cwd=tmp_path)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, done.stderr, error["code"]) == (1, "", "config")
    assert error["errors"] == [
        {
            "file": "config.yaml",
            "line": 6,
            "key": "agents[0].kind",
            "found": '"markte"',
            "meant": "market",
            "message": 'there is no kind "markte". Did you mean "market"?',
        }
    ]


@pytest.mark.parametrize(
    ("cohorts", "line"),
    [
        ("decide: 15m", "5 a cohort, 15m: 1 h 15 min of each week (`rounds: 1 week` plays all of it); the"),
        ("decide: daily", "5 a cohort, daily: 5 d of each week (`rounds: 1 week` plays all of it); the"),
        ("decide: daily, rounds: 1 week", "7 a cohort, daily; the newest 5 cohorts decide"),
        ("decide: 15m, count: 1", "5 a cohort, 15m; the newest 5 cohorts decide"),
        ("decide: 5d, rounds: 1", "1 a cohort, 5d; the newest 5 cohorts decide"),
        ("decide: weekly", "5 a cohort, weekly; the newest 5 cohorts decide"),
    ],
)
def test_check_says_how_much_of_a_week_is_played(tmp_path: Path, cohorts: str, line: str) -> None:
    small = "markets: {venue: simulator, simulator: {start: 2026-01-04, weeks: 4, markets: 20, events: 8}}\n"
    write(tmp_path, f"{small}cohorts: {{{cohorts}}}\nagents: [{{kind: market}}]\n")
    assert line in " ".join(arena("check", cwd=tmp_path).stdout.split())


def test_check_looks_for_the_keys_of_the_models(tmp_path: Path) -> None:
    write(tmp_path, SMALL + "  - model: openai/some\n")
    assert "needs OPENAI_API_KEY.\n" in arena("check", cwd=tmp_path).stdout
    write(tmp_path, "OPENAI_API_KEY=canary\n", ".env")
    found = arena("check", cwd=tmp_path)
    assert (found.returncode, "Waiting" in found.stdout) == (0, False)
    assert "canary" not in found.stdout + found.stderr


ARTICLE = "title: Rain\npublished: 2026-01-02\nsource: Paper\n\nIt rains.\n"


@pytest.mark.parametrize(
    ("texts", "line", "warns"),
    [
        ([ARTICLE, ARTICLE], "folder: 2 of 2 files are articles", False),
        ([ARTICLE, "Rain."], "folder: 1 of 2 files are articles", True),
        (["Rain."] * 3, "folder: 0 of 3 files are articles", True),
        ([], "folder: 0 of 0 files are articles", True),
    ],
)
def test_check_counts_the_articles_of_a_folder(
    tmp_path: Path, texts: list[str], line: str, warns: bool
) -> None:
    write(tmp_path, SMALL + "evidence: {from: folder, folder: {path: news}}\n")
    (tmp_path / "news").mkdir()
    for number, text in enumerate(texts):
        write(tmp_path / "news", text, f"{number}.md")
    done = arena("check", cwd=tmp_path)
    assert (done.returncode, f"evidence  {line}\n" in done.stdout) == (0, True)
    assert ("→ give each file the form in docs/news.md" in done.stdout) == warns


def test_the_database_option_goes_before_the_config(tmp_path: Path) -> None:
    write(tmp_path, SMALL)
    url = "postgresql+psycopg://me:canary@db.example/arena"
    found = json.loads(arena("--database", url, "check", "--json", cwd=tmp_path).stdout)
    assert found["database"] == "postgresql+psycopg://me:***@db.example/arena"


@pytest.mark.parametrize(
    ("venue", "rule", "told"),
    [
        ("manifold", "not_tags: [ai]", "markets.not_tags asks for: it excludes nothing"),
        ("polymarket", "min_open_interest: 5", "no market is ever on offer"),
        ("polymarket", "min_open_interest: 5, unknown_figures: true", "it excludes nothing"),
        ("kalshi", "min_open_interest: 5, not_tags: [ai]", ""),
    ],
)
def test_check_says_which_keys_a_venue_tells_nothing_of(
    tmp_path: Path, venue: str, rule: str, told: str
) -> None:
    write(tmp_path, f"markets: {{venue: {venue}, {rule}}}\nagents: [{{kind: market}}]\n")
    done = arena("check", cwd=tmp_path)
    text = " ".join(done.stdout.split())
    assert (done.returncode, "does not report" in text) == (0, bool(told)), done
    assert told in text


def test_check_says_which_keys_of_a_preset_season_the_config_sets_itself(tmp_path: Path) -> None:
    fast = "season: fast\nmarkets: {venue: simulator, closes_within: 2w, order: lot}\n"
    write(tmp_path, fast + "cohorts: {decide: weekly}\nagents: [{kind: market}]\n")
    text = " ".join(arena("check", cwd=tmp_path).stdout.split())
    assert "The config itself sets markets.order, cohorts.decide, so `season: fast` does not" in text
    write(tmp_path, "season: fast\nmarkets: {venue: simulator}\nagents: [{kind: market}]\n")
    assert "season: fast" not in arena("check", cwd=tmp_path).stdout


def test_of_a_public_season_a_mock_turn_without_a_forecast_is_an_error(tmp_path: Path) -> None:
    text = SMALL.replace("  - kind: market\n", "  - {name: sharp, model: demo/sharp, prompt_tokens: 1000}\n")
    write(tmp_path, text)
    assert arena("check", cwd=tmp_path).returncode == 0
    write(tmp_path, f"public: true\n{text}")
    failed = arena("check", cwd=tmp_path)
    assert (failed.returncode, "so many forecasts: sharp 0." in failed.stdout) == (1, True)
    write(tmp_path, f"public: true\n{text}".replace("1000", "90000"))
    assert "so many forecasts: sharp 40." in arena("check", cwd=tmp_path).stdout


def test_a_folder_that_is_not_there_is_not_taken_for_a_recording(tmp_path: Path) -> None:
    done = arena("check", "minne", cwd=tmp_path)
    assert done.returncode == 1
    assert (
        "there is no file or folder minne\n→ name a folder of questions, a recording or a cassette"
        in done.stderr
    )


def test_a_config_in_place_of_a_folder_is_told_its_option(tmp_path: Path) -> None:
    (tmp_path / "my config.yaml").write_text("markets: {venue: simulator}\n", "utf-8")
    done = arena("check", "my config.yaml", cwd=tmp_path)
    assert done.returncode == 64
    assert "arena check --config 'my config.yaml'" in done.stderr
