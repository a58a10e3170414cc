"""`arena agents try`: one agent's turn as it would be, without a trace in the record."""

import os
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, progress
from arena.errors import ArenaError

if TYPE_CHECKING:
    from datetime import datetime

    from arena.config import Config
    from arena.record.dry_run import Engine
    from arena.rounds.trial import Trial


def try_agent(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name in the config or in the record.")],
    dry: Annotated[
        bool, typer.Option("--dry", help="Make no call: show what would be asked and what it may cost.")
    ] = False,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="On the round of this time, in UTC, not the latest."),
    ] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Let one agent decide, and show it all: prompts, answers, decision, fills and cost. Nothing is kept.

    It decides on the latest round of the newest cohort that it is in, with the account that it had before it
    decided then. A new agent gets the latest round that was played, a fresh bankroll and the config's
    rules; where nothing was played yet, the venue is looked at. It is set up as the config has it today.

    Calls are real and cost money, within the budget: the limits of a call, a round and an agent hold for this
    turn by itself, those of the day and the arena together with what the record has spent. The record doesn't
    learn what a try cost, so the next one doesn't know it either. With --dry no call is made, and a question
    that would repeat earlier answers is shown without them.

    The exit status is 2 when the model had no answer, or none that could be used.

    Example: arena agents try sharp --dry

    Next: arena round plays the next round with all agents.
    """
    from arena.cli.agents_try_output import dry_run_data, say_dry_run
    from arena.cli.options import instant

    settings = options(context, config, database).load()
    wanted = None if at is None else instant(at)
    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        trial = dry_run(settings, name, wanted, dry)
    if as_json:
        print_json(dry_run_data(trial))
    else:
        say_dry_run(trial)
    if trial.turn is not None and trial.turn.decision.status in ("failed", "malformed"):
        raise typer.Exit(2)


def dry_run(config: "Config", name: str, at: "datetime | None", dry: bool) -> "Trial":
    """Try an agent on what the record holds, or on a look at the venue."""
    import asyncio

    from arena.record.dry_run import open_or_empty

    try:
        with open_or_empty(config.database) as engine:
            return asyncio.run(_dry_run(engine, config, name, at, dry))
    except KeyboardInterrupt:
        words = "stopped; nothing was written"
        raise ArenaError("interrupted", words, "a call under way may be charged", status=130) from None


async def _dry_run(
    engine: "Engine", config: "Config", name: str, at: "datetime | None", dry: bool
) -> "Trial":
    from arena.record.dry_run import DryRunRecord
    from arena.record.schema.database import reading
    from arena.rounds.open_world import open_world
    from arena.rounds.trial import fresh_setting, newcomer_setting, play_trial, recorded_setting

    with reading(engine) as connection:
        setting = recorded_setting(connection, config, name, at)
    when = setting.round.at if setting else _now(config, at)
    tried_agent = setting.agent if setting else newcomer_setting(config, name, when)
    if not dry:
        _check_key(config, name)
    record = DryRunRecord(engine, owned={name: tried_agent.account}, texts=tried_agent.texts)
    async with open_world(config, record) as world:
        with progress(f"Asking {name}", None):
            setting = setting or await fresh_setting(tried_agent, when, world, record)
            return await play_trial(setting, world, record, dry)


def _now(config: "Config", at: "datetime | None") -> "datetime":
    """When a venue is looked at of which no round was played: a live one now, others at their start."""
    from arena.clock import now
    from arena.cohorts.freeze import stamp_of

    live = stamp_of(config) == "live"
    if live and at is not None:
        raise ArenaError("live_venue", f"{config.markets.venue} is live: it knows only now", "leave --at out")
    return now() if live else at or config.first_start(now())


def _check_key(config: "Config", name: str) -> None:
    """A call without a key is not worth making."""
    from agents.model import model_settings
    from arena.config import environment
    from arena.config.environment import key_variables

    models = [model_settings(agent.settings) for agent in config.agents if agent.name == name]
    wanted = [variable for model in models if model is not None for variable in key_variables(model)]
    known = environment(config.folder, os.environ)
    if wanted and not any(known.get(variable) for variable in wanted):
        hint = "set it, or write it into .env; --dry needs no key"
        raise ArenaError("no_key", f"{wanted[0]} is not set, and {name} needs it", hint)
