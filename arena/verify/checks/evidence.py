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
        date_meaning = dated(row["dated"].replace(" UTC", "Z"))
        expected = None
        if date_meaning is not None:
            # A date as given has no seconds: these are taken from the stored time.
            latest_time, _ = date_meaning
            expected = timestamp_text(latest_time)[:TO_THE_MINUTE] + row["published_at"][TO_THE_MINUTE:]
        yield from row.compare({"published_at": expected}, "so it is dated")


def check_evidence(facts: RecordReader, cohort: Cohort, round_row: Row) -> Found:
    """Yield faults of a round's gathering: one the cohort didn't want, wrong counts, or none at all."""
    gathers_evidence = cohort.evidence != NO_EVIDENCE
    of_round = {"round": round_row["id"]}
    gatherings = list(facts.rows("gathering", "SELECT * FROM gathering WHERE round_id = :round", **of_round))
    for row in gatherings:
        pieces = list(facts.rows("evidence", PIECES, gathering=row["id"], snapshot=round_row["snapshot_id"]))
        yield from _check_gathering(facts, row, round_row, pieces)
        yield from _check_pieces(cohort, round_row, pieces)
        if not gathers_evidence:
            yield row.differs("round_id", None, "its cohort gathers none")

    if gathers_evidence and not gatherings:
        statuses = facts.column("status", "turn", "SELECT * FROM turn WHERE round_id = :round", **of_round)
        if not set(statuses).isdisjoint(DECIDED_STATUSES):
            yield round_row.differs("id", "that of a gathering", "agents decided on evidence")


def _check_gathering(facts: RecordReader, row: Row, round_row: Row, pieces: Sequence[Row]) -> Found:
    """Yield the faults in a gathering's counts, its hash, and its verdicts on what was shown."""
    dropped_counts = object_in(row["dropped"]).values()
    total = len(pieces) + sum(count for count in dropped_counts if type(count) is int)
    yield from row.compare({"found": total}, "the number shown or dropped")

    content = row.without("id", "round_id", "hash") | facts.natural_key(row)
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
    articles_by_market = defaultdict[str, list[Row]](list)
    for row in pieces:
        if row["shown"] is None:
            yield row.differs("market_id", "a market of the snapshot", "nobody saw it")
        published_at = row["published_at"]
        if published_at is None:
            continue
        articles_by_market[row["market_id"]].append(row)
        if published_at > round_row["at"]:
            yield row.differs("article", f"one of {round_row['at']} or before", "it was the round's time")
        if row["closes_at"] is not None and published_at[:10] >= row["closes_at"][:10]:
            expected = f"one from before the day of {row['closes_at']}"
            yield row.differs("article", expected, "its market closes then")

    yield from _check_order_and_limit(articles_by_market.values(), cohort.guard.per_market)


def _check_order_and_limit(articles_of_markets: Iterable[Sequence[Row]], limit: int) -> Found:
    """Yield the articles of a market that are out of order, or too many."""
    for articles in articles_of_markets:
        if len(articles) > limit:
            yield articles[-1].differs("position", f"among the first {limit}", "the frozen limit per market")
        for newer, older in pairwise(articles):
            if newer["published_at"] < older["published_at"] or newer["article"] == older["article"]:
                yield older.differs("article", "an older one", "the newest comes first")
