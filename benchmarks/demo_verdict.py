"""Does the demo tell good models from bad ones? Its season in many worlds, and the verdicts on pairs.

python -m benchmarks.demo_verdict --seeds 50

Prints for each world who is told to be closer than whom, since when, and whether that is as the models are
made; then in how many worlds any pair is told, the best model from the worst, and any the wrong way round.
"""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.measure import options
from tests.season.skill import BEST_AND_WORST, RIGHT, Pair, play, told_pairs_of


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=50)
    chosen = parser.parse_args()

    worlds: list[Mapping[Pair, str]] = []
    for seed in range(1, chosen.seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            told = told_pairs_of(play(seed, Path(folder)))
        worlds.append(told)
        if not chosen.json:
            print(f"seed {seed}: {', '.join(map(_text, told, told.values())) or 'none'}", flush=True)

    found = {
        "worlds": len(worlds),
        "told": sum(bool(told.keys() & RIGHT) for told in worlds),
        "best_from_worst": sum(BEST_AND_WORST in told for told in worlds),
        "wrong": sum(not told.keys() <= RIGHT for told in worlds),
        "pairs": sum(map(len, worlds)) / len(worlds),
    }
    if chosen.json:
        print(json.dumps(found, indent=1))
        return
    line = "{worlds} worlds: a pair is told in {told}, the best model from the worst in {best_from_worst}, "
    line += "a wrong pair in {wrong}; {pairs:.1f} pairs a world"
    print(line.format(**found))


def _text(pair: Pair, since: str) -> str:
    """Return a told pair as a reader says it, with a mark if the models are made the other way round."""
    better, worse = pair
    mark = "" if pair in RIGHT else " (wrong)"
    return f"{better} > {worse} since {since[:10]}{mark}"


if __name__ == "__main__":
    main()
