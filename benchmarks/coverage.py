"""Do the comparisons hold what they promise? Thousands of seasons in which the truth is known.

python -m benchmarks.coverage --seasons 2000

Prints how often 95% intervals hold the true gain, in all seasons and in those that are given one, how often
equal agents are told apart, and which reading of belief puts agents in order.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import product

from benchmarks.measure import options
from tests.known_worlds.gates import gate_shares, gate_worlds
from tests.known_worlds.truth import (
    LONG_SHOTS,
    Share,
    at_the_limit,
    coverage,
    different_markets,
    equal_duels,
    readings,
)
from tests.known_worlds.worlds import Shape

SHAPES: tuple[Shape, ...] = ("equal", "skewed")


def all_shares(seasons: int, orders: int) -> Iterator[Share]:
    """Yield every line of the table."""
    for shape, markets, events in product(SHAPES, (5, 10), (20, 50, 100)):
        yield coverage(shape, markets, events, seasons)
    for shape in SHAPES:
        yield coverage(shape, 5, 100, seasons, LONG_SHOTS)
    for place in gate_worlds():
        yield from gate_shares(place, 4 * seasons)
    for shape, events in product(SHAPES, (30, 60, 100)):
        yield equal_duels(shape, events, 2 * seasons)
    for events in (40, 150):
        yield at_the_limit(events, 2 * seasons)
    for events in (100, 200):
        yield different_markets(events, seasons)
    yield from readings(orders)


def report(shares: Iterable[Share], as_json: bool) -> None:
    """Print shares as they come, or all at once as JSON."""
    if as_json:
        print(json.dumps([asdict(share) | {"good": share.good} for share in shares], indent=1))
        return
    missed = 0
    for share in shares:
        wanted = f"{share.low:.0%} to {share.high:.0%}"
        beside = ", ".join(f"{name} {value:.1%}" for name, value in share.beside.items())
        mark = "ok " if share.good else "no "
        print(f"{mark} {share.what:82} {share.share:>6.1%}  wanted {wanted:12} {beside}", flush=True)
        missed += not share.good
    print(f"{missed} not as promised")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument(
        "--seasons",
        type=int,
        default=1000,
        help="of each kind, for intervals; twice as many for duels, four times for gates",
    )
    parser.add_argument("--orders", type=int, default=400, help="seasons for the order of readings")
    chosen = parser.parse_args()
    report(all_shares(chosen.seasons, chosen.orders), chosen.json)


if __name__ == "__main__":
    main()
