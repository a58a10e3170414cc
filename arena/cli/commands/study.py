"""`arena study`: seasons over recordings, and a season under other rules."""

from datetime import datetime
from pathlib import Path
from typing import Literal

from arena.cli.commands.shared import ONE_COHORT
from arena.cli.options import DAY, LEAVE_FAILED, Options, argument, command, flag, option
from arena.cli.output import interruptible, prints_to_stderr, progress
from arena.errors import ArenaError


@command(table=True, plays=True)
def replay(
    chosen: Options,
    folder: Path = argument("DIR", "The recording: a bundle's folder."),
    start: datetime | None = option("No cohort starts before this day.", formats=DAY),
    end: datetime | None = option("The season ends at 00:00 UTC on this day.", formats=DAY),
    agents: str = option("Who plays: names from the config, or kinds.", "A,B", default=""),
    workers: bool = flag("Leave the turns to `arena run --worker`; needs PostgreSQL."),
    tools: Literal["live", "recorded"] = option(
        "Whether `search` and `read` answer live, or from the config's record.", default="live"
    ),
    leaks: bool = flag("Look for information that leaks from the future.", "--probe-leaks"),
    probes: int = option("With --probe-leaks: how many decision times.", default=3, min=1),
    leave_failed: bool = LEAVE_FAILED,
) -> None:
    """Play a season over a recording, at its own times.

    Agents see only what was known then; they and the cohorts come from the config. Without one, market,
    constant and random play in weekly cohorts. The season gets its own record, by default replay-NAME.db, and
    continues where it stopped. It is no evidence of skill: the outcomes are known.

    --probe-leaks keeps no record. It plays some decision times twice, with different futures: all before must
    be the same, and only the venue may open the recording's files. Differences are listed (exit status 1).
    Agents that call models are left out.

    Example: arena study replay recordings/spring --agents market,random

        Played: … cohorts, … rounds, … in … s.
        Next: arena board --database replay-spring.db

    Next: arena board --database replay-spring.db
    """
    from arena.cli.board_columns import COLUMNS
    from arena.cli.replay import answer_probe, play, replay_page
    from arena.rounds.leaks import probed_replay
    from arena.rounds.replay import ReplayRequest, arrange_replay, open_recording
    from arena.rounds.settlement import venue_error
    from markets.venue import VenueError

    chosen.table_choice.wanted_columns(COLUMNS)  # nothing is played for a table that can't be shown
    if leaks and (workers or chosen.database):
        message = "--probe-leaks keeps no record and needs no workers"
        raise ArenaError("no_record", message, "leave out --database and --workers")

    names = [name.strip() for name in agents.split(",") if name.strip()]
    days = (start and start.date(), end and end.date())
    try:
        base = chosen.load_to_play() if chosen.has_config else None
        bundle = open_recording(folder)
        if leaks:
            answer_probe(chosen, probed_replay(folder, base, names, days), bundle, probes)
            return

        season = arrange_replay(folder, bundle, base, names, *days)
        request = ReplayRequest(
            address=chosen.database or f"replay-{folder.resolve().name}.db",
            workers=workers,
            recorded=chosen.own_record_address() if tools == "recorded" else None,
            leave_failed=leave_failed,
        )
        with (
            prints_to_stderr(),
            interruptible("stopped; what was played is kept", "the same command continues it"),
        ):
            played = play(season, bundle, request)
    except VenueError as error:
        raise venue_error(error) from error

    chosen.print_answer(played, replay_page, played, chosen.table_choice)


@command(table=True)
def whatif(
    chosen: Options,
    cohort: int | None = ONE_COHORT,
    agent: str | None = option("One agent only, cohort by cohort.", "NAME"),
    rules: Literal["realistic", "replay", "seed", "reference"] | None = option(
        "Start from these rules, not each cohort's own."
    ),
    fill: str | None = option("Use this fill rule, such as mid.", "RULE"),
    fee: Literal["venue", "none"] | None = option("Charge the venue's fee, or none."),
    min_bet: float | None = option("The smallest bet, in dollars."),
    max_bet: float | None = option("The largest bet, as a share of the cash, such as 0.10."),
    cap: Literal["bet", "decision"] | None = option("Whether that limits a bet, or all bets of a decision."),
    sizing: Literal["as-bet", "flat", "quarter-kelly"] = option(
        "Stakes: as they were, all the same, or by stated probability.", default="as-bet"
    ),
    stake: float | None = option("The stake of --sizing flat, in dollars; 100 by default."),
) -> None:
    """Replay a record under other rules or with other stakes.

    Recorded decisions run against the same snapshots and resolutions, and the profits are compared. Only
    --sizing quarter-kelly places new bets, from the stated probabilities; it never sells.

    Example: arena study whatif --fill mid --fee none --database .demo/demo.db

        agent              P/L $      then $  difference $  filled  then  rejected
        sharp         +11,064.67  +13,735.85     +2,671.19     133   133         0
        hasty         +12,589.15  +16,184.20     +3,595.05     136   136         0

    Next: arena board
    """
    from arena.cli.whatif import read_change, whatif_data, whatif_page
    from arena.rounds.what_if import what_if

    values = {"fill": fill, "fee": fee, "min_bet": min_bet, "max_bet": max_bet, "cap": cap}
    change = read_change(rules, values, sizing, stake)
    with chosen.reading() as connection, progress("Playing again") as report_progress:
        report = what_if(connection, change, cohort, agent, report_progress)
    data = whatif_data(report, cohort)
    chosen.print_answer(data, whatif_page, data, agent is not None, chosen.table_choice)
