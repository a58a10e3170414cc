"""Are pairs told wrongly, and how many are told? Seasons of entries with a known truth, looked at every day.

python -m benchmarks.duels --seasons 200

Prints how often any pair of equal entries is told at any look, with the error of that rate, then how many
pairs of five different entries are told, and how long all duels of fifty entries take over a year.
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from math import inf
from statistics import mean, median
from typing import Any

import numpy as np

from arena.scores.rules.comparisons.duel_evidence import compare_pairs
from benchmarks.measure import least_cpu, options, report_plainly
from tests.known_worlds.adversaries import rate
from tests.known_worlds.duels import (
    LINE_UPS,
    WEEK,
    WORLDS,
    duel_rows,
    equal_lines,
    seasons_told,
    table,
    wrongly_told,
)

SIZES = ((2, 4, 5, WEEK), (2, 20, 13, WEEK), (5, 31, 13, WEEK), (5, 10, 10, 1.0), (10, 20, 5, WEEK))
"""Entries, weeks, new stories a week, and once in how many days everybody is asked."""
CROWDS = ("equal", "copies, and losers stop")
"""Worlds that are played by fifty entries too, in a tenth of the seasons."""


def wrong_rates(seasons: int) -> Iterator[dict[str, Any]]:
    """Yield how often any pair is told, of entries that are as good as each other."""
    sizes = [(name, seasons, *size) for name in WORLDS for size in SIZES]
    sizes += [(name, max(seasons // 10, 1), 50, 20, 5, WEEK) for name in CROWDS]

    for name, count, entries, weeks, stories, every in sizes:
        hits = wrongly_told(WORLDS[name], weeks, stories, entries, count, every)
        often = "weekly" if every == WEEK else "daily"
        label = f"{name}: {entries} entries, {weeks * stories} events, asked {often}, {count} seasons"
        yield asdict(rate(label, hits, count))


def power(seasons: int) -> Iterator[dict[str, Any]]:
    """Yield how many of ten pairs are told in 20 and in 52 weeks, and when the best is."""
    for line_up in LINE_UPS:
        for weeks in (20, 52):
            told = seasons_told(line_up, seasons, weeks)
            ends = []
            for pairs in told:
                best = [pair for pair in pairs if (pair.better, pair.worse) == ("entry 0", "entry 4")]
                ends.append(float(best[0].since or inf) if best else inf)
            wrong = sum(any(pair.better > pair.worse for pair in pairs) for pairs in told)
            yield {
                "what": f"noise {', '.join(f'{noise:.2f}' for noise in line_up)}, {weeks} weeks",
                "pairs": mean(map(len, told)),
                "error": 1.96 * float(np.std([len(pairs) for pairs in told])) / seasons**0.5,
                "best": sum(end < inf for end in ends) / seasons,
                "week": median(ends) / WEEK,
                "wrong": wrong / seasons,
            }


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--seasons", type=int, default=200, help="of each kind")
    chosen: argparse.Namespace = parser.parse_args()
    report_plainly(wrong_rates(chosen.seasons), chosen.json, "{what:85} {share:6.1%} ± {error:.1%}")
    line = "{what:44} {pairs:.2f} ± {error:.2f} of 10, "
    line += "best against worst {best:.0%} in week {week:.1f}, wrong {wrong:.1%}"
    report_plainly(power(chosen.seasons), chosen.json, line)

    of = table(52, 13, np.random.default_rng(1))
    rows = duel_rows(of, equal_lines(of, 50))
    seconds = least_cpu(lambda: compare_pairs(rows), repeat=1)
    report_plainly(
        [{"rows": rows.agent.size, "seconds": seconds}],
        chosen.json,
        "{rows:,} forecasts of 50: {seconds:.1f} s of CPU",
    )


if __name__ == "__main__":
    main()
