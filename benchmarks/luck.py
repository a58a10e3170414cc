"""Does the luck band of a P/L hold what luck alone makes? Seasons of agents without any skill, with costs.

python -m benchmarks.luck --seasons 1000
"""

import json

from benchmarks.measure import options
from tests.known_worlds.luck import STYLES, coverage


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--seasons", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=2000)
    chosen = parser.parse_args()
    rows = [
        (style, known, events, coverage(chosen.seasons, events, style, chosen.draws, known, seed=1))
        for style in STYLES
        for known in (True, False)
        for events in (10, 30, 100)
    ]
    if chosen.json:
        names = ("style", "ties_known", "events", "coverage")
        print(json.dumps([dict(zip(names, row, strict=True)) for row in rows], indent=1))
        return
    print(f"{'agents that':12} {'how markets hang together':26} {'events':>6} {'in the band of 95%':>19}")
    for style, known, events, share in rows:
        print(f"{style:12} {'known' if known else 'unknown':26} {events:>6} {share:>19.1%}")


if __name__ == "__main__":
    main()
