"""Seasons of the demo in many worlds: gaps between agents of known skill, and the pairs that are told."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from tests.program.running import agents_of, arena_json

PAIRS = (("oracle-noisy", "oracle"), ("blind", "sharp"))
"""The agent that should score worse (higher), and the one that should score better."""
BY_DESIGN = ("sharp", "clumsy", "hasty", "blind")
"""The demo's models, best first: how they are made says who is closer than whom."""
RIGHT = frozenset(combinations(BY_DESIGN, 2))
"""The pairs, better first, that may be told."""
BEST_AND_WORST = (BY_DESIGN[0], BY_DESIGN[-1])

Pair = tuple[str, str]
Board = Mapping[str, Mapping[str, Any]]


def play(seed: int, folder: Path, *words: str) -> Any:
    """Play one season as a user plays it, and return what `arena demo --json` answered."""
    database = str(folder / f"{seed}.db")
    return arena_json(folder, "demo", "--headless", "--seed", str(seed), "--database", database, *words)


def told_pairs_of(season: Any) -> dict[Pair, str]:
    """Return who is told to be closer than whom in a season, better first, each with the time since when."""
    return {(pair["better"], pair["worse"]): pair["since"] for pair in season["pairs"]}


def gaps(seasons: Iterable[Any]) -> dict[str, list[float]]:
    """Return, for each pair and world, the worse agent's stated Brier score minus the better one's."""
    boards: list[Board] = [agents_of(season["leaderboard"]) for season in seasons]
    return {
        f"{worse} − {better}": [b[worse]["brier_stated"] - b[better]["brier_stated"] for b in boards]
        for worse, better in PAIRS
    }
