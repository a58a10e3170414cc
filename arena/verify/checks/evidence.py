"""Evidence against the rule over what may be shown: nothing too late, nothing too much.

A gathering's hash is taken over cohort, round, its counts, and of each piece of evidence the market, the
article's hash and when it was fetched.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from itertools import pairwise

from sqlalchemy import bindparam

from arena.record.schema.cohort import EvidenceRow, GatheringRow
from arena.record.schema.typed import clause
from arena.record.schema.world import ArticleRow
from arena.verify.checks.audits import audit_of, check_verdicts, questions_of
from arena.verify.cohort import CheckedRound
from arena.verify.differences import Found, Row, check_numbers
from arena.verify.hashes import check_hash, json_in, without
from arena.verify.reader import RecordReader, RowPart, moment, rows_of, rows_query, written

DATED = rows_query(
    ArticleRow, RowPart(ArticleRow, "hash", "published_at", "dated"), order=[ArticleRow.hash], again=True
)
GATHERINGS = rows_of(GatheringRow, GatheringRow.round_id == bindparam("round"))
PIECES = rows_query(
    EvidenceRow.__table__.outerjoin(ArticleRow, clause(ArticleRow.hash == EvidenceRow.article)),
    EvidenceRow,
    RowPart(ArticleRow, "hash", "published_at", "title", "text", "url"),
    where=EvidenceRow.gathering_id == bindparam("gathering"),
    order=[EvidenceRow.position],
)
Piece = tuple[Row, Row | None]
"""A place of what was gathered, and its article."""

NONE = "none"
DECIDED = ("played", "partly", "malformed", "declined")
TO_THE_MINUTE = 16
AHEAD = {10: timedelta(days=1), TO_THE_MINUTE: timedelta(hours=12), 20: timedelta()}
"""How much later than it says a day, a time without a zone and one in UTC may mean, by their lengths."""


def check_dates(facts: RecordReader) -> Found:
    """Articles that say another time of publishing than their date can mean."""
    for row in facts.rows(DATED):
        expected = _latest(row["dated"], row["published_at"])
        yield from row.check({"published_at": (expected, "so it is dated")})


def check_evidence(facts: RecordReader, shown: CheckedRound, decided: bool) -> Found:
    """A round's gathering that its cohort didn't want, that doesn't add up, or that is missing."""
    wanted = shown.cohort.frozen is not None and shown.cohort.frozen.evidence != NONE
    gatherings = list(facts.rows(GATHERINGS, round=shown.round["id"]))
    for row in gatherings:
        pieces = [(piece, article) for piece, article in facts.read(PIECES, gathering=row["id"])]
        yield from _gathered(row, shown, [piece for piece, _ in pieces])
        if shown.cohort.frozen is not None and not wanted:
            yield row.differs("round_id", None, "its cohort gathers none")
        yield from _shown(shown, pieces)
        if audit_of(row, "dropped") is not None:
            questions = questions_of(facts, shown.round["snapshot_id"])
            texts = [
                (article["title"], article["text"], article["url"], [questions.get(piece["market_id"], "")])
                for piece, article in pieces
                if article is not None
            ]
            yield from check_verdicts(row, "dropped", texts, questions, shown.round["at"])
    if wanted and decided and not gatherings:
        yield shown.round.differs("id", "that of a gathering", "agents decided on evidence")


def _gathered(row: Row, shown: CheckedRound, pieces: list[Row]) -> Found:
    """A gathering's number of pieces, and its hash."""
    yield from check_numbers(pieces, "position", 0)
    dropped = json_in(row["dropped"])
    counts = dropped.values() if isinstance(dropped, dict) else ()
    found = len(pieces) + sum(count for count in counts if type(count) is int)
    yield from row.check({"found": (found, "the number shown or dropped")})
    place = {"cohort": shown.cohort.row["number"], "round": shown.round["number"]}
    items = [[piece["market_id"], piece["article"], piece["fetched_at"]] for piece in pieces]
    content = without(row, "id", "round_id", "hash") | place | {"items": items}
    yield from check_hash(row, content, "it seals what was gathered and each evidence in it")


def _shown(shown: CheckedRound, pieces: Iterable[Piece]) -> Found:
    """Articles from after the round or the cutoff, for strangers, out of order, or too many of them."""
    markets = defaultdict[str, list[tuple[Row, str]]](list)
    for row, article in pieces:
        if article is not None:
            yield from _timely(row, article["published_at"], shown)
            markets[row["market_id"]].append((row, article["published_at"]))
    for rows in markets.values():
        frozen = shown.cohort.frozen
        if frozen is not None and len(rows) > frozen.per_market:
            most, why = f"among the first {frozen.per_market}", "the frozen limit per market"
            yield rows[-1][0].differs("position", most, why)
        for (newer, published), (older, before) in pairwise(rows):
            if published < before or newer["article"] == older["article"]:
                yield older.differs("article", "an older one", "the newest comes first")


def _timely(row: Row, published: str, shown: CheckedRound) -> Found:
    """An article against its round's time, and the day before its market closes."""
    at, place = shown.round["at"], shown.by_market.get(row["market_id"])
    if published > at:
        words = f"one of {at} or before"
        yield row.differs("article", words, "it was the round's time")
    if place is None:
        yield row.differs("market_id", "a market of the snapshot", "nobody saw it")
    closes = place[1]["closes_at"] if place and place[1] else None
    if closes is not None and published[:10] >= closes[:10]:
        words = f"one from before the day of {closes}"
        yield row.differs("article", words, "its market closes then")


def _latest(dated: str, published: str) -> str | None:
    """The latest instant that a day or time can mean; seconds, which it doesn't say, are as they are told."""
    day, clock = dated[:10], dated[11:TO_THE_MINUTE] or "11:59"
    ahead = AHEAD.get(len(dated))
    at = None if ahead is None else moment(f"{day}T{clock}:00.000000Z")
    try:
        whole = None if at is None or ahead is None else written(at + ahead)
    except OverflowError:
        return None
    return whole and whole[:TO_THE_MINUTE] + published[TO_THE_MINUTE:]
