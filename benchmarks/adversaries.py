"""Can the verdict be fooled? Seasons of forecasters no better than the price, checked at every end.

python -m benchmarks.adversaries --seasons 400

Prints how often each is told to be closer at any look, with the error of that rate, then how often one who is
better is ahead and told, and what each condition costs.
"""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import product

from benchmarks.measure import options, report_plainly
from tests.known_worlds.adversaries import (
    ADVERSARIES,
    WHOLE_SEASON,
    Rate,
    days_of,
    false_proofs,
    power,
    several,
)

SIZES = ((20, 5), (100, 5), (400, 1))
"""Events, and markets of each."""
AT_ONCE = (10, 40, 100)
"""Markets that are open at once: the fewer, the longer the season."""
DAILY = ((100, 5, 100), (400, 1, 40))
"""Events, markets of each and at once where everything is asked and looked at every day."""


def all_rates(seasons: int) -> Iterator[Rate]:
    """Yield every line of the tables."""
    for name, make in (ADVERSARIES | WHOLE_SEASON).items():
        for (events, markets), at_once in product(SIZES, AT_ONCE):
            days = days_of(events, markets, at_once)
            yield false_proofs(name, make, events, markets, days, seasons)
        for events, markets, at_once in DAILY:
            days = days_of(events, markets, at_once)
            yield false_proofs(name, make, events, markets, days, seasons, 1.0)
    yield false_proofs(
        "as good as the price, sizes of Pareto", ADVERSARIES["as good as the price"], 200, 0, 364, seasons
    )
    yield several(seasons)
    for events, days in ((50, 182), (100, 182), (200, 182), (400, 364)):
        yield from power(events, days, seasons)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--seasons", type=int, default=400, help="of each kind")
    chosen = parser.parse_args()
    rates = map(asdict, all_rates(chosen.seasons))
    report_plainly(rates, chosen.json, "{what:75} {share:6.1%} ± {error:.1%}")


if __name__ == "__main__":
    main()
