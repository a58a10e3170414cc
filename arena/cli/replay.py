"""What `arena study replay` does: a season over a recording, or the search for leaks in it."""

import sys
from contextlib import AsyncExitStack, closing
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from arena.cli.demo import outcome, season_page
from arena.cli.options import Options
from arena.cli.output import interruptible, minute, prints_aside, program, progress, run_async, shortened
from arena.cli.page import Page
from arena.cli.table import TableChoice
from arena.clock import timer
from arena.config import Config
from arena.errors import count_text
from arena.record.model.cohort import later_models_words
from arena.record.queries.cohorts import count_facts
from arena.record.record import Record
from arena.rounds.evidence import recorded_lookups
from arena.rounds.leaks import LeakProbe, probe_leaks, probed_replay
from arena.rounds.open_world import open_dispatch, open_world
from arena.rounds.replay import (
    NOTICE,
    Replay,
    check_same_replay,
    count_open_positions,
    market_brier,
    open_recording,
    play_replay,
)
from markets.bundle import Bundle

LONGEST_FACT = 200


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """Where a season over a recording is kept, and how its turns are played.

    `recorded` is the record from which `search` and `read` answer; None where they answer live.
    """

    address: str
    workers: bool = False
    recorded: str | None = None
    leave_failed: bool = False


def play(season: Replay, bundle: Bundle, request: ReplayRequest) -> dict[str, Any]:
    """Play the season into its record, and return what it came to."""
    started = timer()
    season.times()  # nothing is made where there is nothing to play
    with closing(Record.open(request.address)) as record:
        check_same_replay(record, season, request.address)
        before = record.read(count_facts)["turns"]
        run_async(_play(season, record, request))
        figures = outcome(record) | market_brier(bundle) | {"open": count_open_positions(record)}

    later_models = later_models_words(figures["later_models"])
    return {
        "stamp": "replay",
        "notice": f"{NOTICE}; {later_models}" if later_models else NOTICE,
        "database": request.address,
        "bundle": bundle.content,
        "start": season.plan.first,
        "end": season.ends_at,
        "seed": season.config.seed,
        "seconds": round(timer() - started, 2),
        "new_turns": figures["turns"] - before,
        **figures,
    }


async def _play(season: Replay, record: Record, request: ReplayRequest) -> None:
    """Play the season in a world as it is asked for."""
    tell = partial(print, file=sys.stderr, flush=True)
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(open_world(season.config, record))
        world = replace(world, leaves_failed=request.leave_failed)
        if request.recorded is not None:
            world = replace(world, recorded=stack.enter_context(recorded_lookups(request.recorded)))
        if request.workers:
            dispatch = open_dispatch(replace(season.config, database=request.address), _tell_alone)
            world = replace(world, dispatch=await stack.enter_async_context(dispatch))
        with progress("Playing the recording") as moved:
            await play_replay(season, world, record, moved, tell)


def _tell_alone(alone: bool) -> None:
    """Print whether workers play the turns."""
    message = "no worker is running: turns are played here until one starts"
    print(message if alone else "workers are running", file=sys.stderr)


def replay_page(data: dict[str, Any], choice: TableChoice) -> Page:
    """Yield the same as after a demo, and how good the prices were."""
    yield from season_page(data, choice)
    if not data["new_turns"]:
        yield "It was already complete; nothing was played again."
    still_open = data["open"]
    stale = f"{still_open['stale']:,} of them without a fresh price"
    yield f"Still open at the end: {still_open['positions']:,} positions, {stale}."
    if data["brier_market"] is not None:
        markets = f"{data['brier_market_markets']:,} markets"
        yield f"The prices' own Brier, eight days ahead: {data['brier_market']:.4f} over {markets}."
    yield ""
    yield NOTICE
    yield f"Next: {program()} board --database {data['database']}"


def probe(
    chosen: Options,
    folder: Path,
    bundle: Bundle,
    base: Config | None,
    names: list[str],
    days: tuple[date | None, date | None],
    count: int,
) -> None:
    """Play with other futures, and say what changed before them."""
    probed = probed_replay(folder, base, names, days)
    with (
        TemporaryDirectory(prefix="arena-leaks-") as scratch,
        prints_aside(),
        interruptible("stopped", "run it again; nothing was kept"),
        progress("Playing with other futures") as moved,
    ):
        task = probe_leaks(probed, bundle, count, Path(scratch), open_recording, moved)
        found = run_async(task)

    data = {
        "ok": found.clean,
        "bundle": bundle.content,
        "agents": list(probed.agents),
        "left_out": list(found.left_out),
        "probes": [
            {"at": at, "compared": dict(compared), "changed": dict(found.counts[at])}
            for at, compared in found.compared.items()
        ],
        "differences": [asdict(difference) for difference in found.differences],
        "opened": list(found.opened),
    }
    chosen.answer(data, leaks_page, found)
    if not found.clean:
        raise typer.Exit(1)


def leaks_page(found: LeakProbe) -> Page:
    """Yield how much was compared up to each instant, and what changed."""
    for at, compared in found.compared.items():
        counts = [count_text(count, kind) for kind, count in found.counts[at].items() if count]
        same = f"{sum(compared.values()):,} facts until {minute(at)}"
        yield f"{same}, played again with another future: {', '.join(counts) or 'nothing'} changed."

    first = {difference.kind: difference for difference in reversed(found.differences)}
    for kind, difference in first.items():
        known = shortened(str(difference.known), LONGEST_FACT)
        changed = shortened(str(difference.changed), LONGEST_FACT)
        yield f"First {kind} that changed before {minute(difference.at)}: {known} became {changed}"

    for file in found.opened:
        yield f"Opened during play: {file}"
    if found.left_out:
        yield f"Not played, because models do not repeat their answers: {', '.join(found.left_out)}."
    yield "No leaks found." if found.clean else "Something here depends on the future."
