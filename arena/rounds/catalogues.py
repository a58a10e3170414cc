"""Checks whether a live venue's catalogue is complete, by the markets known to be open before.

A venue may answer with an empty page, with one page of many, or with other markets than were asked for. Taken
as a catalogue, that would call all other markets gone, and spend a round on nothing.
"""

from datetime import datetime, timedelta

from arena.cohorts.schedule import PLAY_WINDOW
from arena.record.model.incident import catalogue_incomplete
from arena.record.record import Record
from arena.record.write.operations import add_incidents, end_incidents, read_ongoing_incidents
from arena.record.write.sync import VenueSource, count_known_open
from arena.rounds.listings import ids_of
from markets.venue import Catalogue, CatalogueFilter, VenueError

FEWEST_KNOWN = 20
"""With so many markets known to be open, or fewer, any catalogue is taken as it is."""
LONGEST_DOUBT = timedelta(days=1)
"""After so long a catalogue that stays small is taken as it is: the venue may have shrunk."""


def check_complete(
    record: Record,
    source: VenueSource,
    catalogue: Catalogue,
    wanted: CatalogueFilter,
    now: datetime,
    due: datetime | None = None,
) -> str:
    """Return a note on an incomplete catalogue that is accepted; empty for a complete one.

    A catalogue is incomplete if it holds fewer than half of the markets known to be open. It is refused with
    `VenueError`, and nothing is written of it: for a round that is `due` until six hours have passed, for any
    reading until it has been incomplete for a day. An incident notes since when. A catalogue that was cut
    short on purpose, if it isn't empty, and one of a world that is not live, is taken as whole.
    """
    cut_short = catalogue.limit is not None and bool(catalogue.listings)
    if source.stamp != "live" or cut_short:
        return ""

    listed = set(ids_of(catalogue.listings))
    listed_count, known_count = record.read(count_known_open, source.venue, listed, now, wanted)
    about = f"{source.venue}@"
    if known_count <= FEWEST_KNOWN or 2 * listed_count >= known_count:
        end_incidents(record.engine, "catalogue_incomplete", now, about=about)
        return ""

    # The incident of a list that broke off says nothing of how long the catalogue has been too small.
    ongoing = record.read(read_ongoing_incidents, "catalogue_incomplete", about)
    small_since = [recorded.incident.at for recorded in ongoing if "known" in recorded.incident.data]
    incomplete_since = min(small_since, default=now)
    accepted_from = incomplete_since + LONGEST_DOUBT
    if due is not None:
        round_over_at = max(incomplete_since, due) + PLAY_WINDOW
        accepted_from = min(accepted_from, round_over_at)

    if now >= accepted_from:
        end_incidents(record.engine, "catalogue_incomplete", now, about=about)
        counts = f"{listed_count:,} of {known_count:,} known open markets"
        return f"{source.venue} still sends an incomplete catalogue, {counts}: it counts as it is"

    error = VenueError(
        "incomplete",
        f"its catalogue is incomplete: it holds {listed_count:,} of {known_count:,} markets known to be open",
        f"if it stays so, it counts as it is from {accepted_from:%Y-%m-%d %H:%M} UTC on",
    )
    if not small_since:
        end_incidents(record.engine, "catalogue_incomplete", now, about=about)
        incident = catalogue_incomplete(source.venue, now, error, listed_count, known_count)
        add_incidents(record.engine, [incident])
    raise error
