"""A real question to a model before it plays, to measure its answer and see whether it is usable."""

import math
from dataclasses import dataclass
from datetime import date
from typing import Any

from agents.model import (
    Agent,
    Ask,
    Call,
    CallError,
    Context,
    Decision,
    Measurement,
    ModelSettings,
    Prompt,
    View,
)
from agents.model_table.cost import worst_case
from agents.model_table.price_table import table_entry
from agents.prompts.dry_run import with_context
from arena.calls.estimate import BYTES_A_TOKEN, first_sample_round
from arena.calls.ping import ping
from arena.config import Config
from markets.millionths import ONE

LEAST_TOKENS = 4_000
LEAST_SECONDS = 120
LONGEST_SECONDS = 3_600
ROOM = 3
"""How many times what was measured an answer may take before it is given up."""
NO_MORE = CallError("other", "only one question is asked", retry=False)


@dataclass(frozen=True, slots=True)
class Probe:
    """A question to ask: its agent, its markets, and the settings of the model."""

    agent: Agent
    view: View
    settings: ModelSettings
    prompt: Prompt

    @property
    def worst(self) -> int | None:
        """Return the highest cost of the question."""
        return worst_case(self.prompt, self.settings)


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """The answer to a probe, the agent's decision by it, and how many markets it was asked about."""

    call: Call
    decision: Decision
    markets: int

    @property
    def answered(self) -> int:
        """Return how many markets have a usable forecast."""
        return len({forecast.market_id for forecast in self.decision.forecasts if forecast.stage == "final"})

    def measurement(self, on: date) -> Measurement:
        """Return the measurements that a config keeps; tokens beyond those of the text count as thinking."""
        call = self.call
        text_tokens = math.ceil(len((call.reply or "").encode()) / BYTES_A_TOKEN)

        return Measurement(
            on=on,
            markets=self.markets,
            answered=self.answered,
            seconds=round(call.latency_ms / 1000, 1),
            tokens_in=call.tokens_in,
            tokens_out=call.tokens_out,
            thinking=call.tokens_reasoning or max(call.tokens_out - 2 * text_tokens, 0),
            usd=None if call.cost is None else call.cost / ONE,
        )


async def probe_of(agent: Agent, settings: ModelSettings, config: Config) -> Probe:
    """Return the first question of an agent in a round of sample markets, as many as the config shows.

    Raise `ValueError` if it asks none.
    """
    cohorts = config.cohorts
    view = first_sample_round(config.markets.show, config.rules, cohorts.bankroll, cohorts.rounds)
    context = getattr(settings, "context", None)
    if isinstance(context, Context):
        view = with_context(view, context)

    prompts: list[Prompt] = []

    async def note_question(prompt: Prompt) -> Call:
        prompts.append(prompt)
        return Call(prompt, None, error=NO_MORE)

    decision = await agent(view, note_question)
    if not prompts:
        raise ValueError(decision.note or "it asks no question")
    return Probe(agent, view, settings, prompts[0])


async def ask_probe(probe: Probe, ask: Ask) -> ProbeAnswer:
    """Ask the question, and once more if only the form of answer was refused."""
    answers: list[Call] = []

    async def ask_once(prompt: Prompt) -> Call:
        if answers:
            return Call(prompt, None, error=NO_MORE)
        answers.append(await ping(ask, prompt))
        return answers[0]

    decision = await probe.agent(probe.view, ask_once)
    return ProbeAnswer(answers[0], decision, len(probe.view.snapshot.shown))


def measured_keys(answer: ProbeAnswer, on: date) -> dict[str, Any]:
    """Return the keys of an agent's block that follow from an answer, with room above what was measured."""
    call = answer.call
    wanted_tokens = max(ROOM * call.tokens_out, LEAST_TOKENS)
    token_limit = 1_000 * math.ceil(wanted_tokens / 1_000)
    most_possible = table_entry(call.model).get("max_output_tokens")
    if isinstance(most_possible, int) and most_possible > 0:
        token_limit = min(token_limit, most_possible)

    wanted_seconds = max(ROOM * call.latency_ms / 1000, LEAST_SECONDS)
    minutes = math.ceil(wanted_seconds / 60)
    return {
        "timeout": f"{min(minutes, LONGEST_SECONDS // 60)}m",
        "max_tokens": token_limit,
        "form": call.rung,
        "measured": answer.measurement(on).model_dump(mode="json"),
    }
