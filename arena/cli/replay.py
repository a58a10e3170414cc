"""`arena study replay`: a season over a recording."""

import sys
from contextlib import AsyncExitStack, closing
from dataclasses import asdict, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import typer

from arena.cli.board_columns import COLUMNS
from arena.cli.demo import outcome
from arena.cli.demo import say as say_season
from arena.cli.options import DAY, DEFAULT, LEAVE_FAILED, Options, argument, command, flag, option
from arena.cli.output import interruptible, minute, prints_aside, program, progress, run_async, shortened
from arena.cli.page import Page
from arena.cli.table import TableChoice
from arena.clock import timer
from arena.config import Config
from arena.errors import ArenaError, count_text
from arena.record.model.cohort import later_models_words
from arena.record.queries.cohorts import count_facts
from arena.record.record import Record
from arena.rounds.evidence import recorded_lookups
from arena.rounds.leaks import LeakProbe, probe_leaks, probed_replay
from arena.rounds.open_world import open_dispatch, open_world
from arena.rounds.replay import (
    NOTICE,
    Replay,
    arrange_replay,
    check_same_replay,
    count_open_positions,
    market_brier,
    open_recording,
    play_replay,
)
from arena.rounds.settlement import venue_error
from markets.bundle import Bundle
from markets.venue import VenueError

LONGEST_FACT = 200


