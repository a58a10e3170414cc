"""`arena check --live`: can the venue and the models be reached, and how do they answer?"""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from arena.cli.table import print_table
from arena.errors import ArenaError
from markets.millionths import decimal

if TYPE_CHECKING:
    from agents.model import Call
    from arena.calls.ping import PingTarget
    from arena.config import Config

HINTS = {
    "no_key": "set the provider's key in the environment, or in the file .env beside the config",
    "refused": "see whether the model's name, its key, base_url and the other settings are right",
    "rate_limit": "wait a little; if it stays so, ask the provider for more, or set calls.per_provider lower",
    "overloaded": "the provider has trouble; try again later",
    "timeout": "see whether base_url is right, or set a longer timeout",
    "budget": "set budget.call higher, or the agent's max_tokens lower",
    "other": "see whether base_url is right and the server runs",
}
"""What may help, by the code of the error."""


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """A model that was tried, and the call that tells how that went."""

    target: "PingTarget"
    call: "Call"

    @property
    def ok(self) -> bool:
        """Whether it answered."""
        return self.call.error is None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        from arena.calls.ping import remark

        call, error = self.call, self.call.error
        told = error and {"code": error.code, "message": error.message, "mend": HINTS.get(error.code, "")}
        return {
            "model": self.target.settings.model,
            "agents": list(self.target.agents),
            "ok": self.ok,
            "served_as": call.model or None,
            "form": call.rung,
            "latency_ms": call.latency_ms,
            "cost_usd": None if call.cost is None else float(decimal(call.cost)),
            "remark": remark(call) or None,
            "error": told,
        }


def models_of(config: "Config", names: Sequence[str]) -> "list[PingTarget]":
    """The models of these agents, or of all; a name that stands for no model is a mistake."""
    from arena.calls.ping import ping_targets

    known = {agent.name: agent for agent in config.agents if agent.model is not None}
    for name in names:
        if name not in known:
            hint = f"name one of {', '.join(known)}" if known else "no agent in this config asks a model"
            raise ArenaError("unknown_agent", f"no agent {name!r} asks a model", hint)
    return ping_targets(tuple(known[name] for name in dict.fromkeys(names or known)))


def say_beforehand(targets: "Sequence[PingTarget]") -> None:
    """What asking may cost, before anyone is asked."""
    from arena.calls.budget_warnings import rounded_dollars

    if not targets:
        return
    known = sum(target.worst or 0 for target in targets)
    unknown = [target.settings.model for target in targets if target.worst is None]
    also = f", and what {', '.join(unknown)} may cost is not known" if unknown else ""
    many = "one model" if len(targets) == 1 else f"each of {len(targets)} models"
    print(f"\nAsking {many} a tiny question: {rounded_dollars(known)} at most{also}.", flush=True)


async def ask_all(config: "Config", targets: "Sequence[PingTarget]") -> list[ModelCheck]:
    """Every model's answer, all asked at once as far as the config lets them. Nothing enters the record."""
    from agents.cost import worst_case
    from arena.calls.ping import ping
    from arena.calls.rate_limit import RateLimiter
    from arena.calls.reservations import CallReservations, local_ask
    from arena.record.model.reservation import Budget
    from arena.rounds.adapters import open_models, provider_of

    limiter = RateLimiter(config.calls.at_once, config.calls.per_provider)
    reservations = CallReservations(Budget(config.budget.call), limiter)

    async with open_models(config) as asks:

        async def one(target: "PingTarget") -> ModelCheck:
            settings = target.settings
            ask = local_ask(
                asks(settings),
                reservations,
                provider_of(settings),
                lambda prompt: worst_case(prompt, settings),
            )
            return ModelCheck(target, await ping(ask))

        return list(await asyncio.gather(*map(one, targets)))


def say_models(probes: Sequence[ModelCheck]) -> None:
    """What was found, a line for each model, and what may help where something is wrong."""
    from arena.calls.ping import remark

    if not probes:
        return
    print()
    columns = ("model", "agents", "", "served as", "form", "time", "cost $")
    print_table(columns, [_row(found) for found in probes], "One tiny question to each model")
    for found in probes:
        model, error = found.target.settings.model, found.call.error
        if error is not None:
            print(f"{model}: {error.message}")
            if hint := HINTS.get(error.code):
                print(f"→ {hint}")
        elif odd := remark(found.call):
            print(f"{model}: {odd}")


