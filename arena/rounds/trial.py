"""One agent's turn, as recorded or tried on a snapshot without writing anything."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from operator import itemgetter
from typing import Any

from agents.model import Call, Prompt
from arena.calls.estimate import short_answer
from arena.cohorts.cohort import entrants_by_name, forecast_sources
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
    cohorts_of_agent,
    read_calls,
    read_cohorts,
    read_final_forecasts,
    read_hidden_rounds,
    read_snapshot,
    select_cohorts,
)
from arena.record.queries.decisions import read_turns
from arena.record.schema.database import Connection
from arena.record.write.cohorts import add_snapshot
from arena.rounds.evidence import gather_evidence
from arena.rounds.listings import listings_by_id
from arena.rounds.round import take_snapshot
from arena.rounds.season import MINUTE_FORMAT
from arena.rounds.settlement import VenueUnavailable, venue_error
from arena.rounds.turns import claimed_turns, play_turn
from arena.rounds.world import Player, World
from markets.model import Listing, MarketId, Snapshot
from markets.venue import VenueError
from portfolio.ledger import fold, open_account
from portfolio.marks import mark_all
from portfolio.model import Holdings, Mark

MOST_TIMES_NAMED = 5
"""How many of the last rounds' times an error names when there was no round at the time asked for."""


@dataclass(frozen=True, slots=True)
class TrialAgent:
    """An agent, in a cohort in which it is the only one, and its account there.

    `texts` are prompts by hash that may not be in the record. `changed` are the settings that were different
    when the cohort started: by key, the value then and the value now.
    """

    stored: StoredCohort
    account: Holdings
    texts: Mapping[str, str]
    changed: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def entrant(self) -> Entrant:
        """Return the agent as an entrant of its cohort."""
        return self.stored.cohort.entrants[0]


