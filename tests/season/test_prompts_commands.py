"""`arena show prompts`: what there is, what a model is asked by one, and how two differ."""

from pathlib import Path

from agents.registry import HOME
from markets.registry import names
from tests.arena.config_files import write
from tests.program.running import arena, arena_json


def test_every_prompt_is_listed_with_what_it_asks_for_and_shows(tmp_path: Path) -> None:
    write(tmp_path, "{# Mine. #}\n{{ now }}\n{% include '_articles' %}", "extensions/prompts/terse.md")
    write(tmp_path, "{% if %}", "extensions/prompts/torn.md")
    rows = {row["name"]: row for row in arena_json(tmp_path, "show", "prompts")["prompts"]}
    assert sorted(rows) == sorted([*names(HOME / "prompts", suffix=".md"), "terse", "torn"])
    assert (rows["bet"]["bets"], rows["bet"]["shows"]) == (True, ["prices", "context", "articles"])
    assert (rows["blind"]["bets"], rows["blind"]["shows"]) == (False, ["context", "articles"])
    assert (rows["zero_shot"]["shows"], rows["terse"]["shows"]) == ([], ["articles"])
    assert rows["terse"]["about"] == "Mine."
    assert "can't be used: line 1" in rows["torn"]["about"]
    assert all(row["about"] for row in rows.values())
    assert "zero_shot" in arena(tmp_path, "show", "prompts").stdout


def test_one_is_shown_as_it_is_frozen_or_as_it_is_asked(tmp_path: Path) -> None:
    write(tmp_path, "Today is {{ now }}.\n{% include '_fence' %}\n", "mine.md")
    frozen = arena_json(tmp_path, "show", "prompts", "mine.md")["text"]
    assert frozen.startswith('Today is {{ now }}.\nEverything behind a bar ("| ")')
    asked = arena(tmp_path, "show", "prompts", "mine.md", "--rendered").stdout
    assert asked.startswith("-- user\nToday is 2026-01-04 00:00 UTC.\nEverything behind a bar")
    standard = arena(tmp_path, "show", "prompts", "bet", "--rendered").stdout
    for words in (
        "Earlier prices: ",
        "Also of this event",
        "Your last forecast, of ",
        "You said 0.41 on",
        "Article:",
    ):
        assert words in standard
    assert "Price" not in arena(tmp_path, "show", "prompts", "blind", "--rendered").stdout


def test_two_are_compared_line_by_line(tmp_path: Path) -> None:
    write(tmp_path, "One\nTwo\n", "a.md")
    write(tmp_path, "One\nThree\n", "b.md")
    found = arena_json(tmp_path, "show", "prompts", "b.md", "--against", "a.md")
    assert found["diff"][-2:] == ["-Two", "+Three"]
    assert arena(tmp_path, "show", "prompts", "a.md", "--against", "a.md").stdout == "They are identical.\n"


def test_what_is_not_there_or_torn_is_told(tmp_path: Path) -> None:
    absent = arena_json(tmp_path, "show", "prompts", "bets", status=1)["error"]
    assert (absent["code"], "zero_shot" in absent["mend"]) == ("no_prompt", True)
    write(tmp_path, "1\n{% include 'mine.md' %}", "mine.md")
    torn = arena_json(tmp_path, "show", "prompts", "mine.md", "--against", "bet", status=1)["error"]
    assert (torn["code"], torn["message"][:10]) == ("bad_prompt", "mine.md:2:")
    write(tmp_path, "1\n{{ nwo }}", "mine.md")
    assert arena_json(tmp_path, "show", "prompts", "--rendered", status=64)["error"]["code"] == "no_prompt"
    torn = arena_json(tmp_path, "show", "prompts", "mine.md", "--rendered", status=1)["error"]
    assert (torn["code"], torn["message"]) == ("bad_prompt", "mine.md:2: 'nwo' is undefined")