@command(table=True, plays=True)
def replay(
    chosen: Options,
    folder: Path = argument("DIR", "The recording: a bundle's folder."),
    start: datetime | None = option("No cohort starts before this day.", formats=DAY),
    end: datetime | None = option("The season ends at 00:00 UTC on this day.", formats=DAY),
    agents: str = option(
        "Who plays: names from the config, or kinds with their defaults.", "A,B", default=""
    ),
    workers: bool = flag("Leave the turns to `arena run --worker`; needs PostgreSQL."),
    tools: Literal["live", "recorded"] = option(
        "Whether `search` and `read` answer live, or from the config's record.", default="live"
    ),
    leaks: bool = flag("Look for information that leaks from the future.", "--probe-leaks"),
    probes: int = option("With --probe-leaks: how many decision times.", default=3, min=1),
    leave_failed: bool = LEAVE_FAILED,
) -> None:
    """Play a season over a recording, at its own times: agents see only what was known then.

    Cohorts and agents come from the config; without one, cohorts start weekly and the agents are market,
    constant and random. The season gets its own record, by default replay-NAME.db, and continues where it
    stopped. It is no evidence of skill, since the outcomes are known; models released later are named
    (`later_models` in JSON).

    --probe-leaks keeps no record. It plays up to several decision times, twice with different futures: all
    before must be the same, and only the venue may open the recording's files. Differences are listed (exit
    status 1). Agents that call models are left out.

    While a model gives no answer, the season waits as with arena run; --leave-failed goes on without those
    turns.

    With --tools recorded, a turn fails if it makes a request that the config's record lacks.

    Example: arena study replay recordings/spring --start 2026-03-01 --end 2026-06-01 --agents market,random

    Next: arena board --database replay-spring.db
    """
    chosen.table.of(COLUMNS)  # nothing is played for a table that can't be shown
    if leaks and (workers or chosen.database):
        message = "--probe-leaks keeps no record and needs no workers"
        raise ArenaError("no_record", message, "leave out --database and --workers")
    address = chosen.database or f"replay-{folder.resolve().name}.db"
    names = [name.strip() for name in agents.split(",") if name.strip()]
    days = (start and start.date(), end and end.date())
    try:
        base = chosen.load_to_play() if chosen.config is not None or DEFAULT.exists() else None
        bundle = open_recording(folder)
        if leaks:
            probe(chosen, folder, bundle, base, names, days, probes)
            return
        recorded = replace(chosen, database=None).record() if tools == "recorded" else None
        season = arrange_replay(folder, bundle, base, names, *days)
        hint = "the same command continues it"
        with prints_aside(), interruptible("stopped; what was played is kept", hint):
            found = play(season, bundle, address, workers, recorded, leave_failed)
    except VenueError as error:
        raise venue_error(error) from error
    chosen.answer(found, say, found, chosen.table)


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
    hint = "run it again; nothing was kept"
    with (
        TemporaryDirectory(prefix="arena-leaks-") as scratch,
        prints_aside(),
        interruptible("stopped", hint),
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
    chosen.answer(data, say_leaks, found)
    if not found.clean:
        raise typer.Exit(1)


def say_leaks(found: LeakProbe) -> None:
    """How much was compared up to each instant, and what changed."""
    for at, compared in found.compared.items():
        changed = ", ".join(count_text(n, kind) for kind, n in found.counts[at].items() if n) or "nothing"
        same = f"{sum(compared.values()):,} facts until {minute(at)}"
        print(f"{same}, played again with another future: {changed} changed.")
    for kind, first in {each.kind: each for each in reversed(found.differences)}.items():
        facts = " became ".join(shortened(str(fact), LONGEST_FACT) for fact in (first.known, first.changed))
        print(f"First {kind} that changed before {minute(first.at)}: {facts}")
    for file in found.opened:
        print(f"Opened during play: {file}")
    if found.left_out:
        print(f"Not played, because models do not repeat their answers: {', '.join(found.left_out)}.")
    print("No leaks found." if found.clean else "Something here depends on the future.")


def play(
    season: Replay,
    bundle: Bundle,
    address: str,
    workers: bool = False,
    recorded: str | None = None,
    leave_failed: bool = False,
) -> dict[str, Any]:
    """Play the season into the record; what it came to."""
    tell = partial(print, file=sys.stderr, flush=True)

    async def played() -> None:
        async with AsyncExitStack() as stack:
            world = await stack.enter_async_context(open_world(season.config, record))
            world = replace(world, leaves_failed=leave_failed)
            if recorded is not None:
                world = replace(world, recorded=stack.enter_context(recorded_lookups(recorded)))
            if workers:
                dispatch = open_dispatch(replace(season.config, database=address), _alone)
                world = replace(world, dispatch=await stack.enter_async_context(dispatch))
            with progress("Playing the recording", None) as moved:
                await play_replay(season, world, record, moved, tell)

    started = timer()
    season.times()  # nothing is made where there is nothing to play
    with closing(Record.open(address)) as record:
        check_same_replay(record, season, address)
        before = record.read(count_facts)["turns"]
        run_async(played())
        figures = outcome(record) | market_brier(bundle) | {"open": count_open_positions(record)}
        figures["new_turns"] = figures["turns"] - before
    words = later_models_words(figures["later_models"])
    notice = f"{NOTICE}; {words}" if words else NOTICE
    about = {"stamp": "replay", "notice": notice, "database": address, "bundle": bundle.content}
    days = {"start": season.plan.first, "end": season.ends_at}
    return about | days | {"seed": season.config.seed, "seconds": round(timer() - started, 2)} | figures


def _alone(alone: bool) -> None:
    words = "no worker is running: turns are played here until one starts" if alone else "workers are running"
    print(words, file=sys.stderr)


def say(found: dict[str, Any], choice: TableChoice) -> Page:
    """Yield the same as after a demo, and how good the prices were."""
    yield from say_season(found, choice)
    if not found["new_turns"]:
        yield "It was already complete; nothing was played again."
    held = found["open"]
    stale = f"{held['stale']:,} of them without a fresh price"
    yield f"Still open at the end: {held['positions']:,} positions, {stale}."
    if found["brier_market"] is not None:
        markets = f"{found['brier_market_markets']:,} markets"
        yield f"The prices' own Brier, eight days ahead: {found['brier_market']:.4f} over {markets}."
    yield f"\n{NOTICE}\nNext: {program()} board --database {found['database']}"
