"""`arena check --live`: can the venue and the models be reached, and how do they answer?"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from agents.model import Ask, ModelSettings
from agents.model_table.cost import worst_case
from arena.calls.budget_warnings import rounded_dollars
from arena.calls.ping import PingTarget, ping, ping_targets, remark
from arena.calls.rate_limit import RateLimiter
from arena.calls.recorded_ask import Asker
from arena.calls.reservations import CallReservations
from arena.cli.output import exact, prints_aside, run_async
from arena.cli.page import print_table
from arena.cli.table import TableColumn
from arena.clock import now, timer
from arena.cohorts.freeze import stamp_of
from arena.config import Config
from arena.errors import ArenaError
from arena.record.model.reservation import Budget
from arena.rounds.adapters import open_models, open_venue, provider_of
from markets.registry import UnknownExtension
from markets.venue import Catalogue, CatalogueFilter, QuarantinedRecord, VenueError

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
"""What may help, by the code of the error."""


def _reached(found: Mapping[str, Any]) -> str:
    return "reached" if found["ok"] else str(found["error"]["code"])


MODELS = (
    TableColumn("model", narrow="wrap"),
    TableColumn("agents", show=", ".join, narrow="wrap"),
    TableColumn("reached", "", value=_reached),
    TableColumn("served_as", "served as", narrow="wrap"),
    TableColumn("form", value=lambda found: found["form"] if found["ok"] else None),
    TableColumn("latency_ms", "time", lambda latency: f"{latency / 1000:.1f} s"),
    TableColumn("cost_usd", "cost $", ".6f"),
)
VENUES = (
    TableColumn("venue"),
    TableColumn("reached", "", value=_reached),
    TableColumn("markets", value=lambda found: found["markets"] if found["ok"] else None),
    TableColumn("left out", value=lambda found: sum(found["left_out"].values()) if found["ok"] else None),
    TableColumn("rejected", value=lambda found: sum(found["set_aside"].values()) if found["ok"] else None),
    TableColumn("seconds", "time", lambda seconds: f"{seconds:.1f} s"),
)


def check_live(config: Config, venues: Sequence[str], agents: Sequence[str], quiet: bool) -> dict[str, Any]:
    """Try these venues and the models of these agents; where none are named, those of the config.

    Whoever names only venues asks no model, and whoever names only agents reads no venue.
    """
    targets = models_of(config, agents) if agents or not venues else []
    own = [config.markets.venue] if stamp_of(config) == "live" else []
    names = venues or ([] if agents else own)
    if targets and not quiet:
        say_beforehand(targets)

    async def tried() -> dict[str, Any]:
        live = await asyncio.gather(*(check_venue(config, name) for name in names))
        return {"live": live, "models": await check_models(config, targets) if targets else []}

    with prints_aside():
        found = run_async(tried())
    if not quiet:
        say_live(found)
    return found


def live_status(found: Mapping[str, Any]) -> int:
    """The exit status: 0 where all could be reached, 1 where nothing could, 2 where only some."""
    reached = [each["ok"] for each in (*found["live"], *found["models"])]
    return 0 if all(reached) else 2 if any(reached) else 1


def models_of(config: Config, names: Sequence[str]) -> list[PingTarget]:
    """The models of these agents, or of all; a name that stands for no model is a mistake."""
    known = {agent.name: agent for agent in config.agents if agent.model is not None}
    for name in names:
        if name not in known:
            hint = f"name one of {', '.join(known)}" if known else "no agent in this config uses a model"
            raise ArenaError("unknown_agent", f"no agent {name!r} that uses a model", hint)
    return ping_targets(tuple(known[name] for name in dict.fromkeys(names or known)))


def say_beforehand(targets: Sequence[PingTarget]) -> None:
    """What asking may cost, before anyone is asked."""
    known = sum(target.worst or 0 for target in targets)
    unknown = [target.settings.model for target in targets if target.worst is None]
    also = f", and the cost of {', '.join(unknown)} is unknown" if unknown else ""
    many = "one model" if len(targets) == 1 else f"each of {len(targets)} models"
    print(f"\nAsking {many} a tiny question: {rounded_dollars(known)} at most{also}.", flush=True)


@asynccontextmanager
async def local_asks(config: Config) -> AsyncIterator[Callable[[ModelSettings], Ask]]:
    """How models are asked beside the record: within the rate limits, and within what a call may cost."""
    limiter = RateLimiter(config.calls.at_once, config.calls.per_provider)
    reservations = CallReservations(Budget(config.budget.call), limiter)

    def ask_of(settings: ModelSettings) -> Ask:
        worst = partial(worst_case, settings=settings)
        provider = provider_of(settings)
        return Asker(asks(settings), worst, provider, provider, reservations).ask_once

    async with open_models(config) as asks:
        yield ask_of


async def check_models(config: Config, targets: Sequence[PingTarget]) -> list[dict[str, Any]]:
    """Every model's answer, all asked at once as far as the config lets them. Nothing enters the record."""
    async with local_asks(config) as asks:

        async def one(target: PingTarget) -> dict[str, Any]:
            call = await ping(asks(target.settings))
            return {
                "model": target.settings.model,
                "agents": list(target.agents),
                "ok": call.error is None,
                "served_as": call.model or None,
                "form": call.rung,
                "latency_ms": call.latency_ms,
                "cost_usd": exact(call.cost),
                "remark": remark(call) or None,
                "error": call.error and _error(call.error, HINTS.get(call.error.code, "")),
            }

        return list(await asyncio.gather(*map(one, targets)))


async def check_venue(config: Config, name: str) -> dict[str, Any]:
    """One page of a venue: how many markets it had, what was rejected, and how long that took."""
    quarantined: list[QuarantinedRecord] = []
    started, read, trouble = timer(), Catalogue([]), None
    try:
        venue = open_venue(config, name, quarantined.append)
    except UnknownExtension as error:
        raise ArenaError("unknown_venue", f"there is no venue {name!r}", str(error)) from error
    try:
        read = await venue.catalogue(now(), CatalogueFilter(pages=1))
    except VenueError as error:
        trouble = _error(error, error.hint)
    finally:
        await venue.close()
    codes = Counter(aside.code for aside in quarantined)
    return {
        "venue": name,
        "ok": trouble is None,
        "markets": len(read.listings),
        "left_out": dict(read.left_out),
        "seconds": round(timer() - started, 2),
        "set_aside": dict(sorted(codes.items())),
        "error": trouble,
    }


def _error(error: Any, hint: str) -> dict[str, str]:
    return {"code": error.code, "message": error.message, "mend": hint}


def say_live(found: Mapping[str, Any]) -> None:
    """A line for each venue and each model, then what may help where something is wrong."""
    tables = {
        "One page of each venue": (VENUES, found["live"], "venue"),
        "One tiny question to each model": (MODELS, found["models"], "model"),
    }
    for title, (columns, rows, name) in tables.items():
        if rows:
            print()
            print_table(columns, rows, title)
        for each in rows:
            error = each["error"]
            if words := error["message"] if error else each.get("remark"):
                print(f"{each[name]}: {words}")
            if error and error["mend"]:
                print(f"→ {error['mend']}")
