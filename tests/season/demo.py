"""The demo's season, whole and its first weeks, each played once for all tests of a run."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.once import made_once
from tests.program.running import arena_json

SIX_ROUNDS = ("demo", "--headless", "--rounds", "6")


def six_rounds(folders: pytest.TempPathFactory) -> Path:
    """The folder of the first six decision times."""
    return made_once("demo of six rounds", folders, lambda folder: _play(folder, *SIX_ROUNDS))


def the_demo(folders: pytest.TempPathFactory) -> Path:
    """The folder of all of it, played on from those."""

    def make(folder: Path) -> None:
        shutil.copy(six_rounds(folders) / "demo.db", folder)
        _play(folder, "demo", "--headless", "--resume")

    return made_once("demo", folders, make)


def said_of(folder: Path) -> Any:
    """What `arena demo --json` answered there."""
    return json.loads((folder / "said.json").read_text("utf-8"))


def _play(folder: Path, *words: str) -> None:
    said = arena_json(folder, *words, "--database", "demo.db")
    (folder / "said.json").write_text(json.dumps(said), "utf-8")
