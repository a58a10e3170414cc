"""`arena agents show`: all that config and record know of one agent."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.agents_list import as_change
from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json
from arena.cli.positions import exact
from arena.errors import ArenaError
from markets.millionths import ONE

if TYPE_CHECKING:
    from arena.cohorts.diff import AgentSetup
    from arena.config import Config
    from arena.scores.agent_summary import AgentDetails


class RecordBy(StrEnum):
    """What an agent's record can be parted by."""

    category = "category"
    horizon = "horizon"
    price = "price"
    cohort = "cohort"


PLANNED = "next"
"""How the cohort is called that the config would start."""


def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name in the config or in the record.")],
    by: Annotated[
        RecordBy | None,
        typer.Option(
            help="Its skill and calibration in parts too: by what markets are about, how long until they "
            "close, what YES costs, or in which cohort."
        ),
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Show one agent: its settings cohort by cohort and what was changed, how its turns and calls went.

    The cohort `next` is the one that the config would start. Forecasts are final probabilities, and what one
    costs is all that was spent on calls, divided by their number. Latencies are those of answers. Of a model
    it is told what its provider reports it as, and when: another model under the same name is another agent.

    Its scores in depth: skill with its interval; miscalibration, beside what chance alone would make of it;
    the sure profit that its own probabilities would give away; how far it moves when it is shown the price;
    and its profit, split into edge, spread, fees, sizing, early sales and luck.

    Example: arena agents show sharp --by horizon

    Next: arena agents try NAME
    """
    from arena.cli import agents_summary
    from arena.cli.agents_summary import say_summary
    from arena.record.dry_run import open_or_empty
    from arena.record.schema.database import reading
    from arena.scores.agent_summary import agent_details, agent_summaries
    from arena.scores.profiles.detailed_profile import agent_slices, read_agent_profile

    chosen = options(context, config, database)
    planned = chosen.known()
    with (
        open_or_empty(planned.database if planned else chosen.record()) as engine,
        reading(engine) as connection,
    ):
        kinds = planned.extensions("kinds") if planned else ()
        found = agent_details(connection, name, kinds)
        scores = agents_summary.profile_data(read_agent_profile(connection, name)) if found else None
        parts = (
            agents_summary.parts_data(by.value, agent_slices(connection, name, by.value))
            if by and found
            else None
        )
        setup = None if planned is None else planned_setup(planned, name)
        if found is None and setup is None:
            known = [agent.name for agent in planned.agents] if planned is not None else []
            names = dict.fromkeys([*known, *agent_summaries(connection)])
            raise ArenaError(
                "no_agent", f"there is no agent {name!r}", f"agents: {', '.join(names) or 'none'}"
            )
    told = {
        "name": name,
        "cohorts": stays(found, setup),
        "record": found and as_data(found),
        "scores": scores,
    } | ({"parts": parts} if by else {})
    if as_json:
        print_json(told)
    else:
        say_summary(told)


def planned_setup(config: "Config", name: str) -> "AgentSetup | None":
    """How the next cohort would have the agent."""
    from arena.clock import now
    from arena.cohorts.diff import agent_setup
    from arena.cohorts.freeze import freeze_cohort

    cohort, _ = freeze_cohort(config, 1, now())
    kinds = config.extensions("kinds")
    return next((agent_setup(cohort, x, kinds) for x in cohort.entrants if x.name == name), None)


def stays(found: "AgentDetails | None", planned: "AgentSetup | None") -> list[dict[str, Any]]:
    """Each cohort that the agent is in, the next one too, with what was changed since the one before."""
    from arena.cohorts.diff import setup_differences

    every: list[tuple[dict[str, Any], AgentSetup]] = []
    for stay in found.stays if found else ():
        known = {"cohort": stay.cohort, "starts_at": stay.starts_at.isoformat(), "verdicts": stay.statuses}
        every.append((known | {"code_versions": as_versions(stay.versions)}, stay.setup))
    if planned is not None:
        every.append(({"cohort": PLANNED, "starts_at": None, "verdicts": {}, "code_versions": []}, planned))
    told = list[dict[str, Any]]()
    for place, (known, setup) in enumerate(every):
        changed = setup_differences(every[place - 1][1], setup) if place else {}
        told.append(
            known
            | {"kind": setup.kind, "settings": dict(setup.settings), "prompts": dict(setup.prompts)}
            | {"changed": {key: {"was": was, "is": now} for key, (was, now) in changed.items()}}
        )
    return told


def as_versions(found: Mapping[int, Sequence[str]]) -> list[dict[str, Any]]:
    """The versions of the code that played, and from which round on, for JSON."""
    return [{"from_round": number, "versions": list(known)} for number, known in found.items()]


def as_data(found: "AgentDetails") -> dict[str, Any]:
    """What the record says of an agent for JSON; money in dollars."""
    from arena.record.model.model_version import change_sentence

    calls = sum(each.calls for each in found.asked)
    whole = calls > 0 and found.unknown == 0 and found.forecasts > 0
    return {
        "verdicts": _together([stay.statuses for stay in found.stays]),
        "calls": calls,
        "rungs": found.rungs,
        "errors": found.errors,
        "tokens_in": sum(each.tokens_in for each in found.asked),
        "tokens_out": sum(each.tokens_out for each in found.asked),
        "cost_usd": None if found.unknown else exact(found.cost),
        "known_cost_usd": exact(found.cost),
        "unknown_costs": found.unknown,
        "forecasts": found.forecasts,
        "cost_per_forecast_usd": found.cost / found.forecasts / ONE if whole else None,
        "median_ms": found.median_ms,
        "p95_ms": found.late_ms,
        "reported": [
            {
                "model": each.model,
                "fingerprint": each.fingerprint,
                "answers": each.answers,
                "first_at": each.first_at.isoformat(),
                "last_at": each.last_at.isoformat(),
            }
            for each in found.served
        ],
        "changes": [as_change(change) for change in found.changes],
        "notes": [change_sentence(change) for change in found.changes],
    }


def _together(verdicts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = dict.fromkeys(name for each in verdicts for name in each)
    return {name: sum(each.get(name, 0) for each in verdicts) for name in names}
