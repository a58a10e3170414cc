"""Ends of simulated and recorded markets: learnt no sooner than they were known, and no later than that.

Each round asks how the markets ended that its cohort has seen. An end that was learnt later than at the first
round after it was known was hidden from that round, or read at a time that the season had not reached. Of
corrections that is not looked at: how long these are asked for, the config says, not the record.
"""

from collections.abc import Sequence

from arena.verify.checks.seals import object_in
from arena.verify.differences import Found
from arena.verify.reader import RecordReader, Row

TOLD_THEN = "a simulated or recorded venue tells every end as soon as it is known"
PLAYED_STAMPS = ("simulated", "replay")
"""Where no time passes, and a venue tells the whole story every time."""
GROWING = ("questions", "series")
"""Venues of files that people add ends to whenever they come by them, maybe after the next round."""
LISTED_BY = """SELECT DISTINCT snapshot.cohort_id AS cohort FROM snapshot_item AS item
    JOIN snapshot ON snapshot.id = item.snapshot_id WHERE item.market_id = :market"""
TOO_SOON = "SELECT * FROM resolution WHERE learnt_at < known_at"
PASSED_ROUNDS = """SELECT resolution.*, round.cohort_id AS cohort, round.at AS passed FROM resolution
    JOIN round ON round.at >= resolution.known_at AND round.at < resolution.learnt_at
    WHERE resolution.version = 1 AND EXISTS (SELECT 1 FROM snapshot_item AS item
    JOIN snapshot ON snapshot.id = item.snapshot_id WHERE item.market_id = resolution.market_id
    AND snapshot.cohort_id = round.cohort_id AND snapshot.at < round.at) ORDER BY resolution.id, round.at"""
"""Rounds that began between when an end could be known and when it was learnt, where it was asked for."""
OUTAGES = "SELECT * FROM set_aside WHERE kind = 'page'"
"""Venues that gave no answer, each from the first time until the last."""


def check_ends(facts: RecordReader) -> Found:
    """Yield ends of simulated or recorded markets that were learnt too soon or too late."""
    venues = _played_venues(facts)
    played = venues.keys()
    told_whole = {cohort for cohort, venue in venues.items() if venue not in GROWING}
    if not played:
        return

    for row in facts.rows("resolution", TOO_SOON):
        cohorts = set(facts.column("cohort", "snapshot", LISTED_BY, market=row["market_id"]))
        if cohorts and cohorts <= played:
            yield row.differs("learnt_at", f"{row['known_at']} or later", TOLD_THEN)

    outages = list(facts.rows("set_aside", OUTAGES))
    told = set[int]()
    for row in facts.rows("resolution", PASSED_ROUNDS):
        if row["id"] not in told and row["cohort"] in told_whole and not _was_away(row, outages):
            told.add(row["id"])
            yield row.differs("learnt_at", f"{row['passed']} or earlier", TOLD_THEN)


def _played_venues(facts: RecordReader) -> dict[int, str]:
    """Return the venues of the cohorts in which no time passes, by their ids."""
    venues = {}
    for row in facts.rows("cohort", "SELECT * FROM cohort"):
        frozen = object_in(row["frozen"])
        if frozen.get("stamp") in PLAYED_STAMPS:
            venues[row["id"]] = str(frozen.get("venue"))
    return venues


def _was_away(row: Row, outages: Sequence[Row]) -> bool:
    """Return whether the venue of a market may have given no answer at the round that passed."""
    venue = row["market_id"].partition(":")[0]
    for outage in outages:
        if outage["venue"] == venue and outage["first_seen_at"] <= row["passed"] <= outage["last_seen_at"]:
            return True
    return False
