"""Numbers, dates and options of a season against a second hand, written from seed 000 with exact fractions.

Quantiles are straight lines between points, and the site's floor is mixed in; a density is the share of one
of 200 buckets, beyond an open end the whole share there. Scores are summed instant by instant.
"""

import json
from collections import defaultdict
from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise
from math import ceil, log
from pathlib import Path
from typing import Any

import pytest

from tests.program.in_process import answered
from tests.records.question_season import play
from tests.rows import rows_in

ENDED = 0.55
AGENTS = ("ann", "bob", "cid", "flat")
BASE = ("ann", "bob", "cid")
"""Those who are compared with each other: a constant agent has no view of its own."""
ANSWERS = """
    SELECT v.market_id, v.form, v.closes_at, n.answer, n.known_at, e.name, r.at, f.distribution
    FROM forecast f JOIN turn t ON t.id = f.turn_id JOIN round r ON r.id = t.round_id
    JOIN entrant e ON e.id = t.entrant_id JOIN market_version v ON v.market_id = f.market_id
    LEFT JOIN resolution n ON n.market_id = v.market_id
    WHERE f.distribution != '' ORDER BY v.market_id, r.at, e.position
"""


def number(text: str) -> Fraction:
    try:
        return Fraction(text)
    except ValueError:
        return Fraction(int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()))


def cdf(points: list[tuple[Fraction, Fraction]], at: Fraction) -> Fraction:
    """Return a piecewise linear cdf through (place, share) points: 0 before the first, 1 after the last."""
    if at < points[0][0]:
        return Fraction(0)
    for (left, low), (right, high) in reversed(list(pairwise(points))):
        if left <= at < right:
            return low + (high - low) * (at - left) / (right - left)
    return Fraction(1)


def density(form: dict[str, Any], answer: str, said: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """Return the density that an answer gave to the outcome, and the density of knowing nothing."""
    low = number(form["low"])
    high = number(form["high"])
    is_low = bool(form.get("open_low"))
    is_high = bool(form.get("open_high"))

    def place(text: str) -> Fraction:
        return (number(text) - low) / (high - low)

    quantiles = [(place(text), Fraction(share, 1_000_000)) for share, text in said["quantiles"]]
    (first, first_share), (second, second_share) = quantiles[:2]
    (before, before_share), (last, last_share) = quantiles[-2:]
    start = Fraction(0)
    end = Fraction(1)
    if is_low:
        start = first - first_share * (second - first) / (second_share - first_share)
    if is_high:
        end = last + (1 - last_share) * (last - before) / (last_share - before_share)
    points = [(start, Fraction(0)), *quantiles, (end, Fraction(1))]

    def floored(edge: Fraction) -> Fraction:
        least = cdf(points, Fraction(0))
        most = cdf(points, Fraction(1))
        shape = (cdf(points, edge) - least + edge / 100) / (most - least + Fraction(1, 100))
        below = max(least, Fraction(is_low, 1000))
        above = max(1 - most, Fraction(is_high, 1000))
        kept = min(Fraction(1), Fraction(99, 100) / (below + above)) if below + above else Fraction(1)
        return kept * below + (1 - kept * (below + above)) * shape

    truth = place(answer)
    assert 0 <= truth <= 1, "no answer of this season lies beyond its range"
    bucket = max(ceil(truth * 200), 1)
    share = floored(Fraction(bucket, 200)) - floored(Fraction(bucket - 1, 200))
    return share * 200, 1 - Fraction(is_low + is_high, 20)


def instant(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def over_time(stated: dict[float, dict[str, tuple[float, float]]], closes: float, planned: float) -> Any:
    """Return everyone's baseline and peer score of one question, from (density, nothing) by name."""
    times = sorted(stated)
    life = planned - times[0]
    baselines: dict[str, float] = defaultdict(float)
    peers: dict[str, float] = defaultdict(float)
    standing: dict[str, tuple[float, float]] = {}
    for at, until in zip(times, [*times[1:], closes], strict=True):
        standing |= stated[at]
        share = (min(until, closes) - at) / life
        for name, (gave, nothing) in standing.items():
            others = [standing[other][0] for other in BASE if other != name and other in standing]
            baselines[name] += share * 100 * (log(gave) - log(nothing)) / 2
            peers[name] += share * 50 * sum(log(gave) - log(other) for other in others) / len(others)
    return baselines, peers


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("season") / "season.db"
    play(place, kinds=("numeric", "date", "multiple_choice"), size=30, ended=ENDED).close()
    return place


def by_question(season: Path, *kinds: str) -> dict[str, list[Any]]:
    rows = defaultdict(list)
    for market, form, *rest in rows_in(season, ANSWERS):
        values = json.loads(form)
        if values["kind"] in kinds:
            rows[market].append((values, *rest))
    return rows


def test_36_of_60_numbers_and_dates(season: Path) -> None:
    asked = by_question(season, "numeric", "date")
    assert len(asked) == 60
    ended = {market: rows for market, rows in asked.items() if rows[0][2]}
    assert len(ended) == 36

    scores: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for rows in ended.values():
        stated: dict[float, dict[str, tuple[float, float]]] = defaultdict(dict)
        for form, _, answer, _, name, at, said in rows:
            gave, nothing = density(form, answer, json.loads(said))
            stated[instant(at) + 1e-6][name] = (float(gave), float(nothing))
        _, closes_at, _, known_at, *_ = rows[0]
        planned = instant(closes_at)
        closes = max(min(planned, instant(known_at)), *stated)
        baselines, peers = over_time(stated, closes, planned)
        for name in AGENTS:
            scores[rows[0][0]["kind"], name].append((baselines[name], peers[name]))

    kinds = answered("board", "--database", season)["all_kinds"]["kinds"]
    checked = 0
    for row in kinds:
        if row["kind"] not in ("numeric", "date"):
            continue
        own = scores[row["kind"], row["agent"]]
        assert row["questions"] == row["asked"] == len(own)
        assert row["baseline"] == pytest.approx(sum(one for one, _ in own) / len(own), rel=1e-7)
        assert row["peer"] == pytest.approx(sum(peer for _, peer in own) / len(own), rel=1e-7)
        checked += 1
    assert checked == 8


def test_options_are_half_the_sum_of_squares(season: Path) -> None:
    """Each question weighs the same, and each round within it."""
    errors: dict[str, dict[str, list[Fraction]]] = defaultdict(lambda: defaultdict(list))
    for market, rows in by_question(season, "multiple_choice").items():
        for form, _, answer, _, name, _, said in rows:
            if answer:
                chances = [Fraction(chance, 1_000_000) for chance in json.loads(said)["chances"]]
                happened = [int(option == answer) for option in form["options"]]
                squares = [(one - other) ** 2 for one, other in zip(chances, happened, strict=True)]
                errors[name][market].append(sum(squares, Fraction(0)) / 2)

    kinds = answered("board", "--database", season)["all_kinds"]["kinds"]
    found = {row["agent"]: row["brier"] for row in kinds if row["kind"] == "multiple_choice"}
    for name in AGENTS:
        means = [sum(own) / len(own) for own in errors[name].values()]
        assert found[name] == pytest.approx(float(sum(means) / len(means)), rel=1e-12)
