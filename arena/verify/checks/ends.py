"""Resolutions of simulated and recorded markets: learnt neither before they were known nor too late.

Each round asks for the resolutions of the markets that its cohort has seen. One that was learnt later than at
the first round after it was known was withheld from that round, or was read at a time that the season had not
reached. Corrections are not checked: how long they are asked for is in the config, not in the record.
"""

from collections.abc import Sequence

from arena.verify.checks.seals import object_in
from arena.verify.differences import Found
from arena.verify.reader import RecordReader, Row

TOLD_THEN = "a simulated or recorded venue tells every end as soon as it is known"
PLAYED_STAMPS = ("simulated", "replay")
"""Stamps of cohorts in which no real time passes, and whose venue always returns its whole history."""
GROWING = ("questions", "series")
"""Venues made of files to which people add resolutions at any time, possibly after the next round."""
LISTED_BY = """SELECT DISTINCT snapshot.cohort_id AS cohort FROM snapshot_item AS item
    JOIN snapshot ON snapshot.id = item.snapshot_id WHERE item.market_id = :market"""
TOO_SOON = "SELECT * FROM resolution WHERE learnt_at < known_at"
PASSED_ROUNDS = """SELECT resolution.*, round.cohort_id AS cohort, round.at AS passed FROM resolution
    JOIN round ON round.at >= resolution.known_at AND round.at < resolution.learnt_at
    WHERE resolution.version = 1 AND EXISTS (SELECT 1 FROM snapshot_item AS item
    JOIN snapshot ON snapshot.id = item.snapshot_id WHERE item.market_id = resolution.market_id
    AND snapshot.cohort_id = round.cohort_id AND snapshot.at < round.at) ORDER BY resolution.id, round.at"""
"""Rounds that asked for a resolution after it was known and before it was learnt."""
OUTAGES = "SELECT * FROM set_aside WHERE kind = 'page'"
"""Outages of venues, each from the first failure to the last."""


def check_ends(facts: RecordReader) -> Found:
    """Yield resolutions of simulated or recorded markets that were learnt too soon or too late."""
    venue_of_cohort = _venues_of_played_cohorts(facts)
    played_cohorts = venue_of_cohort.keys()
    # People may add ends to a growing venue at any time, so only for the others one can be learnt too late.
    told_at_once = {cohort for cohort, venue in venue_of_cohort.items() if venue not in GROWING}
    if not played_cohorts:
        return

    for row in facts.rows("resolution", TOO_SOON):
        cohorts = set(facts.column("cohort", "snapshot", LISTED_BY, market=row["market_id"]))
        if cohorts and cohorts <= played_cohorts:
            yield row.differs("learnt_at", f"{row['known_at']} or later", TOLD_THEN)

    outages = list(facts.rows("set_aside", OUTAGES))
    reported = set[int]()
    for row in facts.rows("resolution", PASSED_ROUNDS):
        if row["id"] not in reported and row["cohort"] in told_at_once and not _venue_was_away(row, outages):
            reported.add(row["id"])
            yield row.differs("learnt_at", f"{row['passed']} or earlier", TOLD_THEN)


def _venues_of_played_cohorts(facts: RecordReader) -> dict[int, str]:
    """Return the venues of simulated and replayed cohorts, by the cohorts' ids."""
    venues = {}
    for row in facts.rows("cohort", "SELECT * FROM cohort"):
        frozen = object_in(row["frozen"])
        if frozen.get("stamp") in PLAYED_STAMPS:
            venues[row["id"]] = str(frozen.get("venue"))
    return venues


def _venue_was_away(row: Row, outages: Sequence[Row]) -> bool:
    """Tell whether the venue of a market may have been unavailable at the round that passed."""
    venue = row["market_id"].partition(":")[0]
    for outage in outages:
        if outage["venue"] == venue and outage["first_seen_at"] <= row["passed"] <= outage["last_seen_at"]:
            return True
    return False
