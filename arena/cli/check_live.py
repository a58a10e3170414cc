"""`arena check --live`: can the venue and the models be reached, and how do they answer?"""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from agents.model import Ask, CallError, ModelSettings
from agents.model_table.cost import worst_case
from arena.calls.budget_warnings import rounded_dollars
from arena.calls.ping import PingTarget, ping, ping_targets, remark
from arena.calls.rate_limit import RateLimiter
from arena.calls.recorded_ask import Asker
from arena.calls.reservations import CallReservations
from arena.cli.output import Data, exact, prints_aside, run_async
from arena.cli.page import Page, print_page
from arena.cli.table import Table, TableColumn
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


def reached_text(row: Data) -> str:
    """Return whether a venue or a model was reached, else the code of the error."""
    return "reached" if row["ok"] else str(row["error"]["code"])


def if_reached(read: Callable[[Data], Any]) -> Callable[[Data], Any]:
    """Return what reads a row of what was reached, and None of another."""
    return lambda row: read(row) if row["ok"] else None


MODELS = (
    TableColumn("model", narrow="wrap"),
    TableColumn("agents", show=", ".join, narrow="wrap"),
    TableColumn("reached", "", value=reached_text),
    TableColumn("served_as", "served as", narrow="wrap"),
    TableColumn("form", value=if_reached(lambda row: row["form"])),
    TableColumn("latency_ms", "time", lambda latency: f"{latency / 1000:.1f} s"),
    TableColumn("cost_usd", "cost $", ".6f"),
)
VENUES = (
    TableColumn("venue"),
    TableColumn("reached", "", value=reached_text),
    TableColumn("markets", value=if_reached(lambda row: row["markets"])),
    TableColumn("left out", value=if_reached(lambda row: sum(row["left_out"].values()))),
    TableColumn("rejected", value=if_reached(lambda row: sum(row["set_aside"].values()))),
    TableColumn("seconds", "time", lambda seconds: f"{seconds:.1f} s"),
)


def check_live(config: Config, venues: Sequence[str], agents: Sequence[str], quiet: bool) -> dict[str, Any]:
    """Try these venues and the models of these agents; where none are named, those of the config.

    Whoever names only venues asks no model, and whoever names only agents reads no venue. Unless `quiet` is
    set, what asking may cost is said first, and what came of it is printed.
    """
    targets = models_of(config, agents) if agents or not venues else []
    names = venues
    if not venues and not agents and stamp_of(config) == "live":
        names = [config.markets.venue]
    if targets and not quiet:
        print_page(["", cost_sentence(targets)])
        sys.stdout.flush()

    async def tried() -> dict[str, Any]:
        live = await asyncio.gather(*(check_venue(config, name) for name in names))
        return {"live": live, "models": await check_models(config, targets)}

    with prints_aside():
        data = run_async(tried())
    if not quiet:
        print_page(live_page(data))
    return data


def live_status(data: Data) -> int:
    """Return the exit status: 0 where all could be reached, 1 where nothing could, 2 where only some."""
    reached = {row["ok"] for row in (*data["live"], *data["models"])}
    if reached == {True, False}:
        return 2
    return 1 if False in reached else 0


def models_of(config: Config, names: Sequence[str]) -> list[PingTarget]:
    """Return the models of these agents, or of all. Raise `ArenaError` if a name stands for no model."""
    known = {agent.name: agent for agent in config.agents if agent.model is not None}
    for name in names:
        if name not in known:
            hint = f"those that do: {', '.join(known) or 'none'}"
            raise ArenaError("unknown_agent", f"no agent {name!r} that uses a model", hint)
    return ping_targets(tuple(known[name] for name in dict.fromkeys(names or known)))


def cost_sentence(targets: Sequence[PingTarget]) -> str:
    """Return what asking may cost."""
    most = sum(target.worst or 0 for target in targets)
    unknown = [target.settings.model for target in targets if target.worst is None]
    many = "one model" if len(targets) == 1 else f"each of {len(targets)} models"
    sentence = f"Asking {many} a tiny question: {rounded_dollars(most)} at most"
    if unknown:
        sentence += f", and the cost of {', '.join(unknown)} is unknown"
    return f"{sentence}."


@asynccontextmanager
async def local_asks(config: Config) -> AsyncIterator[Callable[[ModelSettings], Ask]]:
    """Yield what asks models beside the record: within the rate limits, and within what a call may cost."""
    limiter = RateLimiter(config.calls.at_once, config.calls.per_provider)
    reservations = CallReservations(Budget(config.budget.call), limiter)

    def ask_of(settings: ModelSettings) -> Ask:
        worst = partial(worst_case, settings=settings)
        provider = provider_of(settings)
        return Asker(asks(settings), worst, provider, provider, reservations).ask_once

    async with open_models(config) as asks:
        yield ask_of


async def check_models(config: Config, targets: Sequence[PingTarget]) -> list[dict[str, Any]]:
    """Return every model's answer, all asked at once as far as the config lets them."""
    if not targets:
        return []
    async with local_asks(config) as asks:

        async def answer(target: PingTarget) -> dict[str, Any]:
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
                "error": call.error and error_data(call.error, HINTS.get(call.error.code, "")),
            }

        return list(await asyncio.gather(*map(answer, targets)))


async def check_venue(config: Config, name: str) -> dict[str, Any]:
    """Read one page of a venue; return how many markets it had, what was rejected, and how long that took."""
    started = timer()
    rejected: list[QuarantinedRecord] = []
    try:
        venue = open_venue(config, name, rejected.append)
    except UnknownExtension as error:
        raise ArenaError("unknown_venue", f"there is no venue {name!r}", str(error)) from error

    catalogue = Catalogue([])
    trouble = None
    try:
        catalogue = await venue.catalogue(now(), CatalogueFilter(pages=1))
    except VenueError as error:
        trouble = error_data(error, error.hint)
    finally:
        await venue.close()

    codes = Counter(record.code for record in rejected)
    return {
        "venue": name,
        "ok": trouble is None,
        "markets": len(catalogue.listings),
        "left_out": dict(catalogue.left_out),
        "seconds": round(timer() - started, 2),
        "set_aside": dict(sorted(codes.items())),
        "error": trouble,
    }


def error_data(error: CallError | VenueError, hint: str) -> dict[str, str]:
    """Return an error as data."""
    return {"code": error.code, "message": error.message, "mend": hint}


def live_page(data: Data) -> Page:
    """Yield a line for each venue and each model, then what may help where something is wrong."""
    tables = (
        ("One page of each venue", VENUES, data["live"], "venue"),
        ("One tiny question to each model", MODELS, data["models"], "model"),
    )
    for title, columns, rows, name in tables:
        if rows:
            yield ""
            yield Table(columns, rows, title)
        for row in rows:
            error = row["error"]
            message = error["message"] if error else row.get("remark")
            if message:
                yield f"{row[name]}: {message}"
            if error and error["mend"]:
                yield f"→ {error['mend']}"