@dataclass(frozen=True, slots=True)
class TrialSetting:
    """An agent, with the round and the snapshot that it is tried on.

    `cohort` is the number of the cohort whose round it is; None for a fresh look at the venue. `trouble` says
    what was missing then.
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
    """Return the latest round of the newest cohort that the agent is in, or the round at a time.

    For an agent that no cohort has had yet it is the latest round of all. Return None if no round was
    played, and raise `ArenaError` if none was at that time, or for an agent that doesn't exist.
    """
    cohorts = read_cohorts(connection)
    own_cohorts = [stored for stored in cohorts if name in stored.entrant_ids]
    if not own_cohorts:
        _check_in_config(name, config, cohorts)

    rounds = read_rounds_by_cohort(connection)
    times = set()
    candidates = []
    for stored in own_cohorts or cohorts:
        for stored_round in rounds.get(stored.id, ()):
            times.add(stored_round.at)
            if at in (None, stored_round.at):
                candidates.append((stored, stored_round))

    if at is not None and times and not candidates:
        last_times = ", ".join(f"{time:{MINUTE_FORMAT}}" for time in sorted(times)[-MOST_TIMES_NAMED:])
        message = f"nothing was decided at {at:{MINUTE_FORMAT}}"
        raise ArenaError("no_round", message, f"the last rounds were at {last_times}")
    if not candidates:
        return None

    if own_cohorts:
        # The newest cohort comes first, then its latest round; for a newcomer it is the latest round of all.
        stored, stored_round = max(candidates, key=lambda pair: (pair[0].cohort.number, pair[1].at))
        agent = _as_in_round(connection, config, name, stored, stored_round)
        snapshot = _snapshot_of(connection, stored, stored_round)
        return TrialSetting(agent, stored_round, snapshot, stored.cohort.number, fresh=False)

    stored, stored_round = max(candidates, key=lambda pair: (pair[1].at, pair[0].cohort.number))
    agent = _newcomer_at(config, name, stored, stored_round)
    snapshot = replace(_snapshot_of(connection, stored, stored_round), held=())
    return TrialSetting(agent, replace(stored_round, number=1), snapshot, stored.cohort.number)


def _check_in_config(name: str, config: Config, cohorts: Sequence[StoredCohort]) -> None:
    """Raise `ArenaError` if the config has no agent of that name; the hint lists the agents."""
    names = [agent.name for agent in config.agents]
    if name in names:
        return

    for stored in cohorts:
        names.extend(stored.entrant_ids)
    listed = ", ".join(dict.fromkeys(names))
    hint = f"agents: {listed}; a new one goes into the config's agents first"
    raise ArenaError("no_agent", f"there is no agent {name!r}", hint)


def newcomer_agent(config: Config, name: str, at: datetime) -> TrialAgent:
    """Return an agent as in a cohort that starts at a time, before any round was played."""
    planned, texts = freeze_cohort(config, 1, at)
    return _agent_alone(planned, name, texts)


def _newcomer_at(config: Config, name: str, stored: StoredCohort, stored_round: StoredRound) -> TrialAgent:
    """Return a new agent as of a round, with a full bankroll and the config's rules, at a cohort's venue."""
    cohort = stored.cohort
    planned, texts = freeze_cohort(config, cohort.number + 1, stored_round.at)
    planned = replace(
        planned,
        venue=cohort.venue,
        venue_settings=cohort.venue_settings,
        stamp=cohort.stamp,
        evidence=cohort.evidence,
        evidence_settings=cohort.evidence_settings,
        guard=cohort.guard,
    )
    return _agent_alone(planned, name, texts, stored.id)


def _agent_alone(planned: Cohort, name: str, texts: Mapping[str, str], cohort_id: int = 0) -> TrialAgent:
    """Return one agent of a cohort that has not started, with its opening account; no row has the id 0."""
    entrants = tuple(entrant for entrant in planned.entrants if entrant.name == name)
    stored = StoredCohort(cohort_id, replace(planned, entrants=entrants), {name: 0}, None)
    account = fold([open_account(planned.bankroll, planned.starts_at)])
    return TrialAgent(stored, account, texts)


def _as_in_round(
    connection: Connection, config: Config, name: str, stored: StoredCohort, stored_round: StoredRound
) -> TrialAgent:
    """Return an agent with its account before it decided, and the settings of the next cohort."""
    cohort = stored.cohort
    at = stored_round.at
    planned, texts = freeze_cohort(config, cohort.number, at)

    # An agent that is no longer in the config keeps what its cohort has frozen.
    frozen = entrants_by_name(cohort.entrants)[name]
    current = entrants_by_name(planned.entrants).get(name, frozen)
    prompts = cohort.prompts if current is frozen else planned.prompts
    cohort_of_one = replace(cohort, entrants=(current,), prompts=prompts)

    kinds = config.extensions("kinds")
    frozen_setup = agent_setup(cohort, frozen, kinds)
    current_setup = agent_setup(cohort_of_one, current, kinds)
    changed = setup_differences(frozen_setup, current_setup)

    stored_alone = StoredCohort(stored.id, cohort_of_one, {name: stored.entrant_ids[name]}, None)
    account = _account_before(connection, stored, name, at)
    return TrialAgent(stored_alone, account, texts, changed)


def _account_before(connection: Connection, stored: StoredCohort, name: str, at: datetime) -> Holdings:
    """Return an agent's account as of when it decided at a time."""
    # Payments at the round's own time come before the agent decides, its trades after.
    entries = [
        entry
        for entry in read_ledgers(connection, stored.id)[name]
        if entry.at < at or (entry.at == at and entry.kind not in ("buy", "sell"))
    ]
    return fold(entries)


def _snapshot_of(connection: Connection, stored: StoredCohort, stored_round: StoredRound) -> Snapshot:
    """Return the snapshot of a round; raise `LookupError` if a damaged record has none."""
    taken = read_snapshot(connection, stored.id, stored_round.at)
    if taken is None:
        raise LookupError(f"the round at {stored_round.at} has no snapshot: run `arena admin verify`")
    _, snapshot = taken
    return snapshot


