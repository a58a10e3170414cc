"""A new kind of agent is one file and one line in the config, and nothing else."""

from pathlib import Path

from tests.program.command_line import ROOT
from tests.program.running import agents_of, arena, arena_json, demo_config

CONTRARIAN = '''\
"""States the opposite of the price."""

from arena.extend import Agent, Ask, Decision, Forecast, Given, KindSettings, View


class Settings(KindSettings):
    """Nothing to set."""


def agent(settings: Settings, given: Given) -> Agent:
    async def decide(view: View, ask: Ask) -> Decision:
        priced = [(x.market.id, x.mid / 1_000_000) for x in view.snapshot.shown if x.mid is not None]
        return Decision(tuple(Forecast(market_id, 1 - price) for market_id, price in priced))

    return decide
'''
LINE_UP = "  - kind: market\n  - kind: contrarian\n  - kind: other\n"


def test_a_file_beside_the_config_is_a_kind(tmp_path: Path) -> None:
    """In `extensions`, or in the folder for kinds there; the arena's own kinds are found in the same way."""
    (tmp_path / "extensions" / "kinds").mkdir(parents=True)
    for name in ("contrarian", "kinds/other"):
        (tmp_path / "extensions" / f"{name}.py").write_text(CONTRARIAN, "utf-8")
    config = demo_config(tmp_path, LINE_UP, show=20, markets=100, events=40)
    words = ("demo", "--headless", "--rounds", "4", "--config", str(config))
    rows = agents_of(arena_json(tmp_path, *words)["leaderboard"])
    for name in ("contrarian", "other"):
        assert (rows[name]["kind"], rows[name]["coverage"]) == (name, 1)
        assert rows[name]["resolved"] == rows["market"]["resolved"] > 0
        assert rows[name]["skill"] < 0


def test_the_recipes_show_this_very_file() -> None:
    assert CONTRARIAN in (ROOT / "docs" / "recipes.md").read_text("utf-8")


ONE_COHORT = """\
markets: {venue: simulator, show: 5, simulator: {start: 2026-01-04, weeks: 6, markets: 20, events: 8}}
cohorts: {rounds: 4, count: 1}
agents: [{kind: market}, {kind: contrarian}]
"""


def test_code_that_fails_is_named_with_its_line_and_how_to_play_the_turn_again(tmp_path: Path) -> None:
    """It has no server to check, and no cohort has to be ended for it."""
    file = tmp_path / "extensions" / "contrarian.py"
    file.parent.mkdir()
    wrong = CONTRARIAN.replace("1 - price", "1 + price")
    line = 1 + CONTRARIAN[: CONTRARIAN.index("1 - price")].count("\n")
    (tmp_path / "config.yaml").write_text(ONE_COHORT, "utf-8")
    play = ("run", "--round", "--trust-extensions")

    file.write_text(wrong, "utf-8")
    first = arena(tmp_path, *play)
    assert first.returncode == 2
    assert f"contrarian.py:{line}: ValueError: the probability 1." in " ".join(first.stdout.split())
    for words in (first.stdout, arena(tmp_path, "check").stdout, arena(tmp_path, "status").stdout):
        hint = words.partition("contrarian has no good turn yet: ")[2].partition("\n")[0]
        assert hint.startswith("correct its code (extensions/contrarian.py) before the next round; ")
        assert "server" not in hint

    file.write_text(CONTRARIAN, "utf-8")
    again = arena(tmp_path, *play, "--at", "2026-01-04T00:00Z")
    assert again.returncode == 0
    file.write_text(wrong, "utf-8")
    second = arena(tmp_path, *play)
    assert "correct the code of contrarian (extensions/contrarian.py); arena run --round" in second.stdout
    assert "arena admin cohort end" not in second.stdout
