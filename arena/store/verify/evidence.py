"""Evidence against the rule over what may be shown: nothing too late, nothing too much.

A gathering's hash is taken over cohort, round, its counts, and of each piece of evidence the market, the
article's hash and when it was fetched.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

from arena.store.tables import ARTICLE, COHORT, EVIDENCE, GATHERING, ROUND, TURN
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts, Row, moment, written
from arena.store.verify.frozen import frozen_cohorts
from arena.store.verify.naming import compared, differs, numbered
from arena.store.verify.seals import parsed, sha256_of, without

NONE = "none"
DECIDED = ("played", "malformed")
TO_THE_MINUTE = 16
AHEAD = {10: timedelta(days=1), TO_THE_MINUTE: timedelta(hours=12), 20: timedelta()}
"""How much later than it says a day, a time without a zone and one in UTC may mean, by their lengths."""


def check_gathered(facts: Facts) -> Iterator[Difference]:
    """Gatherings that their cohort didn't want, that don't add up, or that are missing."""
    cohorts, rounds = frozen_cohorts(facts), facts.by_id(ROUND)
    pieces, known = facts.grouped(EVIDENCE, "gathering_id"), set[int]()
    for row in facts.rows(GATHERING):
        known.add(row["round_id"])
        yield from numbered(facts, EVIDENCE, pieces[row["id"]], "position", 0)
        found = len(pieces[row["id"]]) + _sum(parsed(row["dropped"]))
        yield from compared(facts, GATHERING, row, {"found": (found, "so many were shown or dropped")})
        round = rounds.get(row["round_id"])
        yield from _sealed(facts, row, round, pieces[row["id"]])
        frozen = cohorts.get(round["cohort_id"]) if round else None
        if frozen is not None and frozen.evidence == NONE:
            yield differs(facts, GATHERING, row, "round_id", None, "its cohort gathers none")
    decided = {turn["round_id"] for turn in facts.rows(TURN) if turn["verdict"] in DECIDED}
    for row in facts.rows(ROUND):
        frozen = cohorts.get(row["cohort_id"])
        wanted = frozen is not None and frozen.evidence != NONE and row["id"] in decided
        if wanted and row["id"] not in known:
            yield differs(facts, ROUND, row, "id", "that of a gathering", "agents decided on evidence")


def _sealed(facts: Facts, row: Row, round: Row | None, pieces: list[Row]) -> Iterator[Difference]:
    cohort = facts.by_id(COHORT).get(round["cohort_id"]) if round else None
    place = {"cohort": cohort and cohort["number"], "round": round and round["number"]}
    items = [[piece["market_id"], piece["article"], piece["fetched_at"]] for piece in pieces]
    sealed = without(row, "id", "round_id", "hash") | place | {"items": items}
    why = "it seals what was gathered and each evidence in it"
    yield from compared(facts, GATHERING, row, {"hash": (sha256_of(sealed), why)})


def _sum(dropped: Any) -> int:
    counts = dropped.values() if isinstance(dropped, dict) else ()
    return sum(count for count in counts if type(count) is int)


def check_evidence(facts: Facts) -> Iterator[Difference]:
    """Articles from after the round or the cutoff, for strangers, out of order, or too many of them."""
    articles = {row["hash"]: row for row in facts.rows(ARTICLE)}
    gatherings, rounds = facts.by_id(GATHERING), facts.by_id(ROUND)
    markets: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for row in articles.values():
        expected = _latest(row["dated"], row["published_at"])
        yield from compared(facts, ARTICLE, row, {"published_at": (expected, "so it is dated")})
    for row in facts.rows(EVIDENCE):
        gathering, article = gatherings.get(row["gathering_id"]), articles.get(row["article"])
        round = rounds.get(gathering["round_id"]) if gathering else None
        if round is not None and article is not None:
            yield from _timely(facts, row, article, round)
            markets[round["id"], row["market_id"]].append(row)
    yield from _in_order(facts, markets, articles)


def _timely(facts: Facts, row: Row, article: Row, round: Row) -> Iterator[Difference]:
    """An article against its round's time, and the day before its market closes."""
    published, listed = article["published_at"], facts.listed.get(round["snapshot_id"], ())
    if published > round["at"]:
        words = f"one of {round['at']} or before"
        yield differs(facts, EVIDENCE, row, "article", words, "it was the round's time")
    pages = [version for item, version, _ in listed if item["market_id"] == row["market_id"]]
    if not pages:
        yield differs(facts, EVIDENCE, row, "market_id", "a market of the snapshot", "nobody saw it")
    closes = [page["closes_at"] for page in pages if page is not None]
    if closes and published[:10] >= closes[0][:10]:
        words = f"one from before the day of {closes[0]}"
        yield differs(facts, EVIDENCE, row, "article", words, "its market closes then")


def _in_order(
    facts: Facts, markets: dict[tuple[int, str], list[Row]], articles: dict[str, Row]
) -> Iterator[Difference]:
    """The articles of each market in a round: newest first, each once, and no more than was frozen."""
    cohorts, rounds = frozen_cohorts(facts), facts.by_id(ROUND)
    for (round_id, _), rows in markets.items():
        frozen = cohorts.get(rounds[round_id]["cohort_id"])
        if frozen is not None and len(rows) > frozen.per_market:
            most = f"among the first {frozen.per_market}"
            yield differs(facts, EVIDENCE, rows[-1], "position", most, "so many a market were frozen")
        for newer, older in pairwise(rows):
            ages = [articles[row["article"]]["published_at"] for row in (newer, older)]
            if ages[0] < ages[1] or newer["article"] == older["article"]:
                yield differs(facts, EVIDENCE, older, "article", "an older one", "the newest comes first")


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
