"""Seasons of the demo in many worlds, and the gaps between agents whose skill is known."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PAIRS = (("oracle-noisy", "oracle"), ("blind", "sharp"))
"""The agent that should score worse (higher), and the one that should score better."""

Board = Mapping[str, Mapping[str, Any]]


def play(seed: int, folder: Path) -> Board:
    """The leaderboard of one season by agent, played as a user plays it."""
    words = ["demo", "--headless", "--json", "--seed", str(seed), "--database", str(folder / f"{seed}.db")]
    command = [sys.executable, "-m", "arena.cli.main", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {row["agent"]: row for row in json.loads(done.stdout)["leaderboard"]}


def gaps(boards: Iterable[Board]) -> dict[str, list[float]]:
    """For each pair, by how much the worse agent's stated Brier is above the better one's, world by world."""
    boards = list(boards)
    return {
        f"{worse} − {better}": [b[worse]["brier_stated"] - b[better]["brier_stated"] for b in boards]
        for worse, better in PAIRS
    }