def _row(found: ModelCheck) -> tuple[str | None, ...]:
    call = found.call
    return (
        found.target.settings.model,
        ", ".join(found.target.agents),
        "reached" if call.error is None else call.error.code,
        call.model or None,
        call.rung if call.error is None else None,
        f"{call.latency_ms / 1000:.1f} s",
        None if call.cost is None else f"{decimal(call.cost):.6f}",
    )


if TYPE_CHECKING:
    from arena.config import Config
    from markets.venue import QuarantinedRecord, VenueError

ONE_PAGE = {"pages": 1, "newest": 1_000}
"""What venues call how far they read, and how much of that is a page."""
MORE_TO_COME = "too_many"
"""How a venue tells that there is more than it was asked to read."""


@dataclass(frozen=True, slots=True)
class VenueCheck:
    """One page of a venue: how many markets it had, what was rejected, and how long that took."""

    venue: str
    markets: int
    seconds: float
    error: "VenueError | None"
    codes: Counter[str] = field(default_factory=Counter)

    @property
    def ok(self) -> bool:
        """Whether it could be read."""
        return self.error is None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        error = self.error and {
            "code": self.error.code,
            "message": self.error.message,
            "mend": self.error.hint,
        }
        found = {
            "venue": self.venue,
            "ok": self.ok,
            "markets": self.markets,
            "seconds": round(self.seconds, 2),
        }
        return found | {"set_aside": dict(sorted(self.codes.items())), "error": error}


@dataclass(frozen=True, slots=True)
class LiveCheck:
    """All that was tried."""

    looks: Sequence[VenueCheck]
    probes: Sequence[ModelCheck]

    @property
    def status(self) -> int:
        """0 where all could be reached, 1 where nothing could, 2 where only some."""
        reached = [look.ok for look in self.looks] + [probe.ok for probe in self.probes]
        return 0 if all(reached) else 2 if any(reached) else 1

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "live": [look.as_dict() for look in self.looks],
            "models": [probe.as_dict() for probe in self.probes],
        }


def check_live(config: "Config", venues: Sequence[str], agents: Sequence[str], quiet: bool) -> LiveCheck:
    """Try these venues and the models of these agents; where none are named, those of the config.

    Whoever names only venues asks no model, and whoever names only agents reads no venue.
    """
    from arena.cohorts.freeze import stamp_of

    targets = models_of(config, agents) if agents or not venues else []
    own = [config.markets.venue] if stamp_of(config) == "live" else []
    names = venues or ([] if agents else own)
    if not quiet:
        say_beforehand(targets)

    async def tried() -> LiveCheck:
        looks = asyncio.gather(*(_look(config, name) for name in names))
        return LiveCheck(await looks, await ask_all(config, targets) if targets else [])

    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        found = asyncio.run(tried())
    if not quiet:
        say_live(found.looks)
        say_models(found.probes)
    return found


async def _look(config: "Config", name: str) -> VenueCheck:
    from arena.clock import now, timer
    from arena.rounds.adapters import open_venue
    from markets.registry import UnknownExtension
    from markets.venue import VenueError

    quarantined: list[QuarantinedRecord] = []
    started, count, trouble = timer(), 0, None
    try:
        venue = open_venue(config, name, quarantined.append, **ONE_PAGE)
    except UnknownExtension as error:
        raise ArenaError("unknown_venue", f"there is no venue {name!r}", str(error)) from error
    try:
        count = len(await venue.catalogue(now()))
    except VenueError as error:
        trouble = error
    finally:
        await venue.close()
    codes = Counter(aside.code for aside in quarantined if aside.code != MORE_TO_COME)
    return VenueCheck(name, count, timer() - started, trouble, codes)


def say_live(looks: Sequence[VenueCheck]) -> None:
    """What was found, a line for each venue, and what may help where something is wrong."""
    if not looks:
        return
    rows = [
        (
            look.venue,
            "reached" if look.error is None else look.error.code,
            look.markets if look.error is None else None,
            look.codes.total() if look.error is None else None,
            f"{look.seconds:.1f} s",
        )
        for look in looks
    ]
    print()
    print_table(("venue", "", "markets", "rejected", "time"), rows, "One page of each venue")
    for look in looks:
        if look.error is not None:
            print(f"{look.venue}: {look.error.message}\n→ {look.error.hint}")
