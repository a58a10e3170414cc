"""`arena run --publish`: does what is due in a public season, and publishes it on the season's branch."""

import os
import sys
from datetime import datetime

import typer

from arena.cli.dashboard import refresh_scores
from arena.cli.options import Options
from arena.cli.output import Data, minute_text, prints_to_stderr, program, progress
from arena.cli.page import Page
from arena.cli.round import PlayedTime, is_incomplete_round, played_blocks
from arena.cli.round import play as play_round
from arena.cli.run import LogChoice, opened_log
from arena.cli.run import play as play_due
from arena.clock import SystemClock, now
from arena.cohorts.freeze import code_version, stamp_of
from arena.config import Config
from arena.errors import ArenaError, count_text
from arena.operations.progress import RunProgress
from arena.operations.public_season import bring_up_record, publish_record, publish_site
from arena.operations.season_branch import BRANCH, open_season

NOTHING_DUE = ("over", "not_due")
"""The codes of the errors that `arena run --round` raises when no round is due."""


def publish_season(chosen: Options, log: LogChoice, baselines: bool, leave_failed: bool) -> None:
    """Play what is due, and publish record, heads and site.

    What was played is published even if playing ends with an error, which is raised afterwards. Raise
    `typer.Exit` with status 2 if something failed or is left.
    """
    config = chosen.load_to_play(os.environ)
    if not config.public:
        hint = "arena init --public makes a folder for one; in a config it is `public: true`"
        raise ArenaError("not_public", f"{config.file} is not the config of a public season", hint)

    season = open_season(config.folder, now())
    tip_before = season.tip
    if season.lost is not None:
        print(lost_run_text(season.lost), file=sys.stderr, flush=True)

    played: PlayedTime | RunProgress | None = None
    heads = 0
    with season.claimed(now()):
        bring_up_record(config, season)
        # What an earlier run here could not publish must be there before any later end of a market.
        publish_record(config, season, code_version(), now())
        try:
            with prints_to_stderr():
                played = play_season(chosen, config, log, baselines, leave_failed)
        except ArenaError as error:
            if error.code not in NOTHING_DUE:
                raise
        finally:
            # Publish paid answers before anything else can fail.
            heads = publish_record(config, season, code_version(), now())

        if heads:
            refresh_scores(config.database)
            with progress("Drawing the site") as report_progress:
                publish_site(config, season, now(), report_progress)

    data = {"branch": BRANCH, "commit": season.tip, "new": season.tip != tip_before, "heads": heads}
    chosen.print_answer(data | {"lost": season.lost}, published_page, data, played)
    if is_incomplete(played):
        raise typer.Exit(2)


def play_season(
    chosen: Options, config: Config, log: LogChoice, baselines: bool, leave_failed: bool
) -> PlayedTime | RunProgress:
    """Do what is due at a live venue; in a simulated season play the next round."""
    if stamp_of(config) != "live":
        return play_round(config, None, baselines, leave_failed)
    with opened_log(log, chosen.json) as opened:
        return play_due(config, True, SystemClock, opened, baselines, leave_failed).progress


def is_incomplete(played: PlayedTime | RunProgress | None) -> bool:
    """Tell whether something failed, or is left to do."""
    if isinstance(played, RunProgress):
        return bool(played.failed or played.left)
    return played is not None and any(map(is_incomplete_round, played.reports))


def lost_run_text(began: datetime) -> str:
    """Return a message about a run that never ended."""
    return (
        f"The run of {minute_text(began)} UTC was lost. Answers that it bought and did not publish are "
        "not in the record: its round is played again, and they are bought again."
    )


def published_page(data: Data, played: PlayedTime | RunProgress | None) -> Page:
    """Yield what was played, and what was published."""
    if isinstance(played, PlayedTime):
        yield from played_blocks(played)
    elif played is not None:
        yield f"Stopped: {played.summary()}."
    else:
        yield "No round is due."
    if data["new"]:
        yield f"Published on {BRANCH}: {data['commit'][:12]}, with {count_text(data['heads'], 'head')}."
    else:
        yield f"{BRANCH} is as it was."
    yield f"Next: {program()} admin verify --published CLONE"
