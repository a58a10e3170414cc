"""Commands that play and watch: `arena run` with its modes, and `arena status`."""

from collections.abc import Collection, Mapping
from itertools import chain
from pathlib import Path
from typing import Literal

from arena.cli.options import BASELINES, LEAVE_FAILED, Options, command, flag, option
from arena.errors import ArenaError

OF_A_RUN = ("--log", "--quiet", "--verbose", "--clock", "--baselines", "--leave-failed", "--trust-extensions")
OPTIONS_OF: Mapping[str, tuple[str, ...]] = {
    "": OF_A_RUN,
    "--once": OF_A_RUN,
    "--list": ("--clock",),
    "--round": ("--at", "--baselines", "--leave-failed", "--trust-extensions"),
    "--worker": ("--at-once", "--trust-extensions"),
    "--sync": ("--at", "--no-ends"),
    "--publish": ("--log", "--quiet", "--verbose", "--baselines", "--leave-failed", "--trust-extensions"),
}
"""The options of each mode of `arena run`, besides those shared by many commands."""


@command(plays=True)
def run(
    chosen: Options,
    once: bool = flag("Do what is due and exit; for cron."),
    listing: bool = flag("Show the schedule.", "--list"),
    one_round: bool = flag("Play one decision time and exit.", "--round"),
    worker: bool = flag("Play turns that an arena run hands out."),
    sync: bool = flag("Read the venue's markets into the record."),
    publish: bool = flag("Do what is due in a public season, and publish it on its branch."),
    at: str | None = option("With --round or --sync: as of this time.", "TIME"),
    at_once: int | None = option("With --worker: turns at a time.", min=1, max=1000),
    ends: bool = option("With --sync: leave out how markets ended.", "", " /--no-ends", default=True),
    log: Literal["auto", "text", "json"] = option("How to report.", default="auto"),
    quiet: bool = flag("Report only problems."),
    verbose: bool = flag("Report routine work too.", "--verbose", "-v"),
    clock: Path | None = option(
        "Rehearse at the time in this file, which moves on there without --once.", "FILE"
    ),
    baselines: bool = BASELINES,
    leave_failed: bool = LEAVE_FAILED,
) -> None:
    """Run the arena: play rounds, read prices, settle and mark.

    It does so on schedule until stopped; restart it after changing the config. A second process on the same
    record takes over when the first is gone. On Ctrl-C calls get `run.grace` seconds to finish; a second
    Ctrl-C stops at once. A season that isn't live stops where a model gives no answer, and tries it again at
    the next start. The exit status is 2 if a turn failed or something is left.

    Example: arena run --clock clock --database rehearsal.db

        2026-01-04 00:00:00 leading; it is 2026-01-04 00:00 UTC
        …

    Next: arena board
    """
    check_mode(chosen.given)
    if listing:
        from arena.cli.schedule import list_work

        list_work(chosen, clock)
    elif one_round:
        from arena.cli.round import play_one_round

        play_one_round(chosen, at, baselines, leave_failed)
    elif worker:
        try:
            from arena.cli.worker import work
        except ModuleNotFoundError as error:
            hint = 'pip install "paper-arena[postgres]"'
            raise ArenaError("no_driver", f"{error.name} is not installed", hint) from error

        work(chosen, at_once)
    elif sync:
        from arena.cli.sync import sync_markets

        sync_markets(chosen, ends, at)
    elif publish:
        from arena.cli.publish import publish_season
        from arena.cli.run import LogChoice

        publish_season(chosen, LogChoice(log, quiet, verbose), baselines, leave_failed)
    else:
        from arena.cli.run import LogChoice, run_season

        run_season(chosen, once, clock, LogChoice(log, quiet, verbose), baselines, leave_failed)


def check_mode(given: Collection[str]) -> None:
    """Raise `ArenaError` if two modes of `arena run` are given, or an option that the mode doesn't have."""
    modes = [mode for mode in OPTIONS_OF if mode in given]
    if len(modes) > 1:
        raise ArenaError("two_modes", f"{modes[0]} and {modes[1]} can't be combined", "leave out one", 64)

    mode = modes[0] if modes else ""
    for name in chain.from_iterable(OPTIONS_OF.values()):
        if name not in given or name in OPTIONS_OF[mode]:
            continue

        message = f"{name} and {mode} can't be combined"
        if not mode:
            modes_with_it = [other for other, options in OPTIONS_OF.items() if name in options]
            message = f"{name} needs {' or '.join(modes_with_it)}"
        raise ArenaError("wrong_option", message, "leave out one, or see arena run --help", 64)


@command()
def status(
    chosen: Options,
    clock: Path | None = option("For a rehearsal: use the time of its clock.", "FILE"),
    incidents: bool = flag("List incidents, newest first, and whether each was sent."),
    limit: int | None = option("With --incidents: at most so many. [default: 20]", min=1),
    test_webhook: bool = flag("Send the config's webhook a test message."),
) -> None:
    """Show what to do today, and how the arena stands.

    Health is ok; waiting, for something that needs no action; late, with a round overdue; or trouble, which
    needs you. The exit status is 2 if health is late or trouble, and 1 if the record can't be read.

    Incidents are failed rounds, spent budgets, outages and finished cohorts. `arena run` posts each to
    `watch.webhook` once; one that has not ended, such as an outage, is marked ongoing. If the message of
    --test-webhook does not arrive, the exit status is 1.

    Example: arena status

        Today: nothing to do, the season is finished

        Health: ok
        …
        last round   2026-05-17 00:00 UTC, round 5 of cohort 4: 10 played
        rounds       20 finished of 20 due
        turns        200 played

    Next: arena status --incidents
    """
    from arena.cli.status import list_incidents, send_test, show_status

    if incidents and test_webhook:
        message = "--incidents and --test-webhook can't be combined"
        raise ArenaError("two_questions", message, "leave out one", status=64)
    if not incidents:
        chosen.refuse_if_given("--limit", because="needs --incidents")

    if test_webhook:
        chosen.refuse_if_given("--clock", because="and --test-webhook can't be combined")
        send_test(chosen)
    elif incidents:
        list_incidents(chosen, limit or 20, clock)
    else:
        show_status(chosen, clock)
