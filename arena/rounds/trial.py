"""One agent's turn as it would be: on a snapshot of the record or a fresh one, and written nowhere."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from agents.model import Call, Prompt
from arena.calls.estimate import short_answer
from arena.cohorts.cohort import forecast_sources
from arena.cohorts.diff import agent_setup, setup_differences
from arena.cohorts.freeze import freeze_cohort
from arena.config import Config
from arena.errors import ArenaError
from arena.record.dry_run import DryRunRecord
from arena.record.model.cohort import Cohort, Entrant, Turn
from arena.record.queries.accounts import read_ledgers
from arena.record.queries.calls import read_rounds_by_cohort
from arena.record.queries.cohorts import (
    StoredCohort,
    StoredRound,
    read_cohorts,
    read_final_forecasts,
    read_snapshot,
)
from arena.record.schema.database import Connection
from arena.record.write.cohorts import add_snapshot
from arena.rounds.evidence import gather_evidence
from arena.rounds.round import take_snapshot
from arena.rounds.season import MINUTE_FORMAT
from arena.rounds.settlement import VenueUnavailable, venue_error
from arena.rounds.turns import claimed_turns, play_turn
from arena.rounds.world import Player, World
from markets.model import Snapshot
from markets.venue import VenueError
from portfolio.ledger import fold, open_account
from portfolio.model import Holdings, Mark

MOST_TIMES_NAMED = 5
"""So many times are named where none was decided at the one that was asked for."""


@dataclass(frozen=True, slots=True)
class TrialAgent:
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
class TrialSetting:
    """An agent, and the round and the snapshot that it is tried on.

    `cohort` is the number of the cohort whose round it is; None for a look at the venue that no cohort took.
    `trouble` is what was missing then, in words.
    """

    agent: TrialAgent
    round: StoredRound
    snapshot: Snapshot
    cohort: int | None = None
    fresh: bool = True
    trouble: tuple[str, ...] = ()


def recorded_setting(
    connection: Connection, config: Config, name: str, at: datetime | None
) -> TrialSetting | None:
    """The latest round of the newest cohort that the agent is in, or the one at a time.

    For an agent that no cohort has had yet it is the latest round of all. None where nothing was decided.
    """
    cohorts = read_cohorts(connection)
    own = [stored for stored in cohorts if name in stored.entrant_ids]
    planned = [agent.name for agent in config.agents]
    if not own and name not in planned:
        names = dict.fromkeys([*planned, *(other for stored in cohorts for other in stored.entrant_ids)])
        hint = f"agents: {', '.join(names)}; a new one goes into the config's agents first"
        raise ArenaError("no_agent", f"there is no agent {name!r}", hint)
    rounds = read_rounds_by_cohort(connection)
    places = [(stored, round) for stored in own or cohorts for round in rounds.get(stored.id, ())]
    then = [(stored, round) for stored, round in places if at in (None, round.at)]
    if places and not then and at is not None:
        times = sorted({round.at for _, round in places})[-MOST_TIMES_NAMED:]
        last = ", ".join(f"{time:{MINUTE_FORMAT}}" for time in times)
        words = f"nothing was decided at {at:{MINUTE_FORMAT}}"
        raise ArenaError("no_round", words, f"the last rounds were at {last}")
    if not then:
        return None
    if own:
        stored, round = max(then, key=lambda place: (place[0].cohort.number, place[1].at))
        agent = _as_in_round(connection, config, name, stored, round)
        seen = _snapshot_of(connection, stored, round)
        return TrialSetting(agent, round, seen, stored.cohort.number, fresh=False)
    stored, round = max(then, key=lambda place: (place[1].at, place[0].cohort.number))
    seen, agent = _snapshot_of(connection, stored, round), _as_newcomer(config, name, stored, round)
    return TrialSetting(agent, replace(round, number=1), replace(seen, held=()), stored.cohort.number)


def newcomer_setting(config: Config, name: str, at: datetime) -> TrialAgent:
    """An agent where nothing was decided yet, as a cohort that starts at a time would have it."""
    planned, texts = freeze_cohort(config, 1, at)
    return _only_agent(planned, name, texts)


def _as_newcomer(config: Config, name: str, stored: StoredCohort, round: StoredRound) -> TrialAgent:
    """An agent that is new: a fresh bankroll and the config's rules, in the world of a snapshot."""
    theirs = stored.cohort
    planned, texts = freeze_cohort(config, theirs.number + 1, round.at)
    here = replace(
        planned,
        venue=theirs.venue,
        venue_settings=theirs.venue_settings,
        stamp=theirs.stamp,
        evidence=theirs.evidence,
        evidence_settings=theirs.evidence_settings,
        guard=theirs.guard,
    )
    return _only_agent(here, name, texts, stored.id)


def _only_agent(planned: Cohort, name: str, texts: Mapping[str, str], cohort_id: int = 0) -> TrialAgent:
    """One agent of a cohort that has not started; 0 is the id of no row."""
    entrants = tuple(entrant for entrant in planned.entrants if entrant.name == name)
    stored = StoredCohort(cohort_id, replace(planned, entrants=entrants), {name: 0}, None)
    return TrialAgent(stored, fold([open_account(planned.bankroll, planned.starts_at)]), texts)


