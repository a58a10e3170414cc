"""Where an agent is tried: on a snapshot of the record, with the account it had then, or on a fresh one."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from arena.config import Config
from arena.due import SHORT
from arena.errors import ArenaError
from arena.model import Cohort, Entrant
from arena.plan import frozen
from arena.setup import differences, setup_of
from arena.store.asked import read_rounds
from arena.store.frame import Connection
from arena.store.ledgers import read_ledgers
from arena.store.read import StoredCohort, StoredRound, cohorts, snapshot
from markets.model import Snapshot
from portfolio.ledger import fold, open_account
from portfolio.model import Holdings

LAST = 5
"""So many times are named where none was decided at the one that was asked for."""


@dataclass(frozen=True, slots=True)
class Part:
    """An agent in a cohort that holds it alone, and what it owns there.

    `texts` are prompts by hash that may not be in the record, `changed` is what was set up otherwise when
    the cohort started, key by key as it was and as it is.
    """

    stored: StoredCohort
    account: Holdings
    texts: Mapping[str, str]
    changed: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def entrant(self) -> Entrant:
        """The agent."""
        return self.stored.cohort.entrants[0]


@dataclass(frozen=True, slots=True)
class Scene:
    """A part, and the round and the snapshot that it is played on.

    `cohort` is the number of the cohort whose round it is; None for a look at the venue that no cohort took.
    `trouble` is what was missing then, in words.
    """

    part: Part
    round: StoredRound
    snapshot: Snapshot
    cohort: int | None = None
    fresh: bool = True
    trouble: tuple[str, ...] = ()


def recorded(connection: Connection, config: Config, name: str, at: datetime | None) -> Scene | None:
    """The latest round of the newest cohort that the agent is in, or the one at a time.

    For an agent that no cohort has had yet it is the latest round of all. None where nothing was decided.
    """
    known = cohorts(connection)
    own = [stored for stored in known if name in stored.entrant_ids]
    if not own:
        _must_be_planned(config, name, known)
    rounds = read_rounds(connection)
    places = [(stored, round) for stored in own or known for round in rounds.get(stored.id, ())]
    then = [(stored, round) for stored, round in places if at in (None, round.at)]
    if places and not then and at is not None:
        raise _no_round(at, {round.at for _, round in places})
    if not then:
        return None
    if own:
        stored, round = max(then, key=lambda place: (place[0].cohort.number, place[1].at))
        seen, part = _seen(connection, stored, round), _again(connection, config, name, stored, round)
        return Scene(part, round, seen, stored.cohort.number, fresh=False)
    stored, round = max(then, key=lambda place: (place[1].at, place[0].cohort.number))
    seen, part = _seen(connection, stored, round), _anew(config, name, stored, round)
    return Scene(part, replace(round, number=1), replace(seen, held=()), stored.cohort.number)


def newcomer(config: Config, name: str, at: datetime) -> Part:
    """An agent where nothing was decided yet, as a cohort that starts at a time would have it."""
    planned, texts = frozen(config, 1, at)
    return _alone(planned, name, texts)


def _anew(config: Config, name: str, stored: StoredCohort, round: StoredRound) -> Part:
    """An agent that is new: a fresh bankroll and the config's rules, in the world of a snapshot."""
    theirs = stored.cohort
    planned, texts = frozen(config, theirs.number + 1, round.at)
    here = replace(
        planned,
        venue=theirs.venue,
        venue_settings=theirs.venue_settings,
        stamp=theirs.stamp,
        evidence=theirs.evidence,
        evidence_settings=theirs.evidence_settings,
        guard=theirs.guard,
    )
    return _alone(here, name, texts, stored.id)


def _alone(planned: Cohort, name: str, texts: Mapping[str, str], cohort_id: int = 0) -> Part:
    """The part of one agent of a cohort that has not started; 0 is the id of no row."""
    entrants = tuple(entrant for entrant in planned.entrants if entrant.name == name)
    stored = StoredCohort(cohort_id, replace(planned, entrants=entrants), {name: 0}, None)
    return Part(stored, fold([open_account(planned.bankroll, planned.starts_at)]), texts)


def _again(
    connection: Connection, config: Config, name: str, stored: StoredCohort, round: StoredRound
) -> Part:
    """An agent with the account that it had before it decided, set up as it would be in the next cohort."""
    cohort, at = stored.cohort, round.at
    planned, texts = frozen(config, cohort.number, at)
    before = next(entrant for entrant in cohort.entrants if entrant.name == name)
    after = next((entrant for entrant in planned.entrants if entrant.name == name), before)
    prompts = cohort.prompts if after is before else planned.prompts
    alone = replace(cohort, entrants=(after,), prompts=prompts)
    entries = read_ledgers(connection, stored.id)[name]
    until = [x for x in entries if x.at < at or (x.at == at and x.kind not in ("buy", "sell"))]
    kinds = config.extensions("kinds")
    changed = differences(setup_of(cohort, before, kinds), setup_of(alone, after, kinds))
    here = StoredCohort(stored.id, alone, {name: stored.entrant_ids[name]}, None)
    return Part(here, fold(until), texts, changed)


def _seen(connection: Connection, stored: StoredCohort, round: StoredRound) -> Snapshot:
    found = snapshot(connection, stored.id, round.at)
    if found is None:
        raise LookupError(f"the round at {round.at} has no snapshot: run `arena verify`")
    return found[1]


def _must_be_planned(config: Config, name: str, known: Sequence[StoredCohort]) -> None:
    planned = [agent.name for agent in config.agents]
    if name not in planned:
        names = dict.fromkeys([*planned, *(other for stored in known for other in stored.entrant_ids)])
        raise ArenaError("no_agent", f"there is no agent {name!r}", f"agents: {', '.join(names)}")


def _no_round(at: datetime, times: Set[datetime]) -> ArenaError:
    last = ", ".join(f"{time:{SHORT}}" for time in sorted(times)[-LAST:])
    return ArenaError("no_round", f"nothing was decided at {at:{SHORT}}", f"the last rounds were at {last}")
