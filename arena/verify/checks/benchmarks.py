"""Files of a benchmark: unchanged since they were downloaded, and asked exactly as they are.

What a cohort was shown is derived from the file again, by independent code.
"""

import json
from collections.abc import Generator, Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import product
from typing import Any

from arena.verify.checks.seals import object_in
from arena.verify.differences import Difference, Found
from arena.verify.reader import RecordReader, Row
from markets.hashes import sha256
from markets.millionths import ONE

FILES = "SELECT * FROM benchmark_file ORDER BY kind, name, version"
ASKING = """SELECT * FROM cohort WHERE frozen LIKE '%"stamp":"benchmark"%'"""
SHOWN = """SELECT item.*, page.question, quote.mid, quote.bid, quote.ask FROM snapshot_item AS item
    JOIN snapshot ON snapshot.id = item.snapshot_id JOIN market_version AS page ON page.id = item.version_id
    LEFT JOIN quote ON quote.id = item.quote_id WHERE snapshot.cohort_id = :cohort ORDER BY item.position"""
IN_FILE = "so it is in the question set"
Question = tuple[str, str, int | None]
"""A market's id, its question, and the crowd's probability of YES."""


def check_benchmarks(facts: RecordReader) -> Found:
    """Yield files that were changed, and cohorts that were shown another set than they froze."""
    question_sets = yield from _check_files(facts)
    for cohort in facts.rows("cohort", ASKING):
        settings = object_in(cohort["frozen"]).get("venue_settings", {})
        text = question_sets.get(settings.get("sha256", ""))
        if text is None:
            yield cohort.differs("frozen", "a set that is kept", "its questions are those of a file")
        else:
            expected = list(_questions(json.loads(text.removeprefix("\ufeff")), settings))
            yield from _check_shown(facts, cohort, expected)


def _check_files(facts: RecordReader) -> Generator[Difference, None, dict[str, str]]:
    """Check the files; return the question sets by their SHA-256."""
    previous_version = None
    question_sets = {}
    for row in facts.rows("benchmark_file", FILES):
        yield from row.compare({"sha256": sha256(row["text"])}, "it is that of the file's bytes")

        # The files come in the order of their versions: two in a row with the same hash are one file.
        version = row["kind"], row["name"], row["sha256"]
        if version == previous_version:
            yield row.differs("sha256", "another than before", "a version is kept when a file changed")
        previous_version = version

        if row["kind"] == "questions":
            question_sets[row["sha256"]] = row["text"]

    return question_sets


def _check_shown(facts: RecordReader, cohort: Row, expected: Sequence[Question]) -> Found:
    """Yield the differences between what a cohort was shown and its file, in order."""
    shown = list(facts.rows("snapshot_item", SHOWN, cohort=cohort["id"]))
    if shown and len(shown) != len(expected):
        yield cohort.differs("frozen", f"{len(shown)} questions", f"its file asks {len(expected)}")
    for item, (market, question, mid) in zip(shown, expected, strict=False):
        yield from item.compare({"market_id": market}, IN_FILE)
        if item["question"] != question:
            yield item.differs("version_id", f"a page that asks {question[:60]!r}", IN_FILE)
        if (item["mid"], item["bid"], item["ask"]) != (mid, None, None):
            yield item.differs("quote_id", f"a price of {mid}, at which nobody trades", IN_FILE)


def _questions(file: Any, settings: Any) -> Iterator[Question]:
    """Yield the questions of a file, in its order; combinations of two only if they were asked."""
    due = file["forecast_due_date"]
    version_part = "" if settings["version"] == 1 else f".{settings['version']}"
    prices_part = "+values" if settings["prices"] else ""
    for entry in file["questions"]:
        id_prefix = f"forecastbench:{due}{version_part}{prices_part}:{entry['source']}"
        if isinstance(entry["id"], list):
            if settings.get("combinations"):
                yield from _combined(entry, id_prefix)
            continue

        market = f"{id_prefix}:{entry['id']}"
        question = entry["question"].replace("{forecast_due_date}", due)
        resolution_days = entry["resolution_dates"]
        if not isinstance(resolution_days, list):
            yield market, question.strip(), _in_millionths(_probability_in(entry["freeze_datetime_value"]))
            continue
        for day in resolution_days:
            asked_for_day = question.replace("{resolution_date}", day)
            yield f"{market}@{day}", asked_for_day.strip(), None


def _combined(pair: Any, id_prefix: str) -> Iterator[Question]:
    """Yield the four joint outcomes of two questions, at each resolution date of data questions."""
    market = f"{id_prefix}:{pair['id'][0]}~{pair['id'][1]}"
    resolution_days = pair.get("resolution_dates")
    if not isinstance(resolution_days, list):
        resolution_days = []

    for first, second in product(("YES", "NO"), repeat=2):
        letters = f"{first[0]}{second[0]}".lower()
        question = f"Will question 1 resolve {first} and question 2 {second}"
        for day in resolution_days:
            yield f"{market}@{day}.{letters}", f"{question}, both as of {day}?", None
        if resolution_days:
            continue

        # Without resolution dates these are two markets: their prices, multiplied, are the joint price.
        joint: float | None = 1.0
        for question_part, outcome in zip(pair["combination_of"], (first, second), strict=True):
            probability = _probability_in(question_part["freeze_datetime_value"])
            if probability is None or joint is None:
                joint = None
            else:
                joint *= probability if outcome == "YES" else 1 - probability
        yield f"{market}@{letters}", f"{question}?", _in_millionths(joint)


def _probability_in(value: Any) -> float | None:
    """Return a value as a probability; None if it is invalid."""
    try:
        chance = float(value)
    except (OverflowError, ValueError, TypeError):
        return None
    return chance if 0 <= chance <= 1 else None


def _in_millionths(chance: float | None) -> int | None:
    """Return a probability in millionths."""
    if chance is None:
        return None
    in_millionths = Decimal(repr(chance)) * ONE
    return int(in_millionths.to_integral_value(ROUND_HALF_EVEN))
