"""Which cohort starts next, as the record and the clock have it, and what changes with it."""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from arena.cli.output import Data, minute, plain, typed
from arena.clock import now
from arena.cohorts.diff import changes_in_words, cohort_changes, diff_data
from arena.cohorts.freeze import check_keys, freeze_cohort, plan_of, stamp_of
from arena.cohorts.replacements import changed_agents, replacements_from, without_followers
from arena.cohorts.schedule import PLAY_WINDOW, next_command, next_start
from arena.config import Config, environment
from arena.errors import ArenaError, count_text
from arena.record.model.cohort import Cohort
from arena.record.schema.database import Connection, NoRecord, connect
from arena.scores.verdict import list_names
from markets.model import Listing
from markets.universe import expected_ends_a_month, sure_ends_a_month

if TYPE_CHECKING:
    from arena.record.queries.calls import RecentUsage

T = TypeVar("T")
SAMPLE = 2_000
"""So many markets of a larger catalogue tell what it holds."""
NEIGHBOURS = 50
"""So many of them are side by side."""
MOST = 5
"""So many changes are told; the rest is for `arena show cohort`."""


@dataclass(frozen=True, slots=True)
class RecordSoFar:
    """What the record says has begun: the cohorts, and the last time that was played.

    `unproven` has the cohorts in which agents have not had one good turn yet, and which these are.

    `usage` is what agents used in their newest turns. With `trouble` there is a record, or a place for one,
    that can't be read, and that is why. `offered` is the venue's catalogue as it was last read.
    """

    cohorts: tuple[Cohort, ...] = ()
    newest: datetime | None = None
    trouble: str = ""
    unproven: tuple[tuple[Cohort, frozenset[str]], ...] = ()
    usage: "Mapping[str, RecentUsage]" = field(default_factory=dict)
    offered: "Catalogued | None" = None

    @property
    def last(self) -> Cohort | None:
        """Return the cohort that started last."""
        return max(self.cohorts, key=lambda cohort: (cohort.starts_at, cohort.number), default=None)


@dataclass(frozen=True, slots=True)
class Catalogued:
    """What a venue had on offer when it was last read: all, or a sample of so many."""

    at: datetime
    listings: list[Listing]
    of: int


