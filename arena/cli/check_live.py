"""`arena check --live`: can the venue and the models be reached, and how do they answer?"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from agents.model import Call
from arena.calls.budget_warnings import rounded_dollars
from arena.calls.ping import PingTarget, remark
from arena.cli.output import Data, attributes, exact, prints_aside, run_async
from arena.cli.page import Page, print_page
from arena.cli.table import Table, TableColumn
from arena.cohorts.freeze import stamp_of
from arena.config import Config
from arena.rounds.live_check import VenueCheck, call_trouble, check_models, check_venue, models_of


def reached_text(row: Data) -> str:
    """Return whether a venue or a model was reached, else the code of the error."""
    return "reached" if row["ok"] else str(row["error"]["code"])


def total_text(counts: Mapping[str, int]) -> str:
    """Return the sum of counts."""
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


def check_live(config: Config, venues: Sequence[str], agents: Sequence[str], quiet: bool) -> dict[str, Any]:
    """Try these venues and the models of these agents; where none are named, those of the config.

    Whoever names only venues asks no model, and whoever names only agents reads no venue. Unless `quiet` is
    set, what asking may cost is said first, and what came of it is printed.
    """
    targets = []
    if agents or not venues:
        targets = models_of(config, agents)
    names = venues
    if not venues and not agents and stamp_of(config) == "live":
        names = [config.markets.venue]
    if targets and not quiet:
        print_page(["", cost_sentence(targets)])
        sys.stdout.flush()

    async def tried() -> tuple[list[VenueCheck], list[Call]]:
        live = await asyncio.gather(*(check_venue(config, name) for name in names))
        return live, await check_models(config, targets)

    with prints_aside():
        live, calls = run_async(tried())
    data = {"live": list(map(venue_data, live)), "models": list(map(model_data, targets, calls))}
    if not quiet:
        print_page(live_page(data))
    return data


def model_data(target: PingTarget, call: Call) -> dict[str, Any]:
    """Return a model's answer for JSON."""
    return {
        "model": target.settings.model,
        "agents": list(target.agents),
        "ok": call.error is None,
        "served_as": call.model or None,
        "form": call.rung,
        "latency_ms": call.latency_ms,
        "cost_usd": exact(call.cost),
        "remark": remark(call) or None,
        "error": call.error and call_trouble(call.error).as_dict(),
    }


def venue_data(check: VenueCheck) -> dict[str, Any]:
    """Return what was read of a venue, for JSON."""
    data = attributes(check, "venue", "seconds", "markets", "left_out", "set_aside")
    return data | {"ok": check.error is None, "error": check.error and check.error.as_dict()}


def live_status(data: Data) -> int:
    """Return the exit status: 0 where all could be reached, 1 where nothing could, 2 where only some."""
    rows = [*data["live"], *data["models"]]
    reached = sum(row["ok"] for row in rows)
    if reached == len(rows):
        return 0
    return 2 if reached else 1


def cost_sentence(targets: Sequence[PingTarget]) -> str:
    """Return what asking may cost."""
    most = sum(target.worst or 0 for target in targets)
    unknown = [target.settings.model for target in targets if target.worst is None]
    many = "one model" if len(targets) == 1 else f"each of {len(targets)} models"
    sentence = f"Asking {many} a tiny question: {rounded_dollars(most)} at most"
    if unknown:
        sentence += f", and the cost of {', '.join(unknown)} is unknown"
    return f"{sentence}."


def live_page(data: Data) -> Page:
    """Yield a line for each venue and each model, then what may help where something is wrong."""
    yield from rows_page("One page of each venue", VENUES, data["live"])
    yield from rows_page("One tiny question to each model", MODELS, data["models"])


def rows_page(title: str, columns: Sequence[TableColumn], rows: Sequence[Data]) -> Page:
    """Yield a table of what was tried, if anything was, and what is wrong or odd."""
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