@dataclass(frozen=True, slots=True)
class TrialQuestion:
    """A question to a model, its highest cost, and every call made for it."""

    prompt: Prompt
    worst: int | None
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting and the agent's turn in it; `turn` is None where a model would decide and was not asked.

    `mark` is the account at these prices; `missing` are agents that this one is made from, and that
    have stated nothing in this round.
    """

    setting: TrialSetting
    mark: Mark
    missing: tuple[str, ...]
    questions: tuple[TrialQuestion, ...]
    turn: Turn | None

    @property
    def listings(self) -> Mapping[MarketId, Listing]:
        """Return the markets of the snapshot by their ids."""
        return listings_by_id(self.setting.snapshot)

    @property
    def stories(self) -> int:
        """Return how many stories the markets shown belong to."""
        return len({listing.market.whole_story for listing in self.setting.snapshot.shown})

    @property
    def calls(self) -> int:
        """Return the number of calls."""
        return sum(len(question.calls) for question in self.questions)

    @property
    def worst(self) -> int | None:
        """Return the highest cost of the questions; None if that of some is unknown."""
        return _sum_or_unknown(question.worst for question in self.questions)

    @property
    def cost(self) -> int | None:
        """Return the cost of the calls; None if that of some is unknown."""
        calls = chain.from_iterable(question.calls for question in self.questions)
        return _sum_or_unknown(call.cost for call in calls)


def _sum_or_unknown(amounts: Iterable[int | None]) -> int | None:
    """Return the sum of these amounts; None if one of them is unknown, which is not 0."""
    total = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


async def play_trial(setting: TrialSetting, world: World, record: DryRunRecord, dry: bool) -> Trial:
    """Let an agent decide in a setting, and execute its orders; if `dry`, ask no model.

    Raise `ArenaError` if none of the agents that it is made from has stated a forecast.
    """
    agent = setting.agent
    entrant = agent.entrant
    sources = forecast_sources(entrant.settings)
    stated = record.read(read_final_forecasts, setting.round.id, sources)
    missing = tuple(name for name in sources if name not in stated)
    if missing and missing == sources:
        message = f"{entrant.name} is made from {', '.join(sources)}, which stated no forecast in this round"
        raise ArenaError("nothing_stated", message, "play a round with it first: arena run --round")

    player = _without_model(world.player, setting.snapshot) if dry else world.player
    trial_world = replace(world, player=player, desk=None)
    (claim,) = claimed_turns([entrant], agent.stored, setting.round, setting.snapshot, trial_world, record)
    turn = await play_turn(claim, setting.round.number)

    questions = tuple(_questions_with_calls(record.calls, claim.player.worst_case))
    if dry and questions:
        # A stand-in answered in place of the model, so the turn says nothing.
        return Trial(setting, claim.view.mark, missing, questions, turn=None)
    return Trial(setting, claim.view.mark, missing, questions, turn)


async def fresh_setting(agent: TrialAgent, at: datetime, world: World, record: DryRunRecord) -> TrialSetting:
    """Return a setting of the venue's current markets and their evidence, without storing it.

    Raise `ArenaError` if the venue gives no answer, or has no market to show.
    """
    try:
        snapshot = await take_snapshot(agent.stored, at, world, record, 1)
    except VenueUnavailable as error:
        cause = error.__cause__
        if isinstance(cause, VenueError):
            raise venue_error(cause) from error
        raise

    if not snapshot.shown:
        venue = agent.stored.cohort.venue
        hint = "try another time with --at, or see arena show markets"
        raise ArenaError("nothing_shown", f"{venue} has no market to show at {at:%Y-%m-%d %H:%M} UTC", hint)

    fresh_round = StoredRound(0, 1, at, 0, False)
    record.write(add_snapshot, agent.stored.id, agent.stored.cohort.number, snapshot, fresh_round.number)
    trouble = await gather_evidence(agent.stored, fresh_round, world, record)
    return TrialSetting(agent, fresh_round, snapshot, trouble=trouble)


def _without_model(
    player: Callable[[Cohort, Entrant], Player], snapshot: Snapshot
) -> Callable[[Cohort, Entrant], Player]:
    """Return the players with stand-ins for their models, which answer every question in full."""

    async def ask(prompt: Prompt) -> Call:
        return Call(prompt, short_answer(prompt, snapshot), finish="stop", cost=0)

    return lambda cohort, entrant: replace(player(cohort, entrant), ask=ask)


def _questions_with_calls(
    calls: Sequence[Call], worst: Callable[[Prompt], int | None]
) -> Iterator[TrialQuestion]:
    """Yield the questions with their calls: sample by sample, in the order in which they were asked."""
    attempts: dict[Prompt, list[Call]] = {}
    for call in sorted(calls, key=lambda call: call.prompt.sample):
        attempts.setdefault(call.prompt, []).append(call)

    for prompt, prompt_calls in attempts.items():
        yield TrialQuestion(prompt, worst(prompt), tuple(prompt_calls))


def read_recorded_trial(connection: Connection, name: str, cohort: int | None, at: datetime | None) -> Trial:
    """Return a recorded turn of an agent: its newest, or that of a cohort or a time.

    Raise `ArenaError` if no cohort has such an agent, or where it has not played then.
    """
    rounds = read_rounds_by_cohort(connection)
    candidates = []
    for stored in cohorts_of_agent(select_cohorts(read_cohorts(connection), cohort), name):
        number = stored.cohort.number
        candidates += [(begun.at, number, stored, begun) for begun in rounds.get(stored.id, ())]
    candidates.sort(key=itemgetter(0, 1), reverse=True)  # the latest first, of several then the newest cohort

    hidden = read_hidden_rounds(connection)
    for round_at, _, stored, stored_round in candidates:
        if at in (None, round_at):
            check_not_hidden(stored, stored_round, hidden)
            turns = read_turns(connection, stored_round.id, [stored.entrant_ids[name]])
            if turns:
                return _recorded_trial(connection, stored, stored_round, turns[0])

    times = ", ".join(f"{time:{MINUTE_FORMAT}}" for time, *_ in candidates[:MOST_TIMES_NAMED])
    hint = f"the last rounds: {times or 'none yet'}; arena show turn {name} --play plays a turn now"
    when = "yet" if at is None else f"at {at:{MINUTE_FORMAT}}"
    raise ArenaError("no_turn", f"{name} has played no turn {when}", hint)


def check_not_hidden(stored: StoredCohort, stored_round: StoredRound, hidden: Collection[int]) -> None:
    """Raise `ArenaError` if a round's forecasts are still hidden."""
    if stored_round.id not in hidden:
        return

    cohort = stored.cohort
    message = f"round {stored_round.number} of cohort {cohort.number} is hidden: nobody sees forecasts yet"
    hint = f"wait until its first {cohort.hidden} rounds are over"
    raise ArenaError("hidden_round", message, hint)


