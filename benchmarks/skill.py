"""Does skill show? The demo's season in many worlds, and the gaps between agents of known skill.

python -m benchmarks.skill --seeds 20
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        boards = {seed: play(seed, Path(folder)) for seed in range(1, options.seeds + 1)}
    found = gaps(boards.values())
    market = sorted({board["market"]["skill"] for board in boards.values()})
    if options.json:
        print(json.dumps({"gaps": found, "market_skill": market}))
        return
    for title, values in found.items():
        ahead = sum(value > 0 for value in values)
        print(
            f"{title:22}  {min(values):+.4f} to {max(values):+.4f}, above 0 on {ahead} of {len(values)} seeds"
        )
    print(f"skill of the market     {', '.join(map(str, market))}")


if __name__ == "__main__":
    main()
