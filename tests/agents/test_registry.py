"""Kinds and prompts by name, from the package and from beside a config."""

from pathlib import Path

import pytest

from agents import registry
from markets.registry import UnknownExtension


def test_a_file_that_makes_no_agents_is_no_kind(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(registry.NotAnAgentKind, match=r"empty.py is not an agent kind"):
        registry.kind("empty", [tmp_path])


def test_an_unknown_kind_names_those_that_are_known() -> None:
    with pytest.raises(UnknownExtension, match="known are command, constant, crowd"):
        registry.kind("kely")


def test_who_is_needed_first() -> None:
    kelly = registry.kind("kelly").settings.model_validate({"of": "sharp"})
    assert registry.agents_needed(kelly) == ("sharp",)
    assert registry.agents_needed(registry.kind("market").settings()) == ()


def test_which_prompts_an_agent_uses() -> None:
    llm = registry.kind("llm").settings
    assert registry.prompt_names(llm.model_validate({"model": "x/y"})) == ("bet",)
    assert registry.prompt_names(llm.model_validate({"model": "x/y", "prices": "after"})) == ("bet", "blind")
    assert registry.prompt_names(registry.kind("market").settings()) == ()


def test_a_prompt_is_a_name_or_a_path(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine", encoding="utf-8")
    extra = tmp_path / "extensions"
    extra.mkdir()
    (extra / "terse.md").write_text("terse", encoding="utf-8")
    assert "forecaster" in registry.prompt_text("bet", tmp_path)
    assert registry.prompt_text("./mine.md", tmp_path) == "mine"
    assert registry.prompt_text("terse", tmp_path, [extra]) == "terse"
    with pytest.raises(UnknownExtension, match="known are bet, blind"):
        registry.prompt_text("./none.md", tmp_path)
