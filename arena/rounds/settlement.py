"""Settling: asking how markets ended, and paying, for as long as a venue may correct itself.

Between rounds a venue is read as well: its catalogue and how markets ended are written to the record.

An end is learnt and paid to all cohorts that have ended in one transaction, so a record never holds an
account of theirs that is settled by an older version. A cohort that goes on is paid when it is settled next;
until then its accounts are read with what they are owed (`arena.record.queries.settlements`).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from arena.cohorts.schedule import TICK
from arena.errors import ArenaError, count_text
from arena.record.model.calendar import WEEK
from arena.record.model.cohort import JobState
from arena.record.queries.accounts import read_ledger_heads, read_ledgers
from arena.record.queries.cohorts import (
    ASKED_WITHIN,
    StoredCohort,
    count_awaited_ends,
    read_cohorts,
    read_newest_time,
    read_resolutions,
    read_unresolved_markets,
)
from arena.record.queries.settlements import CORRECTIONS, read_unpaid_corrections
from arena.record.record import Record
from arena.record.schema.cohort import SnapshotItemRow
from arena.record.schema.database import Connection
from arena.record.schema.typed import clause, col, exists, func, select
from arena.record.schema.work import JobRow
from arena.record.schema.world import ResolutionRow
from arena.record.write.cohorts import add_settlements, add_snapshot, put_marks
from arena.record.write.operations import put_job
from arena.record.write.resolutions import add_resolutions
from arena.record.write.sync import SyncResult, VenueSource, add_catalogue, markets_gone_since
from arena.rounds.catalogues import check_complete
from arena.rounds.error_text import error_text
from arena.rounds.turns import is_late
from arena.rounds.world import World
from markets.hashes import canonical
from markets.model import Resolution, Snapshot
from markets.venue import EVERY_MARKET, CatalogueFilter, QuarantinedRecord, Venue, VenueError
from portfolio.ledger import fold, newest_resolutions, settle_resolved
from portfolio.marks import mark_at

T = TypeVar("T")
DAY = timedelta(days=1)
LATEST = datetime.max.replace(tzinfo=UTC)


class VenueUnavailable(ArenaError):
    """A round can't be played now because its live venue, which it names, is down."""

    def __init__(self, code: str, message: str, hint: str, venue: str, status: int = 1):
        super().__init__(code, message, hint, status)
        self.venue = venue


async def venue_answer(
    question: Awaitable[Sequence[T]],
    stored: StoredCohort,
    at: datetime,
    world: World,
    record: Record,
    decides: bool = True,
) -> Sequence[T]:
    """Return a venue's answer; an empty one if it has none and asking again would not help.

    Raise `VenueUnavailable` for a live venue that is down: it is asked again when the round is tried again.
    A made-up or recorded world, and a cohort that decides nothing, go on without: nothing is on offer, and
    what is held keeps its last known price. Nobody goes on where a person has to mend the venue's files.
    """
    try:
        return await question
    except VenueError as error:
        if error.stops or (decides and stored.cohort.stamp == "live"):
            hints = [error.hint]
            if not is_late(stored.cohort, at, world.now()):
                hints.append(f"`arena run --round --at {at:%Y-%m-%dT%H:%MZ}` tries again")
            hint = "; ".join(filter(None, hints))
            message = f"cohort {stored.cohort.number} was not played: {error.message}"
            raise VenueUnavailable(error.code, message, hint, stored.cohort.venue) from error

        trouble = QuarantinedRecord(stored.cohort.venue, "", "page", error.code, error_text(error))
        world.quarantined.append(trouble)
        return []
    finally:
        record.quarantine(world.quarantined, at)
        world.quarantined.clear()


def venue_error(error: VenueError) -> ArenaError:
    """Return a venue's error as the command line shows it."""
    return ArenaError(error.code, error.message, error.hint)


async def settle_cohort(
    stored: StoredCohort, at: datetime, world: World, record: Record, decides: bool = True
) -> tuple[str, ...]:
    """Ask how forecast and held markets ended, and pay what they pay.

    Return notes on what was rejected in a cohort without money: a question gone from its folder, say.
    """
    unresolved = record.read(read_unresolved_markets, at - world.corrected_within)
    rejected = []

    async def ask() -> Sequence[Resolution]:
        ends = await world.venue(stored.cohort).resolutions(at, unresolved)
        rejected.extend(world.quarantined)
        return ends

    answered = await venue_answer(ask(), stored, at, world, record, decides)
    record.write(learn_resolutions, answered, at, live=stored.cohort.stamp == "live")

    accounts = record.holdings(stored.id)
    held = set()
    for account in accounts.values():
        for market, _ in [*account.lots, *account.settled]:
            held.add(market)
    ends = newest_resolutions(record.read(read_resolutions, sorted(held), at), at)

    entries_by_entrant = {}
    for name, account in accounts.items():
        entries_by_entrant[stored.entrant_ids[name]] = settle_resolved(ends, account, at)
    record.add_entries(entries_by_entrant)
    return () if stored.cohort.rules.money else set_aside_notes(rejected)


