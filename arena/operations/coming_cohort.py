"""The cohort that a config starts next, by the record and the clock, and what changes with it."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeVar

from arena.cohorts.diff import CohortChanges, cohort_changes
from arena.cohorts.freeze import check_keys, freeze_cohort, plan_of, stamp_of
from arena.cohorts.replacements import agents_to_correct_first, changed_agents, replacements_from
from arena.cohorts.schedule import PLAY_WINDOW, next_command, next_start
from arena.config import Config, environment
from arena.errors import ArenaError
from arena.record.model.cohort import REHEARSAL, Cohort
from arena.record.schema.database import Connection, NoRecord, connect
from markets.model import Listing
from markets.universe import expected_ends_a_month, sure_ends_a_month

if TYPE_CHECKING:
    from arena.record.queries.calls import RecentUsage

T = TypeVar("T")
SAMPLE = 2_000
"""So many markets of a larger catalogue tell what it holds."""
NEIGHBOURS = 50
"""So many of them are side by side."""


@dataclass(frozen=True, slots=True)
class Catalogued:
    """The offers of a venue when it was last read: all of them, or a sample."""

    at: datetime
    listings: list[Listing]
    of: int


@dataclass(frozen=True, slots=True)
class RecordSoFar:
    """What the record says has begun: the cohorts, and the last time that was played.

    `unproven` has the cohorts in which agents have not had one good turn yet, and which these are.

    `usage` is what agents used in their newest turns. With `trouble` there is a record, or a place for one,
    that can't be read, and that is why. `offered` is the venue's catalogue as it was last read. `playing`
    are the cohorts that have not ended. A `rehearsal` was played on a pretended clock.
    """

    cohorts: tuple[Cohort, ...] = ()
    newest: datetime | None = None
    trouble: str = ""
    unproven: tuple[tuple[Cohort, frozenset[str]], ...] = ()
    usage: "Mapping[str, RecentUsage]" = field(default_factory=dict)
    offered: Catalogued | None = None
    playing: tuple[Cohort, ...] = ()
    rehearsal: bool = False

    @property
    def last(self) -> Cohort | None:
        """Return the cohort that started last."""
        return max(self.cohorts, key=lambda cohort: (cohort.starts_at, cohort.number), default=None)


@dataclass(frozen=True, slots=True)
class ComingCohort:
    """The number and the start of the next cohort, None once all have begun, and how many have begun.

    `next_command` plays what comes next. The start is missed once its round could not be played any more.
    """

    first_start: datetime
    cohorts_begun: int
    cohorts_by_hand: int
    next_cohort: int | None
    next_start: datetime | None
    next_start_at_once: bool
    next_command: str
    next_start_missed: bool
    record_trouble: str | None


@dataclass(frozen=True, slots=True)
class ExpectedEnds:
    """How many markets end in a month, by the catalogue as it was read at a time, or by the rule alone."""

    ends_a_month: int
    ends_from: Literal["catalogue", "rule"]
    ends_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class UnprovenAgents:
    """The agents of a cohort without one good turn: those that take their changed block, and the others."""

    cohort: int
    changed: list[str]
    unchanged: list[str]


def read_begun(database: str, models: Mapping[str, str], venue: str = "") -> RecordSoFar:
    """Return the state of the record at an address, with the usage of agents by name and model.

    Nothing is written. A record that can't be read is told as `trouble`.
    """
    try:
        engine = connect(database, read_only=True)
    except NoRecord:
        return RecordSoFar()
    except ArenaError as error:
        return RecordSoFar(trouble=error.message)

    # They take long to load, and without a record nobody needs them.
    from arena.record.queries.calls import read_recent_usage
    from arena.record.queries.cohorts import read_newest_time, read_unproven
    from arena.record.record import Record
    from arena.record.write.operations import read_jobs

    try:
        with closing(Record(engine)) as record:
            usage = {name: record.read(read_recent_usage, name, model) for name, model in models.items()}
            unproven = []
            playing = []
            for stored in record.cohorts():
                if stored.ended_at is not None:
                    continue
                playing.append(stored.cohort)

                # In a stopped cohort nobody has a turn any more.
                if stored.stopped_at is None:
                    names = frozenset(record.read(read_unproven, stored.id))
                    if names:
                        unproven.append((stored.cohort, names))

            offered = record.read(read_catalogue, venue) if venue else None
            return RecordSoFar(
                record.begun(),
                record.read(read_newest_time),
                unproven=tuple(unproven),
                usage=usage,
                offered=offered,
                playing=tuple(playing),
                rehearsal=REHEARSAL in record.read(read_jobs),
            )
    except ArenaError as error:
        return RecordSoFar(trouble=error.message)


def read_catalogue(connection: Connection, venue: str) -> Catalogued | None:
    """Return the offers of a venue when it was last read; None if it never was."""
    from arena.record.queries.markets import read_listings_as_of
    from arena.record.schema.statements import batches
    from arena.record.write.sync import VenueSource, last_synced_at, quoted_markets

    at = last_synced_at(connection, VenueSource(venue, ""))
    if at is None:
        return None

    quoted = sorted(quoted_markets(connection, venue))
    listings = []
    for batch in batches(sample(quoted)):
        listings += read_listings_as_of(connection, batch, at)
    return Catalogued(at, listings, len(quoted))


def sample(markets: Sequence[T]) -> list[T]:
    """Return all markets if they are few, else evenly spaced runs of neighbours, mostly whole events.

    >>> sample("abc"), len(sample(range(7_777))), sample(range(100_000))[49:51]
    (['a', 'b', 'c'], 2000, [49, 2500])
    """
    if len(markets) <= SAMPLE:
        return list(markets)

    run_count = SAMPLE // NEIGHBOURS
    sampled = list[T]()
    for number in range(run_count):
        start = number * len(markets) // run_count
        sampled += markets[start : start + NEIGHBOURS]
    return sampled


def expected_ends(config: Config, offered: Catalogued | None) -> ExpectedEnds:
    """Return how many markets are expected to end a month, by a catalogue or, without one, by the rule."""
    rule = config.universe
    every = config.cohorts.decide.every
    if offered is None:
        return ExpectedEnds(round(sure_ends_a_month(rule, every)), "rule")

    ends = expected_ends_a_month(offered.listings, rule, offered.at, every, offered.of)
    return ExpectedEnds(round(ends), "catalogue", offered.at)


def coming_cohort(
    config: Config, begun: RecordSoFar, at: datetime, environ: Mapping[str, str]
) -> ComingCohort:
    """Return the next cohort as of an instant, and the command that plays the next round."""
    is_live = stamp_of(config) == "live"
    plan = plan_of(config, at, begun.cohorts)
    starts = [cohort.starts_at for cohort in begun.cohorts]
    start = next_start(plan, starts, begun.newest, is_live, at, config.cohorts.catch_up)
    command = next_command(plan, is_live, begun.newest, at)
    if begun.rehearsal:
        command = "run --once --clock FILE"
    elif not starts:
        try:
            check_keys(config, environment(config.folder, environ))
        except ArenaError:
            command += " --baselines"

    return ComingCohort(
        first_start=plan.first,
        cohorts_begun=len(starts),
        cohorts_by_hand=sum(cohort.by_hand for cohort in begun.cohorts),
        next_cohort=None if start is None else len(starts) + 1,
        next_start=start,
        next_start_at_once=plan.at_once is not None,
        next_command=command,
        next_start_missed=start is not None and is_live and at - start > PLAY_WINDOW,
        record_trouble=begun.trouble or None,
    )


def joining_agents(config: Config, begun: RecordSoFar, open_cohorts: Sequence[Cohort]) -> list[str]:
    """Return the config's new agents, which join with its next cohort; none before a cohort has played.

    An agent is new if no open cohort has it; once all cohorts have ended, the last one counts.
    """
    cohorts = open_cohorts or begun.cohorts[-1:]
    playing = set[tuple[str, str]]()
    for cohort in cohorts:
        playing.update((entrant.name, entrant.kind) for entrant in cohort.entrants)

    if not playing:
        return []
    return [agent.name for agent in config.agents if (agent.name, agent.kind) not in playing]


def unproven_agents(config: Config, begun: RecordSoFar) -> list[UnprovenAgents]:
    """Return by cohort the agents without a good turn, and whether each uses its changed block next."""
    by_cohort = []
    for cohort, unproven in begun.unproven:
        taken = replacements_from(cohort.rounds, cohort, changed_agents(config, cohort), unproven)
        changed = [replacement.entrant.name for replacement in taken]
        unchanged = [name for name in agents_to_correct_first(cohort, unproven) if name not in changed]
        by_cohort.append(UnprovenAgents(cohort.number, changed, unchanged))
    return by_cohort


def changes_since(config: Config, last: Cohort, at: datetime) -> CohortChanges:
    """Return how the next cohort differs from the one that started last."""
    planned, _ = freeze_cohort(config, last.number + 1, at)
    return cohort_changes(last, planned, config.extensions("kinds"))
