"""What every page needs: which cohorts and agents the record has."""

from collections.abc import Mapping

from arena.record.queries.accounts import read_cohort_depths
from arena.record.queries.cohorts import StoredCohort, read_cohorts, read_rounds
from arena.record.schema.database import Connection
from dashboard.model import CohortLine, SeasonOverview
from dashboard.source import RecordSource, ask, cached


@cached
def season(record: RecordSource) -> SeasonOverview:
    """What the record holds."""
    return ask(record, _read_season)


def _read_season(connection: Connection) -> SeasonOverview:
    stored = read_cohorts(connection)
    depths = read_cohort_depths(connection)
    kinds = {entrant.name: entrant.kind for one in stored for entrant in one.cohort.entrants}
    models = {
        entrant.name: str(entrant.settings["model"])
        for one in stored
        for entrant in one.cohort.entrants
        if entrant.settings.get("model")
    }
    lines = tuple(line_of(connection, one, depths) for one in stored)
    return SeasonOverview(lines, tuple(kinds.items()), models)


def line_of(connection: Connection, stored: StoredCohort, depths: Mapping[int, str]) -> CohortLine:
    """A cohort as lists have it; `depths` are what has to be said of the money of each, by number."""
    begun, frozen = read_rounds(connection, stored.id), stored.cohort
    played = sum(round.done for round in begun)
    return CohortLine(
        frozen.number,
        frozen.starts_at,
        stored.ended_at,
        frozen.rounds,
        played,
        frozen.stamp,
        frozen.venue,
        frozen.rules,
        paused=stored.paused_at is not None,
        stopped=stored.stopped_at is not None,
        unfinished=len(begun) - played,
        corrected_at=stored.corrected_at,
        depth=depths.get(frozen.number, ""),
    )
