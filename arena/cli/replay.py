"""`arena study replay`: plays a season over a recording, or searches it for leaks."""

import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from arena.cli.demo import season_figures, season_page
from arena.cli.options import Options
from arena.cli.output import (
    Data,
    attributes,
    interruptible,
    minute_text,
    prints_to_stderr,
    program,
    progress,
    run_async,
    shortened,
)
from arena.cli.page import Page
from arena.cli.table import TableChoice
from arena.clock import timer
from arena.config import Config
from arena.errors import count_text
from arena.record.model.cohort import later_models_words
from arena.record.queries.cohorts import count_facts
from arena.record.record import Record
from arena.rounds.leaks import LeakProbe, ProbedReplay, probe_leaks
from arena.rounds.replay import (
    NOTICE,
    Replay,
    ReplayRequest,
    arrange_replay,
    check_same_replay,
    count_open_positions,
    market_brier,
    open_recording,
    play_in_world,
)
from markets.bundle import Bundle

PAST_MARKETS = Path(__file__).resolve().parents[1] / "past_markets"
"""A recording of real markets that comes with the package."""
LONGEST_FACT = 200


def play(season: Replay, bundle: Bundle, request: ReplayRequest) -> dict[str, Any]:
    """Play the season into its record, and return the results for JSON."""
    started = timer()
    season.times()  # raises before a record is made if there is nothing to play
    print_message = partial(print, file=sys.stderr, flush=True)
    with closing(Record.open(request.address)) as record:
        check_same_replay(record, season, request.address)
        turns_before = record.read(count_facts)["turns"]
        with progress("Playing the recording") as report_progress:
            run_async(play_in_world(season, record, request, report_progress, print_message))
        results = season_figures(record) | market_brier(bundle) | {"open": count_open_positions(record)}

    notice = NOTICE
    later_models = later_models_words(results["later_models"])
    if later_models:
        notice += f"; {later_models}"
    return {
        "stamp": "replay",
        "notice": notice,
        "database": request.address,
        "bundle": bundle.content,
        "start": season.plan.first,
        "end": season.ends_at,
        "seed": season.config.seed,
        "seconds": round(timer() - started, 2),
        "new_turns": results["turns"] - turns_before,
        **results,
    }


def replay_page(data: Data, choice: TableChoice) -> Page:
    """Yield the results of a replay, and the next command."""
    yield from replay_blocks(data, choice)
    yield f"Next: {program()} board --database {data['database']}"


def replay_blocks(data: Data, choice: TableChoice) -> Page:
    """Yield the leaderboard, the positions still open, and the Brier score of the prices."""
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


def play_past_markets(base: Config, address: str, leave_failed: bool = False) -> dict[str, Any]:
    """Play a config's agents over the recording that comes with the package, and return the results."""
    bundle = open_recording(PAST_MARKETS)
    assert bundle.last_price is not None

    # One market is known to end four months after the last price: nothing is waited for that long.
    season = arrange_replay(PAST_MARKETS, bundle, base, end=bundle.last_price.date())
    request = ReplayRequest(address=address, leave_failed=leave_failed)
    hint = f"arena demo --real --resume --database {address} continues it"
    with interruptible("stopped; what was played is kept", hint):
        return play(season, bundle, request)


def answer_probe(chosen: Options, probed: ProbedReplay, bundle: Bundle, count: int) -> None:
    """Play with other futures, and print what changed before them.

    Raise `typer.Exit` with status 1 if anything did, or if anybody opened the recording's files.
    """
    with (
        TemporaryDirectory(prefix="arena-leaks-") as scratch,
        prints_to_stderr(),
        interruptible("stopped; nothing was kept", "the same command starts again"),
        progress("Playing with other futures") as report_progress,
    ):
        probe = run_async(probe_leaks(probed, bundle, count, Path(scratch), open_recording, report_progress))

    chosen.print_answer(leaks_data(probed, probe, bundle), leaks_page, probe)
    if not probe.clean:
        raise typer.Exit(1)


def leaks_data(probed: ProbedReplay, probe: LeakProbe, bundle: Bundle) -> dict[str, Any]:
    """Return the facts compared up to each instant, and what changed, for JSON."""
    probes = [
        {"at": at, "compared": compared, "changed": probe.counts[at]}
        for at, compared in probe.compared.items()
    ]
    data = attributes(probe, "left_out", "differences", "opened")
    return data | {"ok": probe.clean, "bundle": bundle.content, "agents": probed.agents, "probes": probes}


def leaks_page(probe: LeakProbe) -> Page:
    """Yield the number of facts compared up to each instant, and what changed."""
    for at, compared in probe.compared.items():
        counts = [count_text(count, kind) for kind, count in probe.counts[at].items() if count]
        compared_facts = f"{sum(compared.values()):,} facts until {minute_text(at)}"
        yield f"{compared_facts}, played again with another future: {', '.join(counts) or 'nothing'} changed."

    # Of each kind, the first difference stays, as the last one put into a dict.
    first_by_kind = {difference.kind: difference for difference in reversed(probe.differences)}
    for kind, difference in first_by_kind.items():
        known = shortened(str(difference.known), LONGEST_FACT)
        changed = shortened(str(difference.changed), LONGEST_FACT)
        yield f"First {kind} that changed before {minute_text(difference.at)}: {known} became {changed}"

    for file in probe.opened:
        yield f"Opened during play: {file}"
    if probe.left_out:
        yield f"Not played, because models do not repeat their answers: {', '.join(probe.left_out)}."
    yield "No leaks found." if probe.clean else "Something here depends on the future."
