"""How many verdicts on pairs are there, and are any wrong? Seasons with a known truth, checked daily.

python -m benchmarks.duels --seasons 400

Prints how often any pair of equal entries is told at any look, with the error of that rate, then how many
pairs of different entries are told, how right it is how long telling will take, and how long all duels of
fifty entries take over a year.
"""

import argparse
from collections.abc import Iterator, Sequence
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
    foreseen,
    seasons_told,
    table,
    wrongly_told,
)

SIZES = (
    (2, 4, 5, WEEK),
    (2, 20, 13, WEEK),
    (5, 31, 13, WEEK),
    (5, 10, 10, 1.0),
    (10, 20, 5, WEEK),
    (50, 10, 4, WEEK),
)
"""Entries, weeks, new stories a week, and once in how many days everybody is asked."""
MORE_ENTRIES = (10, 25)
FORESIGHT_WEEKS = (8, 16, 30)


def wrong_rates(seasons: int) -> Iterator[dict[str, Any]]:
    """Yield how often any pair is told, of entries that are as good as each other."""
    for name in WORLDS:
        for entries, weeks, stories, every in SIZES:
            hits = wrongly_told(WORLDS[name], weeks, stories, entries, seasons, every)
            often = "weekly" if every == WEEK else "daily"
            label = f"{name}: {entries} entries, {weeks * stories} events, asked {often}"
            yield asdict(rate(label, hits, seasons))


def power(seasons: int) -> Iterator[dict[str, Any]]:
    """Yield how many pairs are told in 20 and in 52 weeks, and when the best is."""
    for line_up in LINE_UPS:
        for weeks in (20, 52):
            yield told_row(line_up, seasons, weeks)

    low = LINE_UPS[0][0]
    high = LINE_UPS[0][-1]
    for entries in MORE_ENTRIES:
        yield told_row(np.linspace(low, high, entries).round(3).tolist(), seasons, 20)


def told_row(line_up: Sequence[float], seasons: int, weeks: int) -> dict[str, Any]:
    """Return how many pairs are told of entries with these noises, and when the best against the worst."""
    told = seasons_told(line_up, seasons, weeks)
    last = f"entry {len(line_up) - 1}"
    ends = []
    for pairs in told:
        best = [pair for pair in pairs if (pair.better, pair.worse) == ("entry 0", last)]
        ends.append(float(best[0].since or inf) if best else inf)

    wrong = sum(any(place_of(pair.better) > place_of(pair.worse) for pair in pairs) for pairs in told)
    noise = ", ".join(f"{noise:.2f}" for noise in line_up)
    if len(line_up) > 5:
        noise = f"{line_up[0]:.2f} to {line_up[-1]:.2f}"
    return {
        "what": f"{len(line_up)} entries, noise {noise}, {weeks} weeks",
        "pairs": mean(map(len, told)),
        "error": 1.96 * float(np.std([len(pairs) for pairs in told])) / seasons**0.5,
        "of": len(line_up) * (len(line_up) - 1) // 2,
        "best": sum(end < inf for end in ends) / seasons,
        "week": median(ends) / WEEK,
        "wrong": wrong / seasons,
    }


def place_of(entry: str) -> int:
    """Return the place of an entry in its line-up."""
    return int(entry.removeprefix("entry "))


def foresights(seasons: int) -> Iterator[dict[str, Any]]:
    """Yield how many of the weeks that were foretold it took, and how often "never" was wrong."""
    for week in FORESIGHT_WEEKS:
        sights = foreseen(seasons, week)
        said = [sight for sight in sights if sight.foretold < inf]
        soon = [sight for sight in sights if sight.took <= 52]
        never = [sight for sight in sights if sight.foretold == inf]
        yield {
            "what": f"after {week} weeks",
            "pairs": len(sights),
            "said": len(said) / len(sights),
            "never": len(never) / len(sights),
            "ratio": median(sight.took / max(sight.foretold, 0.1) for sight in said),
            "told": sum(sight.took <= 52 for sight in never) / max(len(never), 1),
            "missed": sum(sight.foretold == inf for sight in soon) / max(len(soon), 1),
        }


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--seasons", type=int, default=200, help="of each kind")
    chosen: argparse.Namespace = parser.parse_args()
    report_plainly(wrong_rates(chosen.seasons), chosen.json, "{what:85} {share:6.1%} ± {error:.1%}")
    line = "{what:56} {pairs:.2f} ± {error:.2f} of {of}, "
    line += "best against worst {best:.1%} in week {week:.1f}, wrong {wrong:.1%}"
    report_plainly(power(chosen.seasons), chosen.json, line)
    line = "{what:16} {pairs} pairs: weeks said for {said:.0%}, it took {ratio:.2f} of them; never said for "
    line += "{never:.0%}, {told:.1%} of which were told within 52, {missed:.1%} of all that were"
    report_plainly(foresights(max(chosen.seasons // 10, 1)), chosen.json, line)

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
