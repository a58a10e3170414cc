"""`arena check`: is the config right, who would play, and what would it cost?

`arena check`: what the next cohort would cost, beside what the budget allows.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.options import Options, command
from arena.cli.output import print_json, program
from arena.cli.table import print_table
from arena.errors import ArenaError
from markets.millionths import decimal

if TYPE_CHECKING:
    from arena.calls.budget_warnings import BudgetWarning, RoundCounts
    from arena.calls.estimate import Estimate, Usage
    from arena.config import Config

ALL = "all"
COLUMNS = ("agent", "calls", "tokens in", "out", "$ a round", "a cohort", "a month")
LONGEST = 28
"""Characters of a name, so that the table fits in a hundred columns."""
SPANS = ("round", "cohort", "month")


def cost_of(config: "Config", number: int) -> dict[str, Any]:
    """What cohort `number` would use, agent by agent and in all, and where the budget would stop it."""
    import asyncio
    import sys
    from contextlib import redirect_stdout

    from arena.calls.budget_warnings import budget_warnings, round_counts
    from arena.calls.estimate import estimate_lineup
    from arena.rounds.adapters import kind_inputs

    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        found = asyncio.run(estimate_lineup(config, kind_inputs(config, config.prompts)))
    times = round_counts(config.cohorts, number)
    return {
        "rounds": {"cohort": times.cohort, "month": round(float(times.month), 2), "day": times.day},
        "agents": [_agent(one, times) for one in found],
        "total": _total(found, times),
        "warnings": [
            *_unknown_models(config),
            *(_warning(warning) for warning in budget_warnings(found, times, config.budget)),
        ],
    }


def _unknown_models(config: "Config") -> Iterator[dict[str, Any]]:
    """Models that may be misspelt: litellm doesn't know them, but one of nearly that name."""
    from agents.model import model_settings
    from agents.providers import near_model

    for agent in config.agents:
        model = model_settings(agent.settings)
        if model is None or model.base_url is not None or model.price is not None:
            continue
        if near := near_model(model.model):
            yield {
                "code": "unknown_model",
                "scope": "model",
                "agent": agent.name,
                "message": f"the model of {agent.name} is unknown to litellm: {model.model}",
                "mend": f"Did you mean {near}? If it is new, `price` says what it costs",
            }


def _agent(one: "Estimate", times: "RoundCounts") -> dict[str, Any]:
    spans = {} if one.trouble else _spans(one.low, one.high, times)
    return {"agent": one.agent, **spans, "call_usd": _usd(one.first.cost), "trouble": one.trouble or None}


def _total(found: "Sequence[Estimate]", times: "RoundCounts") -> dict[str, Any] | None:
    """All of them together; unknown if one of them is."""
    from arena.calls.estimate import total_usage

    if any(one.trouble for one in found):
        return None
    return _spans(total_usage(one.low for one in found), total_usage(one.high for one in found), times)


def _spans(low: "Usage", high: "Usage", times: "RoundCounts") -> dict[str, Any]:
    lengths = dict(zip(SPANS, (Fraction(1), Fraction(times.cohort), times.month), strict=True))
    return {
        span: {"low": _use(low.times(rounds)), "high": _use(high.times(rounds))}
        for span, rounds in lengths.items()
    }


def _use(use: "Usage") -> dict[str, Any]:
    counts = {"calls": use.calls, "tokens_in": use.tokens_in, "tokens_out": use.tokens_out}
    return counts | {"usd": _usd(use.cost)}


def _usd(amount: int | None) -> float | None:
    return None if amount is None else float(decimal(amount))


def _warning(warning: "BudgetWarning") -> dict[str, Any]:
    return {
        "code": warning.code,
        "scope": warning.scope,
        "agent": warning.agent or None,
        "message": warning.message,
        "mend": warning.hint,
    }


def print_cost(found: dict[str, Any]) -> None:
    """A line for each agent that asks a model, low and high, and one for all of them."""
    if not found["agents"]:
        print("\nNo agent asks a model: playing costs nothing.")
        return
    rows = [_row(one["agent"], one) for one in found["agents"]]
    if len(rows) > 1:
        rows.append(_row(ALL, found["total"] or {}))
    print()
    print_table(COLUMNS, rows, "What models may cost, low–high")
    rounds = found["rounds"]
    print(f"Rounds: {rounds['cohort']} of this cohort, {rounds['month']:g} of all in 30.4 days. Low: every")
    print("question once, answered in few words. High: what budgets hold back. The other agents are free.")
    for one in found["agents"]:
        if one["trouble"]:
            print(f"{one['agent']}: nothing can be said, for on a made-up round it failed: {one['trouble']}")
    if any(_unpriced(one) for one in found["agents"]):
        print("A dash for dollars: no price is known. Add `price: {input: …, output: …}` to the agent, in\n"
              "dollars per million tokens.")  # fmt: skip


