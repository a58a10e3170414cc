# /// script
# requires-python = ">=3.11"
# dependencies = ["paper-arena[inspect]"]
# ///
"""Recorded turns of an agent as a task of Inspect, to be decided once more by any model:

inspect eval inspect_task.py -T record=season.db -T agent=sharp --model openai/gpt-5.6

A sample is a turn. The agent plays it by its own settings and prompts, and is scored as on the leaderboard.
With --solver another solver answers the turn's first question instead. `arena score LOG` reads the log.
"""

from functools import cache
from math import isnan

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    get_model,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from agents.model import Call, Message, Prompt
from arena.exports.inspect_logs import LoggedForecast, forecast_scores, outcomes_text, score_fields
from arena.exports.inspect_turns import (
    AnsweredTurn,
    decide_again,
    read_answer,
    read_answered_turns,
    score_again,
)

ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
FINISHES = {"max_tokens": "length", "content_filter": "content_filter"}


@cache
def turns_of(record: str, agent: str) -> dict[str, AnsweredTurn]:
    return {turn.key: turn for turn in read_answered_turns(record, agent)}


def chat_messages(messages: tuple[Message, ...]) -> list[ChatMessage]:
    return [ROLES[message.role](content=message.content) for message in messages]


@task
def turns(record: str, agent: str, cohort: int | None = None) -> Task:
    """The turns of one agent, of one cohort or of all."""
    samples = [
        Sample(
            id=turn.key,
            input=chat_messages(turn.asked),
            target=outcomes_text(turn.forecasts),
            metadata={"agent": agent, "as_of": turn.as_of.isoformat()},
        )
        for turn in turns_of(record, agent).values()
        if cohort in (None, turn.cohort)
    ]
    return Task(dataset=samples, solver=played_turn(record, agent), scorer=brier(record, agent))


@solver
def played_turn(record: str, agent: str) -> Solver:
    """Let the agent decide, with the model of the evaluation in place of its own."""

    async def solve(state: TaskState, _generate: Generate) -> TaskState:
        failures: list[Exception] = []
        asked: list[ChatMessage] = []

        async def ask(prompt: Prompt) -> Call:
            messages = chat_messages(prompt.messages)
            config = GenerateConfig(seed=prompt.seed, max_tokens=prompt.max_tokens)
            try:
                output = await get_model().generate(messages, config=config)
            except Exception as error:
                failures.append(error)  # the agent's turn would only fail; the sample has to
                raise

            asked.extend([*messages, output.message])
            state.output = output
            finish = FINISHES.get(output.stop_reason, "stop")
            return Call(prompt, output.completion, finish=finish, model=output.model)

        stated = await decide_again(record, turns_of(record, agent)[str(state.sample_id)], ask)
        if failures:
            raise failures[0]

        state.messages = asked
        state.store.set("stated", stated)
        return state

    return solve


@metric
def by_market() -> Metric:
    """The scores of all turns together, of each market first over its turns."""

    def scores_of(scores: list[SampleScore]) -> dict[str, float]:
        forecasts = []
        for score in scores:
            forecasts += [LoggedForecast(**fields) for fields in (score.score.metadata or {})["forecasts"]]
        return {name: value for name, value in forecast_scores(forecasts).items() if not isnan(value)}

    return scores_of


@scorer(metrics=[by_market()])
def brier(record: str, agent: str) -> Scorer:
    """The Brier score of a turn; what is left out counts as agreement with the price."""

    async def score(state: TaskState, _target: Target) -> Score:
        turn = turns_of(record, agent)[str(state.sample_id)]
        stated = state.store.get("stated")
        if stated is None:
            stated = read_answer(record, turn, state.output.completion)
        return Score(**score_fields(score_again(turn, stated))["brier"])

    return score
