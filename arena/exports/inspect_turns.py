"""Recorded turns that another model decides again, for `examples/inspect_task.py`.

A turn is played as it was, with the agent's frozen settings and prompts, on what it was shown; only the model
differs. Nothing is written, and no order is filled.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from agents.answers.parse import UnusableAnswer, parse_answer
from agents.kinds import llm
from agents.model import USABLE_STATUSES, Ask, Call, Decision, Given, Message, Prompt
from agents.registry import kind
from arena.cohorts.cohort import entrants_by_name
from arena.cohorts.freeze import code_version
from arena.errors import ArenaError
from arena.exports.inspect_logs import (
    EVEN,
    LoggedForecast,
    read_scored_forecasts,
    time_apart_from_other_cohorts,
)
from arena.exports.table import one_snapshot
from arena.record.dry_run import DryRunRecord
from arena.record.model.cohort import Cohort, Entrant
from arena.record.queries.answers import read_season_markets
from arena.record.queries.calls import read_rounds_by_cohort
from arena.record.queries.cohorts import (
    cohorts_of_agent,
    read_calls,
    read_cohorts,
    read_prompts,
    select_cohorts,
)
from arena.record.schema.database import Connection, open_read_only
from arena.rounds.trial import read_recorded_trial
from arena.rounds.turns import ClaimedTurn, claimed_turns, decide_turn
from arena.rounds.world import Player, World
from markets.venue import Venue

Stated = Mapping[str, float]
"""The probabilities stated in a turn, by market."""


@dataclass(frozen=True, slots=True)
class AnsweredTurn:
    """A turn that a model has answered: its place in the record, its first question, and its forecasts.

    `blind` means that no prices were shown: a market without a forecast then counts as even odds.
    """

    agent: str
    cohort: int
    round: int
    at: datetime
    asked: tuple[Message, ...]
    forecasts: tuple[LoggedForecast, ...]
    blind: bool

    @property
    def as_of(self) -> datetime:
        """Return the time of the turn, kept apart from turns of other cohorts at that instant."""
        return time_apart_from_other_cohorts(self.at, self.cohort)

    @property
    def key(self) -> str:
        """Return the name of the turn among those of its agent."""
        return f"cohort {self.cohort}, round {self.round}"


def read_answered_turns(database: str, agent: str, cohort: int | None = None) -> list[AnsweredTurn]:
    """Return the turns of an agent that its model has answered, in one cohort or in all.

    Raise `ArenaError` if there is none, or if the agent decides by more than its model's answers.
    """
    turns = []
    with open_read_only(database) as engine, one_snapshot(engine) as connection:
        rounds = read_rounds_by_cohort(connection)
        markets = read_season_markets(connection)

        for stored in cohorts_of_agent(select_cohorts(read_cohorts(connection), cohort), agent):
            settings = _settings_without_tools(entrants_by_name(stored.cohort.entrants)[agent])
            forecasts = read_scored_forecasts(connection, stored.cohort.number, markets)
            entrant_id = stored.entrant_ids[agent]

            for started_round in rounds.get(stored.id, ()):
                calls = read_calls(connection, started_round.id, [entrant_id]).get(entrant_id, [])
                scored = forecasts.get((agent, started_round.number))
                if scored is None or all(call.reply is None for call in calls):
                    continue
                turns.append(
                    AnsweredTurn(
                        agent=agent,
                        cohort=stored.cohort.number,
                        round=started_round.number,
                        at=started_round.at,
                        asked=calls[0].prompt.messages,
                        forecasts=tuple(scored),
                        blind=settings.prices == "hidden" or stored.cohort.hides(started_round.number),
                    )
                )

    if not turns:
        message = f"no model has answered a turn of {agent}"
        raise ArenaError("no_turn", message, "play a round: arena run --round")
    return turns


def _settings_without_tools(entrant: Entrant) -> llm.Settings:
    """Return the settings of an agent; raise `ArenaError` if answers alone don't decide its turns."""
    hint = "name an agent of kind llm that has no tools"
    if entrant.kind != "llm":
        raise ArenaError("no_model", f"{entrant.name} is of kind {entrant.kind}", hint)

    settings = llm.Settings.model_validate(entrant.settings)
    if settings.tools:
        raise ArenaError("has_tools", f"{entrant.name} uses tools, which would be asked anew", hint)
    return settings


async def decide_again(database: str, turn: AnsweredTurn, ask: Ask) -> Stated:
    """Return what an agent states in a turn when `ask` answers all of its questions."""
    with _opened_turn(database, turn) as claim:
        return _stated(await decide_turn(replace(claim, ask=ask)))


def read_answer(database: str, turn: AnsweredTurn, text: str) -> Stated:
    """Return what a text states if it is the only answer of a turn."""
    with _opened_turn(database, turn) as claim:
        return _stated(parse_answer(text, claim.view))


def _stated(decision: Decision | UnusableAnswer) -> Stated:
    """Return the final probabilities of a decision; none if it can't be used."""
    if isinstance(decision, UnusableAnswer) or decision.status not in USABLE_STATUSES:
        return {}

    final = [forecast for forecast in decision.forecasts if forecast.stage == "final"]
    return {str(forecast.market_id): forecast.probability for forecast in final}


def score_again(turn: AnsweredTurn, stated: Stated) -> list[LoggedForecast]:
    """Return the forecasts of a turn with other probabilities; a market without one counts as skipped."""
    forecasts = []
    for recorded in turn.forecasts:
        # A skipped market agrees with the price, or with even odds where the agent saw none.
        price = recorded.market_probability
        if_skipped = EVEN if turn.blind or price is None else price
        probability = stated.get(recorded.question, if_skipped)
        is_stated = recorded.question in stated
        forecasts.append(replace(recorded, probability=probability, stated=is_stated))
    return forecasts


@contextmanager
def _opened_turn(database: str, turn: AnsweredTurn) -> Iterator[ClaimedTurn]:
    """Open the record while a turn is decided, and yield the turn with what its agent sees."""
    with open_read_only(database) as engine:
        with one_snapshot(engine) as connection:
            setting = read_recorded_trial(connection, turn.agent, turn.cohort, turn.at).setting
            player = _player(connection, setting.agent.stored.cohort, setting.agent.entrant)

        world = World(
            venue=_refuse_venue,
            player=lambda _cohort, _entrant: player,
            now=lambda: turn.at,
            holder="",
            code_version=code_version(),
        )
        record = DryRunRecord(engine, owned={turn.agent: setting.agent.account})
        [claim] = claimed_turns(
            [setting.agent.entrant], setting.agent.stored, setting.round, setting.snapshot, world, record
        )
        yield claim


def _player(connection: Connection, cohort: Cohort, entrant: Entrant) -> Player:
    """Return an agent with its cohort's frozen settings and prompts, and without a model."""
    hashes = {**cohort.prompts, **entrant.prompts}
    texts = read_prompts(connection, [*hashes.values()])
    given = Given(prompts={name: texts[key] for name, key in hashes.items() if key in texts})
    return Player(
        kind(entrant.kind).agent(_settings_without_tools(entrant), given),
        _refuse_question,
        lambda _prompt: None,
    )


async def _refuse_question(prompt: Prompt) -> Call:
    """Raise `LookupError`: the caller sets what answers questions."""
    raise LookupError(f"there is no model for sample {prompt.sample}")


def _refuse_venue(cohort: Cohort) -> Venue:
    """Raise `LookupError`: no venue is needed for a turn that was played before."""
    raise LookupError(f"{cohort.venue} is not opened: the turn was played before")
