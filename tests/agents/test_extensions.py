"""What a config names beside itself, and how it is told that it can't be had."""

from pathlib import Path

import pytest

from agents import registry
from agents.model import Unreadable


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
