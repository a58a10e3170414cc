"""The demo's season, whole and its first weeks, and one in a small world; each is played once in a run."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.once import made_once
from tests.program.running import arena_json, demo_config

SIX_ROUNDS = ("demo", "--headless", "--rounds", "6")


def six_rounds(folders: pytest.TempPathFactory) -> Path:
    """Return the folder of the first six decision times."""
    return made_once("demo of six rounds", folders, lambda folder: _play(folder, *SIX_ROUNDS))


def the_demo(folders: pytest.TempPathFactory) -> Path:
    """Return the folder of all of it, played on from those."""

    def make(folder: Path) -> None:
        shutil.copy(six_rounds(folders) / "demo.db", folder)
        _play(folder, "demo", "--headless", "--resume")

    return made_once("demo", folders, make)


def small_demo(folder: Path) -> Path:
    """Return a config of the demo with a quarter of its markets."""
    return demo_config(folder, show=20, markets=150, events=55)


def the_small_demo(folders: pytest.TempPathFactory) -> Path:
    """Return the folder of a whole season of the demo in a small world, with its config."""

    def make(folder: Path) -> None:
        small_demo(folder)
        _play(folder, "demo", "--headless", "--config", "config.yaml")

    return made_once("small demo", folders, make)


def said_of(folder: Path) -> Any:
    """Return what `arena demo --json` answered there."""
    return json.loads((folder / "said.json").read_text("utf-8"))


def _play(folder: Path, *words: str) -> None:
    said = arena_json(folder, *words, "--database", "demo.db")
    (folder / "said.json").write_text(json.dumps(said), "utf-8")
