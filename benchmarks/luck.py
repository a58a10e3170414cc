"""Does the luck band of a P/L hold what luck alone makes? Seasons of agents without any skill, with costs.

python -m benchmarks.luck --seasons 1000
"""

from itertools import product

from benchmarks.measure import options, report_plainly
from tests.known_worlds.luck import STYLES, coverage


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--seasons", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=2000)
    chosen = parser.parse_args()
    rows = (
        {
            "style": style,
            "ties_known": known,
            "events": events,
            "coverage": coverage(chosen.seasons, events, style, chosen.draws, known, seed=1),
        }
        for style, known, events in product(STYLES, (True, False), (10, 30, 100))
    )
    line = "{style:12} ties known: {ties_known:1} {events:>6} events {coverage:>6.1%} in the band of 95%"
    report_plainly(rows, chosen.json, line)


if __name__ == "__main__":
    main()
