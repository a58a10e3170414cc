"""Does skill show? The demo's season in many worlds, and the gaps between agents of known skill.

python -m benchmarks.skill --seeds 20
"""

import json
import tempfile
from pathlib import Path

from benchmarks.measure import options
from tests.program.running import agents_of
from tests.season.skill import gaps, play


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seasons = [play(seed, Path(folder)) for seed in range(1, chosen.seeds + 1)]
    found = gaps(seasons)
    market = sorted({agents_of(season["leaderboard"])["market"]["skill"] for season in seasons})
    if chosen.json:
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