def _recorded_trial(
    connection: Connection, stored: StoredCohort, stored_round: StoredRound, turn: Turn
) -> Trial:
    """Return a recorded turn with the questions asked for it."""
    name = turn.entrant
    entrant_id = stored.entrant_ids[name]
    snapshot = _snapshot_of(connection, stored, stored_round)
    account = _account_before(connection, stored, name, stored_round.at)
    entrant = entrants_by_name(stored.cohort.entrants)[name]
    alone = replace(stored.cohort, entrants=(entrant,))
    agent = TrialAgent(StoredCohort(stored.id, alone, {name: entrant_id}, None), account, {})
    setting = TrialSetting(agent, stored_round, snapshot, stored.cohort.number, fresh=False)

    sources = forecast_sources(entrant.settings)
    stated = read_final_forecasts(connection, stored_round.id, sources)
    missing = tuple(source for source in sources if source not in stated)

    calls = read_calls(connection, stored_round.id, [entrant_id])[entrant_id]
    worst_by_prompt = {call.prompt: call.worst for call in calls}
    questions = tuple(_questions_with_calls(calls, worst_by_prompt.__getitem__))
    mark = mark_all({name: account}, snapshot, stored.cohort.rules.quote_age)[name]
    return Trial(setting, mark, missing, questions, turn)