def print_warnings(found: dict[str, Any]) -> None:
    """Where a budget would stop the line-up, and what to change."""
    for warning in found["warnings"]:
        sure = "" if warning["code"] in ("may_stop", "unknown_model") else "! "
        print(f"\n{sure}{warning['message'][0].upper()}{warning['message'][1:]}.\n→ {warning['mend']}")


def _unpriced(one: dict[str, Any]) -> bool:
    return not one["trouble"] and one["round"]["low"]["usd"] is None


def _row(name: str, one: dict[str, Any]) -> tuple[str | None, ...]:
    name = name if len(name) <= LONGEST else f"…{name[1 - LONGEST :]}"  # models of a vendor differ in the end
    if "round" not in one:
        return (name, *[None] * (len(COLUMNS) - 1))
    counts = ((key, one["round"]) for key in ("calls", "tokens_in", "tokens_out"))
    money = (("usd", one[span]) for span in SPANS)
    return (name, *(_between(key, span["low"][key], span["high"][key]) for key, span in (*counts, *money)))


def _between(key: str, low: float | None, high: float | None) -> str | None:
    """Two figures as one: `0.013–0.27`, or a single one where they are the same."""
    if low is None or high is None:
        return None
    write = {"usd": _money, "calls": "{:,}".format}.get(key, _thousands)
    return write(low) if write(low) == write(high) else f"{write(low)}–{write(high)}"


def _thousands(count: float) -> str:
    """A number of tokens as it is easily read.

    >>> _thousands(898), _thousands(9_385), _thousands(134_383), _thousands(2_500_000)
    ('898', '9.4k', '134k', '2.5M')
    """
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}{unit}" if count < 10 * size else f"{count / size:,.0f}{unit}"
    return f"{count:.0f}"


def _money(usd: float) -> str:
    """Dollars: two figures below ten cents, cents up to a hundred dollars, whole ones above.

    >>> _money(0.0131), _money(0.263), _money(12.3), _money(1234.5), _money(0)
    ('0.013', '0.26', '12.30', '1,234', '0')
    """
    if usd == 0:
        return "0"
    if usd < 0.1:
        places = next(places for places in range(2, 7) if usd * 10**places >= 9.95 or places == 6)
        return f"{usd:.{places}f}"
    return f"{usd:,.2f}" if usd < 100 else f"{usd:,.0f}"


if TYPE_CHECKING:
    from datetime import datetime

    from arena.config import Config


@command()
def check(
    chosen: Options,
    live: Annotated[
        bool,
        typer.Option(
            "--live", help="Also read one page of each live venue and ask each model one tiny question."
        ),
    ] = False,
    venue: Annotated[
        list[str] | None,
        typer.Option(help="With --live: this venue, and no models; may be given again.", metavar="NAME"),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="With --live: the model of this agent, and no venues; may be given again.", metavar="AGENT"
        ),
    ] = None,
) -> None:
    """Check the config, and say who would play in the next cohort and what that would cost.

    Every mistake is named at once: file, line, key, what was found and what is meant. With any, the
    exit status is 1. What would be other than in the newest cohort is told in a few lines. Costs are
    estimates, low and high, for prompts filled in with made-up markets; where a budget would stop calls,
    that is said. Nothing is played, and without --live nothing is spent.

    With --live every live venue is read and every model is asked, or only those that --venue and --model
    name. A venue is read as the config has it, or with its own defaults where the config is for another
    one. A model costs a fraction of a cent, said beforehand; nothing of it enters the record. The exit
    status is 1 when nothing could be reached, and 2 when only some could.

    Example: arena check --config my-arena/config.yaml

    Next: arena round plays the next round, arena demo a whole season.
    """
    from arena.cli.check_live import check_live

    if (venue or model) and not live:
        raise ArenaError("not_live", "--venue and --model need --live", "arena check --live --model AGENT")
    settings = chosen.load(os.environ, beside=True)
    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        found = everything(settings)
    if not chosen.json:
        _print(found)
    looks = check_live(settings, venue or [], model or [], quiet=chosen.json) if live else None
    if chosen.json:
        told = {} if looks is None else looks.as_dict()
        print_json({"ok": looks is None or looks.status == 0} | found | told)
    else:
        print(f"\nNext: {program()} {found['next_command']}")
    if looks is not None and looks.status:
        raise typer.Exit(looks.status)