def _as_in_round(
    connection: Connection, config: Config, name: str, stored: StoredCohort, round: StoredRound
) -> TrialAgent:
    """An agent with the account that it had before it decided, set up as it would be in the next cohort."""
    cohort, at = stored.cohort, round.at
    planned, texts = freeze_cohort(config, cohort.number, at)
    before = next(entrant for entrant in cohort.entrants if entrant.name == name)
    after = next((entrant for entrant in planned.entrants if entrant.name == name), before)
    prompts = cohort.prompts if after is before else planned.prompts
    alone = replace(cohort, entrants=(after,), prompts=prompts)
    entries = read_ledgers(connection, stored.id)[name]
    until = [x for x in entries if x.at < at or (x.at == at and x.kind not in ("buy", "sell"))]
    kinds = config.extensions("kinds")
    changed = setup_differences(agent_setup(cohort, before, kinds), agent_setup(alone, after, kinds))
    here = StoredCohort(stored.id, alone, {name: stored.entrant_ids[name]}, None)
    return TrialAgent(here, fold(until), texts, changed)


def _snapshot_of(connection: Connection, stored: StoredCohort, round: StoredRound) -> Snapshot:
    taken = read_snapshot(connection, stored.id, round.at)
    if taken is None:
        raise LookupError(f"the round at {round.at} has no snapshot: run `arena verify`")
    return taken[1]


@dataclass(frozen=True, slots=True)
class TrialQuestion:
    """What a model was asked, what that can cost at most, and every attempt to get an answer."""

    prompt: Prompt
    worst: int | None
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting, and what came of it. `turn` is None where a model would decide and was not asked.

    `mark` is the account at these prices; `missing` are agents that this one is made from, and that
    have stated nothing in this round.
    """

    setting: TrialSetting
    mark: Mark
    missing: tuple[str, ...]
    questions: tuple[TrialQuestion, ...]
    turn: Turn | None


async def play_trial(setting: TrialSetting, world: World, record: DryRunRecord, dry: bool = False) -> Trial:
    """Let an agent decide in a setting, and execute what it wants. When `dry`, its model is not asked."""
    agent, entrant = setting.agent, setting.agent.entrant
    of = forecast_sources(entrant.settings)
    stated = record.read(read_final_forecasts, setting.round.id, of)
    missing = tuple(name for name in of if name not in stated)
    if missing and missing == of:
        words = f"{entrant.name} is made from {', '.join(of)}, which stated no forecast in this round"
        raise ArenaError("nothing_stated", words, "play a round with it first: arena round")
    player = _without_model(world.player, setting.snapshot) if dry else world.player
    alone = replace(world, player=player, desk=None)
    (claim,) = claimed_turns([entrant], agent.stored, setting.round, setting.snapshot, alone, record)
    turn = await play_turn(claim, setting.round.number)
    questions = tuple(_questions(record.calls, claim.player))
    return Trial(setting, claim.view.mark, missing, questions, None if dry and questions else turn)


async def fresh_setting(agent: TrialAgent, at: datetime, world: World, record: DryRunRecord) -> TrialSetting:
    """A look at the venue, and at what the source of evidence says of it; of neither anything is kept."""
    try:
        snapshot = await take_snapshot(agent.stored, at, world, record, 1)
    except VenueUnavailable as error:
        cause = error.__cause__
        raise venue_error(cause) if isinstance(cause, VenueError) else error from error
    if not snapshot.shown:
        venue = agent.stored.cohort.venue
        hint = "try another time with --at, or see arena markets list"
        raise ArenaError("nothing_shown", f"{venue} has no market to show at {at:%Y-%m-%d %H:%M} UTC", hint)
    round = StoredRound(0, 1, at, 0, False)
    record.write(add_snapshot, agent.stored.id, agent.stored.cohort.number, snapshot, round.number)
    return TrialSetting(
        agent, round, snapshot, trouble=await gather_evidence(agent.stored, round, world, record)
    )


def _without_model(
    player: Callable[[Cohort, Entrant], Player], snapshot: Snapshot
) -> Callable[[Cohort, Entrant], Player]:
    """The same players, with models that are not called: a stand-in answers each question whole."""

    async def ask(prompt: Prompt) -> Call:
        return Call(prompt, short_answer(prompt, snapshot), finish="stop", cost=0)

    return lambda cohort, entrant: replace(player(cohort, entrant), ask=ask)


def _questions(made: Sequence[Call], player: Player) -> Iterator[TrialQuestion]:
    """The calls by what was asked: sample by sample, in the order in which they were made."""
    asked: dict[Prompt, list[Call]] = {}
    for call in sorted(made, key=lambda call: call.prompt.sample):
        asked.setdefault(call.prompt, []).append(call)
    for prompt, calls in asked.items():
        yield TrialQuestion(prompt, player.worst_case(prompt), tuple(calls))
