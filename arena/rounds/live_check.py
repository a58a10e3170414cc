"""Asks a config's venue and models outside a round whether they can be reached."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from agents.model import Ask, Call, CallError, ModelSettings, model_settings
from agents.model_table.cost import worst_case
from agents.registry import kind
from agents.text import one_line
from arena.calls.ping import PingTarget, ping, ping_targets
from arena.calls.probe import Probe, ProbeAnswer, ask_probe, probe_of
from arena.calls.rate_limit import RateLimiter
from arena.calls.recorded_ask import Asker
from arena.calls.reservations import CallReservations
from arena.clock import now, timer
from arena.config import Config
from arena.errors import ArenaError, did_you_mean
from arena.record.model.reservation import Budget
from arena.rounds.adapters import kind_inputs, open_models, open_venue, provider_of
from markets.registry import UnknownExtension
from markets.venue import CatalogueFilter, QuarantinedRecord, VenueError

HINTS = {
    "no_key": "set the provider's key in the environment, or in .env next to the config",
    "auth": "check the key, and whether it may use this model",
    "quota": "its quota is used up: raise the limit at the provider, or wait for the next period",
    "payment": "add credit at the provider, then play the round again",
    "filtered": "its moderation rejected the question: change the prompt, or use another model",
    "declined": "the model refuses to answer this: change the prompt, or use another model",
    "too_long": "lower prompt_tokens, or ask about fewer markets with `batch`",
    "refused": "check the model's name, base_url and the other settings",
    "rate_limit": "wait a while; if it persists, raise the provider's limit, or lower calls.per_provider",
    "overloaded": "the provider is overloaded; try again later",
    "timeout": "check base_url, or set a longer timeout",
    "unreachable": "check base_url, and whether the server is running",
    "budget": "raise budget.call, or lower the agent's max_tokens",
    "other": "the message shows what came instead of an answer",
}
"""What may help, by the code of a call's error."""


def call_error(error: CallError) -> ArenaError:
    """Return the error of a call as the command line shows it, with a hint where one is known."""
    return ArenaError(error.code, error.message, HINTS.get(error.code, ""))


@dataclass(frozen=True, slots=True)
class VenueCheck:
    """A venue of which one page was read: its markets, what was rejected, and how long that took.

    With an error nothing was read.
    """

    venue: str
    seconds: float
    markets: int | None = None
    left_out: Mapping[str, int] | None = None
    set_aside: Mapping[str, int] | None = None
    error: ArenaError | None = None


@asynccontextmanager
async def local_asks(config: Config) -> AsyncIterator[Callable[[ModelSettings], Ask]]:
    """Yield the models to ask without a record, within rate limits and the budget of a call."""
    limiter = RateLimiter(config.calls.at_once, config.calls.per_provider)
    reservations = CallReservations(Budget(config.budget.call), limiter)

    def ask_of(settings: ModelSettings) -> Ask:
        worst = partial(worst_case, settings=settings)
        provider = provider_of(settings)
        return Asker(asks(settings), worst, provider, provider, reservations).ask_once

    async with open_models(config) as asks:
        yield ask_of


def ping_targets_of(config: Config, names: Sequence[str]) -> list[PingTarget]:
    """Return the models of these agents, or of all. Raise `ArenaError` if a name stands for no model."""
    known = {agent.name: agent for agent in config.agents if agent.model is not None}
    for name in names:
        if name not in known:
            hint = f"{did_you_mean(name, known)}those that do: {', '.join(known) or 'none'}"
            raise ArenaError("unknown_agent", f"no agent {name!r} that uses a model", hint)
    return ping_targets(tuple(known[name] for name in dict.fromkeys(names or known)))


async def just_ping(_settings: ModelSettings, ask: Ask) -> Call:
    """Ask a model the tiny question without recording the answer."""
    return await ping(ask)


async def check_models(
    config: Config,
    targets: Sequence[PingTarget],
    ask_model: Callable[[ModelSettings, Ask], Awaitable[Call]] = just_ping,
) -> list[Call]:
    """Return every model's answer, all asked at once as far as the config lets them."""
    async with local_asks(config) as asks:
        calls = (ask_model(target.settings, asks(target.settings)) for target in targets)
        return await asyncio.gather(*calls)


async def check_venue(config: Config, name: str) -> VenueCheck:
    """Read one page of a venue. Raise `ArenaError` if there is no venue of that name."""
    started = timer()
    rejected: list[QuarantinedRecord] = []
    try:
        venue = open_venue(config, name, rejected.append)
    except UnknownExtension as error:
        raise ArenaError("unknown_venue", f"there is no venue {name!r}", str(error)) from error

    try:
        catalogue = await venue.catalogue(now(), CatalogueFilter(pages=1))
    except VenueError as error:
        trouble = ArenaError(error.code, error.message, error.hint)
        return VenueCheck(name, round(timer() - started, 2), error=trouble)
    finally:
        await venue.close()

    codes = Counter(record.code for record in rejected)
    return VenueCheck(
        venue=name,
        seconds=round(timer() - started, 2),
        markets=len(catalogue.listings),
        left_out=dict(catalogue.left_out),
        set_aside=dict(sorted(codes.items())),
    )


async def probes_of(config: Config, names: Sequence[str]) -> dict[str, Probe]:
    """Return the first question of each of these agents, by name."""
    given = kind_inputs(config, config.prompts)
    llm = kind("llm", config.extensions("kinds"))
    probes = {}
    for agent in config.agents:
        model = model_settings(agent.settings)
        if agent.name in names and model is not None:
            probes[agent.name] = await probe_of(llm.agent(model, given), model, config)
    return probes


async def probe_answers(config: Config, probes: Mapping[str, Probe]) -> dict[str, ProbeAnswer]:
    """Return each model's answer, all asked at once."""
    async with local_asks(config) as asks:
        answers = await asyncio.gather(*(ask_probe(probe, asks(probe.settings)) for probe in probes.values()))
        return dict(zip(probes, answers, strict=True))


def probe_trouble(answer: ProbeAnswer) -> ArenaError | None:
    """Return the error of an unusable answer; None if it is usable."""
    call = answer.call
    if call.error is not None:
        return call_error(call.error)
    if answer.answered:
        return None

    reply = one_line(call.reply or "")[:80]
    message = f"no forecast in its answer can be used ({call.finish or 'no end'}): {reply}"
    return ArenaError(answer.decision.status, message, "try another prompt, or another model")