def read_catalogue(connection: Connection, venue: str) -> Catalogued | None:
    """Return what a venue had on offer when it was last read; None if it never was."""
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
    """Return all of a few markets; of more than that neighbours at even distances, mostly whole events.

    >>> sample("abc"), len(sample(range(7_777))), sample(range(100_000))[49:51]
    (['a', 'b', 'c'], 2000, [49, 2500])
    """
    if len(markets) <= SAMPLE:
        return list(markets)

    chosen = list[T]()
    for number in range(SAMPLE // NEIGHBOURS):
        start = number * len(markets) * NEIGHBOURS // SAMPLE
        chosen += markets[start : start + NEIGHBOURS]
    return chosen


def expected_ends(config: Config, offered: Catalogued | None) -> dict[str, Any]:
    """Return how many ends a month the rule is to bring, by a catalogue or, without one, by the rule."""
    rule = config.markets.universe
    every = config.cohorts.decide.every
    if offered is None:
        return {"ends_a_month": round(sure_ends_a_month(rule, every)), "ends_from": "rule", "ends_at": None}

    ends = expected_ends_a_month(offered.listings, rule, offered.at, every, offered.of)
    return {"ends_a_month": round(ends), "ends_from": "catalogue", "ends_at": offered.at}


def ends_text(data: Data) -> str:
    """Return the expected ends in words."""
    ends = f"{data['ends_a_month']:,}"
    if data["ends_from"] == "rule":
        return f"at least {ends} a month, if every round is full (estimated; no catalogue has been read yet)"
    return f"about {ends} a month (by the catalogue of {minute(data['ends_at'])} UTC)"


def read_begun(database: str, models: Mapping[str, str], venue: str = "") -> RecordSoFar:
    """Return what the record at an address says has begun, with the usage of agents by name and model.

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

    try:
        with closing(Record(engine)) as record:
            usage = {name: record.read(read_recent_usage, name, model) for name, model in models.items()}
            unproven = []
            for stored in record.cohorts():
                if stored.ended_at is None and stored.stopped_at is None:
                    names = frozenset(record.read(read_unproven, stored.id))
                    if names:
                        unproven.append((stored.cohort, names))

            offered = record.read(read_catalogue, venue) if venue else None
            newest = record.read(read_newest_time)
            return RecordSoFar(record.begun(), newest, "", tuple(unproven), usage, offered)
    except ArenaError as error:
        return RecordSoFar(trouble=error.message)


def next_cohort(config: Config, begun: RecordSoFar, at: datetime) -> dict[str, Any]:
    """Return the number and the start of the next cohort, None once all have begun, and how many have."""
    is_live = stamp_of(config) == "live"
    plan = plan_of(config, at, begun.cohorts)
    starts = [cohort.starts_at for cohort in begun.cohorts]
    start = next_start(plan, starts, begun.newest, is_live, at, config.cohorts.catch_up)
    command = next_command(plan, is_live, begun.newest, at)
    if not starts:
        try:
            check_keys(config, environment(config.folder, os.environ))
        except ArenaError:
            command += " --baselines"

    return {
        "first_start": plan.first,
        "cohorts_begun": len(starts),
        "cohorts_by_hand": sum(cohort.by_hand for cohort in begun.cohorts),
        "next_cohort": None if start is None else len(starts) + 1,
        "next_start": start,
        "next_start_at_once": plan.at_once is not None,
        "next_command": command,
        "next_start_missed": start is not None and is_live and at - start > PLAY_WINDOW,
        "record_trouble": begun.trouble or None,
    }


def start_text(data: Data) -> str:
    """Return the next start in words."""
    count = data["cohorts"]
    by_hand = data["cohorts_by_hand"]
    if data["next_start"] is None:
        begun = data["cohorts_begun"] - by_hand
        more = f" and {by_hand} by hand" if by_hand else ""
        have = "has" if begun == 1 and not by_hand else "have"
        return f"none: {begun} of {count_text(count, 'cohort')}{more} {have} started, and none is scheduled"

    when = f"{minute(data['next_start'])} UTC"
    if data["next_start_at_once"]:
        when = "now, with arena run or arena run --round"
    elif data["next_start_missed"]:
        when = f"as soon as you start arena run (its scheduled start, {when}, has passed)"
    of_count = f" of {count}" if count and not by_hand else ""
    return f"{when}: cohort {data['next_cohort']}{of_count}; then one a week"


def joining_text(config: Config, begun: RecordSoFar, open_cohorts: Sequence[Cohort]) -> str:
    """Return with which cohort the config's new agents join, and how to start it now; empty if none is new.

    An agent is new if no open cohort has it; once all cohorts have ended, the last one counts.
    """
    cohorts = open_cohorts or begun.cohorts[-1:]
    playing = {(entrant.name, entrant.kind) for cohort in cohorts for entrant in cohort.entrants}
    names = [agent.name for agent in config.agents if (agent.name, agent.kind) not in playing]
    if not playing or not names:
        return ""

    coming = next_cohort(config, begun, now())
    joins = f"{list_names(names)} {'joins' if len(names) == 1 else 'join'} with"
    command = typed("admin cohort start")
    if coming["next_start"] is None:
        return f"{joins} the next cohort, and none is scheduled; {command} begins one now"

    when = f"on {coming['next_start']:%A, %Y-%m-%d}"
    if coming["next_start_missed"]:
        when = "as soon as arena run is started"
    return f"{joins} cohort {coming['next_cohort']} {when}; {command} begins it now"


def next_step(config: Config | None) -> str:
    """Return the command that plays the next round, and works now."""
    if config is None:
        return typed("run --round")
    return typed(next_cohort(config, read_begun(config.database, {}), now())["next_command"])


def replacements_data(config: Config, begun: RecordSoFar) -> list[dict[str, Any]]:
    """Return by cohort the agents without one good turn: who takes its changed block in the next round."""
    data = []
    for cohort, unproven in begun.unproven:
        taken = replacements_from(cohort.rounds, cohort, changed_agents(config, cohort), unproven)
        changed = [replacement.entrant.name for replacement in taken]
        unchanged = [name for name in without_followers(cohort, unproven) if name not in changed]
        data.append({"cohort": cohort.number, "changed": changed, "unchanged": unchanged})
    return data


def changes_since(config: Config, last: Cohort | None, at: datetime) -> dict[str, Any]:
    """Return what is other in the next cohort than in the one that started last, as data and in words."""
    if last is None:
        return {"differs_from": None, "differences": None, "difference_lines": []}

    planned, _ = freeze_cohort(config, last.number + 1, at)
    changes = cohort_changes(last, planned, config.extensions("kinds"))
    return {
        "differs_from": last.number,
        "differences": diff_data(changes),
        "difference_lines": changes_in_words(changes),
    }


def changes_text(data: Data) -> str:
    """Return what the next cohort changes, in one paragraph."""
    number = data["differs_from"]
    lines = [plain(line) for line in data["difference_lines"]]
    if not lines:
        return f"none since cohort {number}"

    shown = lines[:MOST]
    if len(lines) > MOST:
        shown.append(f"and {len(lines) - MOST} more: arena show cohort {number} next")
    return f"since cohort {number}: {'; '.join(shown)}"