def set_aside_notes(rejected: Sequence[QuarantinedRecord]) -> tuple[str, ...]:
    """Return a note on quarantined records, with the reason of the first; none if there are none."""
    if not rejected:
        return ()
    return (f"{count_text(len(rejected), 'record')} set aside: {rejected[0].reason}",)


def learn_resolutions(
    connection: Connection, resolutions: Sequence[Resolution], at: datetime, live: bool = False
) -> int:
    """Store the new ones of these resolutions, pay them to ended cohorts, and return their number."""
    count = add_resolutions(connection, resolutions, at, live)
    pay_ended_cohorts(connection, at)
    return count


def pay_ended_cohorts(connection: Connection, at: datetime) -> None:
    """Reopen each ended cohort that was settled by an older version: pay, mark, and close it again.

    Nobody holds anything then, so the snapshot behind its marks is empty. It comes after all that it has.
    """
    unpaid_corrections = read_unpaid_corrections(connection)
    if not unpaid_corrections:
        return

    numbers = {stored.id: stored.cohort.number for stored in read_cohorts(connection)}
    for cohort_id, markets in unpaid_corrections.items():
        resolutions = read_resolutions(connection, markets, LATEST)
        newest_at = read_newest_time(connection, cohort_id) or at
        known_times = [resolution.known_at for resolution in resolutions]
        paid_at = max(at, newest_at + TICK, *known_times)
        ends = newest_resolutions(resolutions, paid_at)

        ledgers = read_ledgers(connection, cohort_id)
        new_entries = {}
        new_holdings = {}
        for name, (entrant_id, _) in read_ledger_heads(connection, cohort_id).items():
            account = fold(ledgers[name])
            entries = settle_resolved(ends, account, paid_at)
            # Entries made right here need no check of their hashes: they are sealed.
            new_holdings[entrant_id] = fold(entries, account, sealed=True)
            if entries:
                new_entries[entrant_id] = entries
        if not new_entries:
            continue

        add_settlements(connection, new_entries)

        # Nothing is held any more, so the snapshot that the marks refer to has no markets and no prices.
        empty_snapshot = Snapshot(paid_at, ())
        snapshot_id = add_snapshot(connection, cohort_id, numbers[cohort_id], empty_snapshot, None)
        put_marks(
            connection, snapshot_id, mark_at(new_holdings, paid_at, quotes={}, max_age=DAY, seen_at=paid_at)
        )


async def settle_ended(at: datetime, world: World, record: Record) -> None:
    """Ask how markets ended at venues without an open cohort, and pay what was corrected."""
    newest_by_venue = {}
    venues_in_play = set()
    for stored in record.cohorts():
        venue = canonical([stored.cohort.venue, stored.cohort.venue_settings])
        newest_by_venue[venue] = stored
        if stored.ended_at is None:
            venues_in_play.add(venue)

    for venue in venues_in_play:
        del newest_by_venue[venue]
    if not newest_by_venue:
        return

    # While a cohort plays elsewhere, a venue that is down stops nothing: it is asked again at the next time.
    all_ended = not venues_in_play
    markets = record.read(read_unresolved_markets, at - world.corrected_within)
    for stored in newest_by_venue.values():
        question = world.venue(stored.cohort).resolutions(at, markets)
        answered = await venue_answer(question, stored, at, world, record, decides=all_ended)
        record.write(learn_resolutions, answered, at, live=stored.cohort.stamp == "live")

    if all_ended:
        record.write(put_job, JobState(CORRECTIONS, at, world.now(), world.now()))


def next_look(
    record: Record,
    cohorts: Sequence[StoredCohort],
    world_is_live: bool,
    corrected_within: timedelta,
    pretended: bool = False,
) -> datetime | None:
    """Return when ends are next asked for if no cohort is open; None while one is, or if none may come.

    On a `pretended` clock a live world is asked for corrections alone: its markets end by the real one.
    """
    for stored in cohorts:
        if stored.ended_at is None:
            return None

    awaits_ends = not (world_is_live and pretended)
    return record.read(_read_next_look, world_is_live, corrected_within, awaits_ends)


