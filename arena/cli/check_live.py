"""`arena check --live`: whether the venue and the models can be reached, and how they answer."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from agents.model import Call
from arena.calls.budget_warnings import rounded_dollars
from arena.calls.ping import PingTarget, remark
from arena.cassettes.recording import CassetteRecording, write_cassette
from arena.cli.cassettes import recorded_data, recorded_page
from arena.cli.output import Data, attributes, from_millionths, prints_to_stderr, run_async
from arena.cli.page import Page, print_page
from arena.cli.table import Table, TableColumn
from arena.clock import now
from arena.cohorts.freeze import stamp_of
from arena.config import Config, environment
from arena.config.environment import key_place
from arena.errors import ArenaError
from arena.rounds.live_check import VenueCheck, call_error, check_models, check_venue, ping_targets_of


def reached_text(row: Data) -> str:
    """Return "reached", or the code of the error."""
    return "reached" if row["ok"] else str(row["error"]["code"])


def total_text(counts: Mapping[str, int]) -> str:
    """Return the sum of counts as text."""
    return str(sum(counts.values()))


MODELS = (
    TableColumn("model", narrow="wrap"),
    TableColumn("agents", show=", ".join, narrow="wrap"),
    TableColumn("reached", "", value=reached_text),
    TableColumn("served_as", "served as", narrow="wrap"),
    TableColumn("form"),
    TableColumn("latency_ms", "time", lambda latency: f"{latency / 1000:.1f} s"),
    TableColumn("cost_usd", "cost $", ".6f"),
)
VENUES = (
    TableColumn("venue"),
    TableColumn("reached", "", value=reached_text),
    TableColumn("markets"),
    TableColumn("left out", show=total_text, value="left_out"),
    TableColumn("rejected", show=total_text, value="set_aside"),
    TableColumn("seconds", "time", lambda seconds: f"{seconds:.1f} s"),
)


def check_live(
    config: Config, venues: Sequence[str], agents: Sequence[str], quiet: bool, record: bool = False
) -> dict[str, Any]:
    """Try these venues and the models of these agents, by default those of the config.

    If only venues are named no model is asked, and if only agents are named no venue is read. Unless `quiet`
    is set, the cost is printed first and the result afterwards. With `record` the answers are also written
    to a cassette.
    """
    targets = []
    if agents or not venues:
        targets = ping_targets_of(config, agents)

    venue_names = venues
    if not venues and not agents and stamp_of(config) == "live":
        venue_names = [config.markets.venue]
    if targets and not quiet:
        print_page(["", cost_sentence(targets)])
        sys.stdout.flush()

    recording = CassetteRecording(config, now().replace(microsecond=0)) if record else None
    with prints_to_stderr():
        checks, calls = run_async(live_answers(config, venue_names, targets, recording))
    data: dict[str, Any] = {
        "live": list(map(venue_data, checks)),
        "models": [model_data(target, call, config) for target, call in zip(targets, calls, strict=True)],
    }
    if recording is not None:
        data["recorded"] = write_recorded(config, recording)
    if not quiet:
        print_page(live_page(data))
    return data


async def live_answers(
    config: Config,
    venue_names: Sequence[str],
    targets: Sequence[PingTarget],
    recording: CassetteRecording | None,
) -> tuple[list[VenueCheck], list[Call]]:
    """Ask venues and models, record those that answer if there is a recording, and return the answers."""
    checks = await asyncio.gather(*(check_venue(config, name) for name in venue_names))
    if recording is None:
        return checks, await check_models(config, targets)

    for check in checks:
        if check.error is None:
            await recording.visit(check.venue)
    calls = await check_models(config, targets, recording.models.ping)
    await recording.finish()
    return checks, calls


def write_recorded(config: Config, recording: CassetteRecording) -> dict[str, Any]:
    """Write a cassette beside the config and return its contents; raise `ArenaError` if it is empty."""
    cassette = recording.cassette
    if cassette is None or not (cassette.venues or cassette.models):
        raise ArenaError("no_cassette", "nothing could be recorded", "arena check --live says what is wrong")
    path = write_cassette(config.folder, cassette)
    return recorded_data(cassette, path, recording.models.faults)


def model_data(target: PingTarget, call: Call, config: Config) -> dict[str, Any]:
    """Return a model's answer for JSON; of a key that is refused it says where that is read from."""
    trouble = None
    if call.error is not None:
        trouble = call_error(call.error)

    if trouble is not None and trouble.code == "auth":
        with_env_file = environment(config.folder, os.environ)
        key_source = key_place(target.settings, with_env_file, os.environ)
        if key_source:
            trouble.hint = f"check {key_source}, and whether that key may use this model"

    return {
        "model": target.settings.model,
        "agents": list(target.agents),
        "ok": call.error is None,
        "served_as": call.model or None,
        "form": call.rung,
        "latency_ms": call.latency_ms,
        "cost_usd": from_millionths(call.cost),
        "remark": remark(call) or None,
        "error": trouble and trouble.as_dict(),
    }


def venue_data(check: VenueCheck) -> dict[str, Any]:
    """Return what was read from a venue, for JSON."""
    data = attributes(check, "venue", "seconds", "markets", "left_out", "set_aside")
    return data | {"ok": check.error is None, "error": check.error and check.error.as_dict()}


def exit_status_of(data: Data) -> int:
    """Return the exit status: 0 if all could be reached, 1 if none, 2 if only some."""
    rows = [*data["live"], *data["models"]]
    reached = sum(row["ok"] for row in rows)
    if reached == len(rows):
        return 0
    return 2 if reached else 1


def next_or_retry_command(data: Data, next_command: str, venues: Sequence[str], agents: Sequence[str]) -> str:
    """Return the command that tries these venues and agents again unless all were reached.

    >>> next_or_retry_command({"live": [{"ok": False}], "models": []}, "run", ["kalshi"], ["eve"])
    'check --live --venue kalshi --model eve'
    """
    if exit_status_of(data) == 0:  # all were reached
        return next_command

    words = ["check", "--live"]
    for name in venues:
        words += ["--venue", quote(name)]
    for name in agents:
        words += ["--model", quote(name)]
    return " ".join(words)


def cost_sentence(targets: Sequence[PingTarget]) -> str:
    """Return a sentence on what the questions may cost."""
    most = sum(target.worst or 0 for target in targets)
    unknown = [target.settings.model for target in targets if target.worst is None]
    whom = "one model" if len(targets) == 1 else f"each of {len(targets)} models"
    sentence = f"Asking {whom} a tiny question: {rounded_dollars(most)} at most"
    if unknown:
        sentence += f", and the cost of {', '.join(unknown)} is unknown"
    return f"{sentence}."


def live_page(data: Data) -> Page:
    """Yield the tables of venues and of models, each with errors and remarks."""
    yield from rows_page("One page of each venue", VENUES, data["live"])
    yield from rows_page("One tiny question to each model", MODELS, data["models"])
    if "recorded" in data:
        yield from recorded_page(data["recorded"])


def rows_page(title: str, columns: Sequence[TableColumn], rows: Sequence[Data]) -> Page:
    """Yield a table of what was tried, if anything was, then errors and remarks."""
    if not rows:
        return

    yield ""
    yield Table(columns, rows, title)
    for row in rows:
        name = row.get("model") or row["venue"]
        error = row["error"]
        if error:
            yield f"{name}: {error['message']}"
            if error["mend"]:
                yield f"→ {error['mend']}"
        elif row.get("remark"):
            yield f"{name}: {row['remark']}"
