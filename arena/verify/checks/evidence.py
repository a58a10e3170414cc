"""Evidence against the rules of what may be shown: not too late, not too much, and nothing suspect."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import itemgetter

from agents.guard import dated
from agents.model import DECIDED_STATUSES
from arena.record.model.cohort import NO_EVIDENCE, Cohort
from arena.verify.checks.audits import ShownText, audit_of, check_judged, check_verdicts, questions_of
from arena.verify.checks.seals import check_seal, object_in
from arena.verify.differences import Found
from arena.verify.reader import RecordReader, Row
from markets.hashes import timestamp_text

PIECES = """SELECT evidence.*, article.published_at, article.title, article.text, article.url,
    page.closes_at, item.market_id AS shown FROM evidence LEFT JOIN article ON article.hash = evidence.article
    LEFT JOIN snapshot_item AS item
    ON item.snapshot_id = :snapshot AND item.market_id = evidence.market_id
    LEFT JOIN market_version AS page ON page.id = item.version_id
    WHERE evidence.gathering_id = :gathering ORDER BY evidence.position"""
SEALS_GATHERED = "it seals what was gathered and each evidence in it"
TO_THE_MINUTE = 16


def check_dates(facts: RecordReader) -> Found:
    """Yield articles whose time of publication contradicts their date."""
    for row in facts.rows("article", "SELECT * FROM article"):
        meaning = dated(row["dated"].replace(" UTC", "Z"))
        latest = None
        if meaning is not None:
            # The words have no seconds: these are taken from the stored time.
            minutes = timestamp_text(meaning[0])[:TO_THE_MINUTE]
            latest = minutes + row["published_at"][TO_THE_MINUTE:]
        yield from row.compare({"published_at": latest}, "so it is dated")


def check_evidence(facts: RecordReader, cohort: Cohort, round_row: Row) -> Found:
    """Yield faults of a round's gathering: one the cohort didn't want, wrong counts, or none at all."""
    wanted = cohort.evidence != NO_EVIDENCE
    own = {"round": round_row["id"]}
    gatherings = list(facts.rows("gathering", "SELECT * FROM gathering WHERE round_id = :round", **own))
    for row in gatherings:
        given = {"gathering": row["id"], "snapshot": round_row["snapshot_id"]}
        pieces = list(facts.rows("evidence", PIECES, **given))
        yield from _check_gathering(facts, row, round_row, pieces)
        yield from _check_pieces(cohort, round_row, pieces)
        if not wanted:
            yield row.differs("round_id", None, "its cohort gathers none")

    if wanted and not gatherings:
        statuses = facts.column("status", "turn", "SELECT * FROM turn WHERE round_id = :round", **own)
        if not set(statuses).isdisjoint(DECIDED_STATUSES):
            yield round_row.differs("id", "that of a gathering", "agents decided on evidence")


def _check_gathering(facts: RecordReader, row: Row, round_row: Row, pieces: Sequence[Row]) -> Found:
    """Yield the faults in a gathering's counts, its hash, and its verdicts on what was shown."""
    counts = object_in(row["dropped"]).values()
    found = len(pieces) + sum(count for count in counts if type(count) is int)
    yield from row.compare({"found": found}, "the number shown or dropped")

    content = row.without("id", "round_id", "hash") | facts.place(row)
    del content["entrant"]
    content["items"] = list(map(itemgetter("market_id", "article", "fetched_at"), pieces))
    yield from check_seal(row, content, SEALS_GATHERED)

    if audit_of(row, "dropped") is not None:
        questions = questions_of(facts, round_row["snapshot_id"])
        texts = []
        for piece in pieces:
            if piece["title"] is None:
                continue
            question = questions.get(piece["market_id"], "")
            texts.append(ShownText(piece["title"], piece["text"], piece["url"], [question]))
        yield from check_verdicts(row, "dropped", texts, questions, round_row["at"])
    yield from check_judged(facts, row, "dropped", round_row["id"])


def _check_pieces(cohort: Cohort, round_row: Row, pieces: Sequence[Row]) -> Found:
    """Yield articles published after the round or the cutoff, out of order, or too many for a market."""
    markets = defaultdict[str, list[Row]](list)
    for row in pieces:
        if row["shown"] is None:
            yield row.differs("market_id", "a market of the snapshot", "nobody saw it")
        published = row["published_at"]
        if published is None:
            continue
        markets[row["market_id"]].append(row)
        if published > round_row["at"]:
            yield row.differs("article", f"one of {round_row['at']} or before", "it was the round's time")
        if row["closes_at"] is not None and published[:10] >= row["closes_at"][:10]:
            before = f"one from before the day of {row['closes_at']}"
            yield row.differs("article", before, "its market closes then")

    yield from _check_order(markets.values(), cohort.guard.per_market)


def _check_order(markets: Iterable[Sequence[Row]], most: int) -> Found:
    """Yield the articles of a market that are out of order, or too many."""
    for rows in markets:
        if len(rows) > most:
            yield rows[-1].differs("position", f"among the first {most}", "the frozen limit per market")
        for newer, older in pairwise(rows):
            if newer["published_at"] < older["published_at"] or newer["article"] == older["article"]:
                yield older.differs("article", "an older one", "the newest comes first")
