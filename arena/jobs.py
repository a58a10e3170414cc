"""What the jobs of `arena run` do between rounds, each at its scheduled time. Done twice, they do nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from arena.config import Config
from arena.errors import ArenaError
from arena.fault import in_words
from arena.prepared.prepare import prepare, prepare_boards
from arena.round import track
from arena.season import open_cohorts
from arena.store.backup import Backup
from arena.store.backup import backup as make_backup
from arena.store.database import looking
from arena.store.leases import Superseded
from arena.store.read import StoredCohort
from arena.store.record import Record
from arena.store.sync import Source
from arena.watch import learn_ends, watch
from arena.wording import counted
from arena.world import World
from markets.canonical import canonical
from markets.venue import SetAside, Venue, VenueError


@dataclass(frozen=True, slots=True)
class Site:
    """Where jobs are done: the config, the doors, the record, and the config's own venue.

    `asides` is where that venue reports to. Cohorts in `blocked` have something earlier to do.
    """

    config: Config
    world: World
    record: Record
    source: Source
    venue: Venue
    asides: list[SetAside] = field(default_factory=list)
    blocked: Collection[int] = ()

    def when(self, source: Source, at: datetime) -> datetime:
        """What time a venue is looked at for something scheduled: a live one only shows the present."""
        return self.world.now() if source.stamp == "live" else at


async def catalogue(site: Site, at: datetime) -> str:
    """Read all that the config's venue has on offer, without asking how markets ended."""
    when, last = site.when(site.source, at), site.record.synced_at(site.source)
    if last is not None and last >= when:
        return "read already"
    site.asides.clear()
    synced = (await watch(site.venue, site.source, site.record, when, site.asides, ends=False)).synced
    return f"{counted(synced.markets, 'market')}, {synced.new:,} new, {counted(synced.quotes, 'new price')}"


async def quotes(site: Site, at: datetime) -> str:
    """Read the prices of all markets that were shown or are held, and of which no end is known."""
    asked = site.record.followed(at)
    known = set(asked)

    async def look(source: Source, venue: Venue) -> int:
        told = await venue.listings(site.when(source, at), asked)
        return site.record.keep_quotes([listing for listing in told if listing.market.id in known])

    fresh = await _everywhere(site, at, look) if asked else 0
    return f"{counted(len(asked), 'market')}, {counted(fresh, 'new price')}"


async def resolutions(site: Site, at: datetime) -> str:
    """Ask how markets ended that were played, or have lost their price."""

    async def look(source: Source, venue: Venue) -> int:
        return await learn_ends(venue, source, site.record, site.when(source, at))

    return f"{counted(await _everywhere(site, at, look), 'new end')}"


async def marks(site: Site, at: datetime) -> str:
    """Settle and value every open cohort that has nothing earlier to do."""
    done, troubles = 0, list[str]()
    for stored in open_cohorts(site.record):
        number = stored.cohort.number
        if number in site.blocked or not _behind(stored, at, site.record):
            continue
        try:
            await track(stored, at, site.world, site.record)
            done += 1
        except Superseded:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one cohort must not stop the others
            troubles.append(f"cohort {number}: {in_words(error)}")
    if troubles:
        raise ArenaError("not_marked", "; ".join(troubles), status=2)
    return f"{counted(done, 'cohort')} settled and marked"


async def boards(site: Site, at: datetime) -> str:
    """Bring the leaderboards up to date, where a round was played, an account marked, or a market ended."""
    done = await asyncio.to_thread(prepare_boards, site.record, at)
    return f"{counted(done, 'board')} worked out" if done else "nothing has changed since the last time"


async def scores(site: Site, at: datetime) -> str:
    """Work out what the dashboard shows of agents in depth, where a market has ended since the last time."""
    done = await asyncio.to_thread(prepare, site.record, at)
    return f"{counted(done, 'figure')} worked out" if done else "nothing has changed since the last time"


async def retention(site: Site, at: datetime) -> str:
    """Let quotes go that are older than the config keeps them, and that nothing stands on."""
    edge = at - timedelta(seconds=site.config.run.keep_quotes)
    thinned = await asyncio.to_thread(site.record.prune, edge, at)
    return f"{counted(thinned.goes, 'quote')} from before {edge:%Y-%m-%d} went"


async def backup(site: Site, at: datetime) -> str:
    """Make a backup that is verified, named by its time; the oldest ones go."""
    config = site.config

    def told(_what: str, _done: int, _of: int | None) -> None:
        if site.world.under_way.closed:
            raise Stopped("the backup was broken off: the next start makes it")

    def made() -> Backup:
        with looking(config.database) as engine:
            return make_backup(engine, config.backups, config.backup.keep, at, told)

    found = await asyncio.to_thread(made)
    return f"{found.path.name}, {found.size:,} bytes, verified; {len(found.gone)} went"


class Stopped(Exception):
    """A job was broken off, for the arena is to stop. It is due again."""


class Unanswered(ArenaError):
    """Venues that gave no answer, each with what went wrong there."""

    def __init__(self, faults: Sequence[tuple[str, BaseException]]):
        words = "; ".join(f"{venue}: {in_words(fault)}" for venue, fault in faults)
        mends = (fault.mend for _, fault in faults if isinstance(fault, VenueError))
        super().__init__("no_answer", words, "; ".join(dict.fromkeys(mend for mend in mends if mend)))
        self.faults = tuple(faults)


Doing = Callable[[Site, datetime], Awaitable[str]]
DO: Mapping[str, Doing] = {
    job.__name__: job for job in (quotes, resolutions, marks, boards, scores, catalogue, retention, backup)
}
"""The jobs by name; each says in a few words what it did."""


def venues(site: Site) -> list[tuple[Source, Venue]]:
    """The venues of all open cohorts, each once."""
    cohorts = [stored.cohort for stored in open_cohorts(site.record)]
    found = {canonical([cohort.venue, cohort.venue_settings]): cohort for cohort in cohorts}
    return [(Source(x.venue, x.stamp), site.world.venue(x)) for x in found.values()]


def _behind(stored: StoredCohort, at: datetime, record: Record) -> bool:
    """Whether a cohort was not yet looked at, and marked, at that time or later."""
    looked = record.newest_time(stored.id)
    if looked is None or looked < at:
        return stored.cohort.starts_at < at
    return looked == at and not record.has_marks(stored.id, at)


async def _everywhere(site: Site, at: datetime, look: Callable[[Source, Venue], Awaitable[int]]) -> int:
    """Look at every venue, and say in the end which of them had no answer. What they set aside is kept."""
    found, faults = 0, list[tuple[str, BaseException]]()
    for source, venue in venues(site):
        try:
            found += await look(source, venue)
        except ArenaError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one venue must not stop the others
            faults.append((source.venue, error))
        finally:
            site.record.keep_asides(site.world.asides, at)
            site.world.asides.clear()
    if faults:
        raise Unanswered(faults)
    return found
