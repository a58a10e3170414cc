"""Files of a benchmark: that they are as they came, in versions without a gap, and asked as they are.

What a cohort that answers one was shown is made again from the file, by code of its own.
"""

import json
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from itertools import groupby
from typing import Any

from sqlalchemy import bindparam

from arena.record.schema.cohort import CohortRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.typed import clause, col, joined
from arena.record.schema.world import BenchmarkFileRow, MarketVersionRow, QuoteRow
from arena.verify.differences import Found, check_numbers
from arena.verify.hashes import hash_of, json_in
from arena.verify.reader import RecordReader, RowPart, rows_of, rows_query

KINDS = ("questions", "resolutions")
FILES = rows_of(
    BenchmarkFileRow, order=[BenchmarkFileRow.kind, BenchmarkFileRow.name, BenchmarkFileRow.version]
)
ASKING = rows_of(CohortRow, col(CohortRow.frozen).contains('"stamp":"benchmark"'))
SHOWN = rows_query(
    joined(SnapshotItemRow, SnapshotRow)
    .join(MarketVersionRow, clause(MarketVersionRow.id == SnapshotItemRow.version_id))
    .outerjoin(QuoteRow, clause(QuoteRow.id == SnapshotItemRow.quote_id)),
    SnapshotItemRow,
    RowPart(MarketVersionRow, "question"),
    RowPart(QuoteRow, "id", "mid", "bid", "ask"),
    where=SnapshotRow.cohort_id == bindparam("cohort"),
    order=[SnapshotItemRow.position],
)
Shown = tuple[str, str, int | None]
"""A market's id, what it asks, and the crowd's probability of YES."""


def check_benchmarks(facts: RecordReader) -> Found:
    """Files whose bytes are others than were kept, of an unknown kind, or kept twice as if they differed."""
    for _, versions in groupby(facts.rows(FILES), key=lambda row: (row["kind"], row["name"])):
        files = list(versions)
        yield from check_numbers(files, "version", 1)
        before = ""
        for row in files:
            if row["kind"] not in KINDS:
                yield row.differs("kind", " or ".join(KINDS), "there is no other")
            if (computed := hash_of(row["text"])) != row["sha256"]:
                yield row.differs("sha256", computed, "it is that of the file's bytes")
            if row["sha256"] == before:
                yield row.differs("sha256", "another than before", "a version is kept when a file changed")
            before = row["sha256"]


def check_asked(facts: RecordReader) -> Found:
    """Cohorts that were shown another set than the file that they froze, or at prices to trade at."""
    sets = {row["sha256"]: row["text"] for row in facts.rows(FILES) if row["kind"] == KINDS[0]}
    for cohort in facts.rows(ASKING):
        shape = json_in(cohort["frozen"])
        place = shape["venue_settings"] if isinstance(shape, dict) else {}
        if (text := sets.get(place.get("sha256"))) is None:
            yield cohort.differs("frozen", "a set that is kept", "its questions are those of a file")
            continue
        expected = list(_shown(json.loads(text.removeprefix("\ufeff")), place))
        shown = list(facts.read(SHOWN, cohort=cohort["id"]))
        if shown and len(shown) != len(expected):
            yield cohort.differs("frozen", f"{len(shown)} questions", f"its file asks {len(expected)}")
        for (item, page, quote), (market, question, mid) in zip(shown, expected, strict=False):
            why = "so it is in the question set"
            if item["market_id"] != market:
                yield item.differs("market_id", market, why)
            if page is None or page["question"] != question:
                yield item.differs("version_id", f"a page that asks {question[:60]!r}", why)
            if (quote and (quote["mid"], quote["bid"], quote["ask"])) != (mid and (mid, None, None)):
                yield item.differs("quote_id", f"a price of {mid}, at which nobody trades", why)


def _shown(file: Any, place: Any) -> Iterator[Shown]:
    """What a file asks, in its order; questions about two others at once are left out."""
    due, version = file["forecast_due_date"], place["version"]
    prefix = (
        f"forecastbench:{due}{'' if version == 1 else f'.{version}'}{'+values' if place['prices'] else ''}"
    )
    for one in file["questions"]:
        if not isinstance(one["id"], str):
            continue
        question_id, question = (
            f"{prefix}:{one['source']}:{one['id']}",
            one["question"].replace("{forecast_due_date}", due),
        )
        if isinstance(days := one["resolution_dates"], list):
            for day in days:
                yield f"{question_id}@{day}", question.replace("{resolution_date}", day).strip(), None
        else:
            yield question_id, question.strip(), _millionths(one["freeze_datetime_value"])


def _millionths(value: Any) -> int | None:
    """A probability in millionths; None for what is none."""
    try:
        chance = Decimal(repr(float(value)))
    except (InvalidOperation, ValueError, TypeError):
        return None
    return int((chance * 1_000_000).to_integral_value(ROUND_HALF_EVEN)) if 0 <= chance <= 1 else None
