"""Kinds, prompts and files by name, from the package and from beside a config."""

from pathlib import Path

import pytest

from agents import registry
from agents.model import Unreadable
from markets.registry import UnknownExtension
from tests.trusted import trusted_folder


def test_a_file_that_makes_no_agents_is_no_kind(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    with pytest.raises(registry.NotAnAgentKind, match=r"empty.py is not an agent kind"):
        registry.kind("empty", [trusted_folder(tmp_path)])


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
    assert registry.prompt_text("terse", tmp_path, [trusted_folder(extra)]) == "terse"
    with pytest.raises(UnknownExtension, match=r"no '\./none\.md' here; known are \./mine\.md"):
        registry.prompt_text("./none.md", tmp_path)


def test_a_path_starts_from_the_folder_of_the_config(tmp_path: Path) -> None:
    (tmp_path / "people").mkdir()
    (tmp_path / "people" / "ann.csv").write_text("\ufeffat,market\r\n", "utf-8")
    assert registry.read_file(tmp_path, "people/ann.csv") == "at,market\r\n"
    assert registry.read_file(Path("/"), str(tmp_path / "people" / "ann.csv")) == "at,market\r\n"


def test_a_file_that_can_not_be_had_is_told_with_the_mend(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "latin.csv").write_bytes(b"at,market\nM\xfcnchen")
    (tmp_path / "large.csv").write_bytes(b"x" * (registry.MOST_BYTES + 1))
    told = {
        "none.csv": "there is no file none.csv next to the config. Put it there, or name another",
        "folder.csv": "there is no file folder.csv next to the config. Put it there, or name another",
        "latin.csv": "latin.csv:2: not UTF-8 text. Save the file as UTF-8",
        "large.csv": "large.csv has more than 10,000,000 bytes. Remove old rows",
    }
    for name, words in told.items():
        with pytest.raises(Unreadable) as caught:
            registry.read_file(tmp_path, name)
        assert str(caught.value) == words