def everything(config: "Config") -> dict[str, Any]:
    """What a cohort would contain, when the next one starts, and what it would cost."""
    from arena.cli.check_next import changes_since, next_cohort, read_begun
    from arena.clock import now
    from arena.config import environment
    from arena.config.environment import missing_keys

    at, begun = now(), read_begun(config.database)
    coming = next_cohort(config, begun, at) | changes_since(config, begun.last, at)
    cost = cost_of(config, coming["next_cohort"] or coming["cohorts_begun"] + 1)
    waiting = {"missing_keys": missing_keys(config.agents, environment(config.folder, os.environ))}
    return summary(config, at) | coming | waiting | {"cost": cost}


def summary(config: "Config", at: "datetime") -> dict[str, Any]:
    """What a cohort that this config starts would contain, as of an instant."""
    cohorts = config.cohorts
    return {
        "config": str(config.file),
        "database": without_password(config.database),
        "venue": config.markets.venue,
        "venue_settings": config.venue_settings.model_dump(mode="json"),
        "evidence": config.evidence.source,
        "evidence_settings": config.evidence_settings.model_dump(mode="json"),
        "guard": config.evidence.guard.model_dump(),
        "universe": config.markets.universe.model_dump(),
        "first_start": config.first_start(at).isoformat(),
        "decide_every_seconds": int(cohorts.decide.total_seconds()),
        "rounds": cohorts.rounds,
        "cohorts": cohorts.count,
        "keep_deciding": cohorts.keep_deciding,
        "bankroll": cohorts.bankroll,
        "rules": cohorts.rules.model_dump(),
        "budget": config.budget.model_dump(),
        "agents": [
            {
                "name": agent.name,
                "kind": agent.kind,
                "model": agent.model,
                "of": list(agent.of),
                "settings": agent.settings.model_dump(mode="json"),
            }
            for agent in config.agents
        ],
    }


def without_password(address: str) -> str:
    """A database's address as it may be shown.

    >>> without_password("postgresql+psycopg://arena:secret@host/arena")
    'postgresql+psycopg://arena:***@host/arena'
    """
    return re.sub(r"(://[^:/@]*):[^@/]*@", r"\1:***@", address)


def _print(found: dict[str, Any]) -> None:

    print(f"{found['config']} is valid. Next cohort:\n")
    rows = [
        (agent["name"], agent["kind"], agent["model"] or ", ".join(agent["of"]) or None)
        for agent in found["agents"]
    ]
    print_table(("agent", "kind", "model or of"), rows)
    _print_rules(found)
    print_cost(found["cost"])
    print(f"\nbudget    {_limits(found['budget'])}")
    print_warnings(found["cost"])
    for name, variable in found["missing_keys"].items():
        print(f"\nWarning: {name} waits for {variable}, and enters at the first round at which it is set.")
    if found["missing_keys"]:
        print("→ set it in the environment, or write it into .env")


def _print_rules(found: dict[str, Any]) -> None:
    from arena.cli.check_next import say_changes, say_next

    universe, rules, days = found["universe"], found["rules"], 86_400
    print(f"start     {say_next(found)}")
    every = found["decide_every_seconds"] / days
    deciding = f"the newest {found['keep_deciding']} decide"
    print(f"rounds    {found['rounds']}, one every {every:g} days; {deciding}")
    print(f"bankroll  ${decimal(found['bankroll']):,} each")
    print(f"rules     {rules['name']}: fill {rules['fill']}, a bet from ${decimal(rules['min_bet']):,} "
          f"to {decimal(rules['max_bet']):.0%} of the cash")  # fmt: skip
    print(f"markets   {universe['show']} of {found['venue']} a round, {universe['per_event']} an event, "
          f"closing within {universe['closes_within'] / days:g} days")  # fmt: skip
    print(f"evidence  {found['evidence']}")
    if found["differs_from"] is not None:
        print(f"changes   {say_changes(found)}")
    print(f"record    {found['database']}")
    if found["record_trouble"]:
        print(f"          it can't be read: {found['record_trouble']}")


def _limits(budget: dict[str, int | None]) -> str:
    limits = [f"${decimal(limit):,.2f} {PER[scope]}" for scope, limit in budget.items() if limit is not None]
    return ", ".join(limits) or "none"


PER = {
    "call": "a call",
    "round": "a round",
    "agent": "an agent and cohort",
    "day": "a day",
    "arena": "in all",
}
"""What each limit of the budget is for, in words."""
