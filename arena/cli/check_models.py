"""`arena check --live`: can the models be reached, and how do they answer?"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.cli.output import print_table
from arena.errors import ArenaError
from markets.millionths import decimal

if TYPE_CHECKING:
    from agents.model import Call
    from arena.config import Config
    from arena.probe import Target

MEND = {
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
class Probe:
    """A model that was tried, and the call that tells how that went."""

    target: "Target"
    call: "Call"

    @property
    def ok(self) -> bool:
        """Whether it answered."""
        return self.call.error is None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        from arena.probe import remark

        call, error = self.call, self.call.error
        told = error and {"code": error.code, "message": error.message, "mend": MEND.get(error.code, "")}
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


def models_of(config: "Config", names: Sequence[str]) -> "list[Target]":
    """The models of these agents, or of all; a name that stands for no model is a mistake."""
    from arena.probe import targets

    known = {agent.name: agent for agent in config.agents if agent.model is not None}
    for name in names:
        if name not in known:
            mend = f"name one of {', '.join(known)}" if known else "no agent in this config asks a model"
            raise ArenaError("unknown_agent", f"no agent {name!r} asks a model", mend)
    return targets(tuple(known[name] for name in dict.fromkeys(names or known)))


def say_beforehand(targets: "Sequence[Target]") -> None:
    """What asking may cost, before anyone is asked."""
    from arena.afford import dollars

    if not targets:
        return
    known = sum(target.worst or 0 for target in targets)
    unknown = [target.settings.model for target in targets if target.worst is None]
    also = f", and what {', '.join(unknown)} may cost is not known" if unknown else ""
    many = "one model" if len(targets) == 1 else f"each of {len(targets)} models"
    print(f"\nAsking {many} a tiny question: {dollars(known)} at most{also}.", flush=True)


async def ask_all(config: "Config", targets: "Sequence[Target]") -> list[Probe]:
    """Every model's answer, all asked at once as far as the config lets them. Nothing enters the record."""
    from agents.cost import worst_case
    from arena.budget import Budget
    from arena.desk import Desk, alone
    from arena.gate import Gate
    from arena.probe import probe
    from arena.wiring import lane, open_models

    gate = Gate(config.calls.at_once, config.calls.per_provider)
    desk = Desk(Budget(config.budget.call), gate)

    async with open_models(config) as asks:

        async def one(target: "Target") -> Probe:
            settings = target.settings
            ask = alone(asks(settings), desk, lane(settings), lambda prompt: worst_case(prompt, settings))
            return Probe(target, await probe(ask))

        return list(await asyncio.gather(*map(one, targets)))


def say_models(probes: Sequence[Probe]) -> None:
    """What was found, a line for each model, and what may help where something is wrong."""
    from arena.probe import remark

    if not probes:
        return
    print()
    columns = ("model", "agents", "", "served as", "form", "time", "cost $")
    print_table(columns, [_row(found) for found in probes], title="One tiny question to each model")
    for found in probes:
        model, error = found.target.settings.model, found.call.error
        if error is not None:
            print(f"{model}: {error.message}")
            if mend := MEND.get(error.code):
                print(f"→ {mend}")
        elif odd := remark(found.call):
            print(f"{model}: {odd}")


def _row(found: Probe) -> tuple[str | None, ...]:
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