WAS_SHOWN = exists().where(clause(SnapshotItemRow.market_id == ResolutionRow.market_id))
LAST_ENDS = select(func.max(ResolutionRow.learnt_at), func.max(ResolutionRow.known_at)).where(WAS_SHOWN)
LAST_LOOK = select(JobRow.due_at).where(
    JobRow.name == CORRECTIONS, JobRow.failures == 0, col(JobRow.ended_at).is_not(None)
)


def _read_next_look(
    connection: Connection, live: bool, corrected_within: timedelta, awaits_ends: bool
) -> datetime | None:
    """Return when to ask for ends again in a record without an open cohort; None once none may come.

    Where it `awaits_ends`, those of markets that nobody holds are asked for too. Corrections may come until
    so long after the last end or correction: after it was learnt in a `live` world, in another after it could
    be known, however late one looks. What is still owed is paid with the next look.
    """
    newest_at = read_newest_time(connection)
    if newest_at is None:
        return None

    corrections_read_at = connection.scalar(LAST_LOOK)
    last_look = max(newest_at, corrections_read_at or newest_at)
    next_regular_look = last_look + (DAY if live else WEEK)
    if awaits_ends and count_awaited_ends(connection, last_look - ASKED_WITHIN):
        return next_regular_look

    last_learnt_at, last_known_at = connection.execute(LAST_ENDS).one()
    if last_learnt_at is None:
        return None

    last_end = last_learnt_at if live else last_known_at
    final_at = last_end + corrected_within
    if last_look < final_at:
        return min(next_regular_look, final_at)
    if read_unpaid_corrections(connection):
        return next_regular_look
    return None


@dataclass(frozen=True, slots=True)
class VenueSync:
    """The result of reading a venue: its catalogue, the number of new resolutions, and quarantined records.

    Of the catalogue also how many open markets were `left_out`, by reason, and the `limit` it stopped at.
    `trouble` is why nothing is known of how markets ended, `note` that an incomplete catalogue was taken.
    """

    synced: SyncResult
    left_out: Mapping[str, int]
    limit: int | None
    resolutions: int
    quarantined: tuple[QuarantinedRecord, ...]
    trouble: VenueError | None
    note: str = ""

    @property
    def complete(self) -> bool:
        """Tell whether everything that the venue sent could be used."""
        return not self.quarantined and self.trouble is None


async def sync_venue(
    venue: Venue,
    source: VenueSource,
    record: Record,
    at: datetime,
    quarantined: list[QuarantinedRecord],
    on_stored: Callable[[int, int], None] = lambda _done, _of: None,
    ends_within: timedelta | None = None,
    wanted: CatalogueFilter = EVERY_MARKET,
) -> VenueSync:
    """Read what is wanted of a venue's catalogue, and how markets ended unless `ends_within` is None.

    `ends_within` is for how long after an end corrections are asked for. `quarantined` is where the venue
    reports to. A catalogue that can't be read, or is incomplete, is an error, and what was quarantined until
    then is kept. Ends that can't be read are returned as `trouble`.
    """
    try:
        catalogue = await venue.catalogue(at, wanted)
        note = check_complete(record, source, catalogue, wanted, at)
    except VenueError as error:
        record.quarantine(quarantined, at)
        raise venue_error(error) from error

    synced = record.write(
        add_catalogue, source, catalogue.listings, at, quarantined, on_stored, wanted, catalogue.left_out
    )

    quarantined_before = len(quarantined)
    new_ends = 0
    trouble = None
    if ends_within is not None:
        try:
            new_ends = await sync_resolutions(venue, source, record, at, ends_within)
        except VenueError as error:
            trouble = error
        record.quarantine(quarantined[quarantined_before:], at)

    return VenueSync(synced, catalogue.left_out, catalogue.limit, new_ends, tuple(quarantined), trouble, note)


async def sync_resolutions(
    venue: Venue, source: VenueSource, record: Record, at: datetime, corrected_within: timedelta
) -> int:
    """Ask how markets ended that were played or have lost their price, and return how many ends were new.

    Corrections are asked for until so long after the last thing that was learnt of a market.
    """
    played = record.read(read_unresolved_markets, at - corrected_within)
    gone = record.read(markets_gone_since, at - ASKED_WITHIN)
    asked = {*played, *gone}
    answered: Sequence[Resolution] = []
    if asked:
        answered = await venue.resolutions(at, sorted(asked))

    # A venue may answer with more than it was asked for.
    asked_resolutions = [resolution for resolution in answered if resolution.market_id in asked]
    return record.write(learn_resolutions, asked_resolutions, at, live=source.stamp == "live")
