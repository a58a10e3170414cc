"""The results: `arena board` and `arena score`."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from arena.cli.commands.shared import ONE_COHORT, QUESTIONS, RESOLUTIONS, Files, Names
from arena.cli.options import Options, argument, command, flag, option
from arena.errors import ArenaError

VIEWS = ("--by", "--provisional", "--metaculus")
"""The options that replace a board's usual figures; only one can be given."""
OF_FORECASTS = (
    "--outcomes", "--prices", "--form", "--skip-faulty", "--questions", "--resolutions", "--by", "--against",
    "--rule", "--adjusted", "--outside", "--parts", "--provisional", "--community", "--html", "--badge",
)  # fmt: skip
"""The options for scoring forecasts, which the rules of a tournament fix."""


@command(table=True)
def board(
    chosen: Options,
    agents: Names = argument("A B", "Compare these two agents only.", default=[]),
    cohort: int | None = ONE_COHORT,
    by: Literal["category", "horizon", "price", "cohort", "release"] | None = option(
        "Split skill: horizon is the time to close, release that since the model's release."
    ),
    provisional: bool = flag("Score open markets at their latest price."),
    metaculus: bool = flag("Show Metaculus's scores: peer, baseline, spot, relative."),
    holdout: bool = flag("Open the held-out questions, for good, and show how much worse agents did."),
) -> None:
    """Show who forecasts better than whom, or compare two agents.

    Agents are sorted by rank, then by the lower end of the interval; ranks hold however often you look.
    Agents that answer less than 80% are not ranked. A dash means there is too little data. --wide and
    --columns show more figures. Two agents are compared on the markets and in the rounds that both were
    shown; the gap per extra dollar includes tool steps, but not paid sources. Questions of several options,
    numbers and dates are scored with those of yes or no as one.

    Example: arena board

        sharp forecasts better than hasty and blind, and cannot be told apart
        from clumsy yet (would take about 40 more weeks). None has been shown to
        …
                       closer
                         than  95%             better
        ranks  agent    price  interval        than     Brier       P/L   cost
          1–2  sharp     +1.7  -0.4 to +3.8    2 of 3  0.1928  +$11,065  $1.16
          1–2  clumsy    +0.2  -1.8 to +2.3    2 of 3  0.1956   +$1,941  $1.31

    Next: arena board A B, or arena dashboard
    """
    if holdout:
        chosen.refuse_if_given(*VIEWS, "--cohort", because="can't be combined with --holdout")
        from arena.cli.board_holdout import show_holdout

        show_holdout(chosen)
        return

    if agents:
        chosen.refuse_if_given(*VIEWS, "--columns", because="can't be combined with two agents")
        from arena.cli.duel import show_duel

        show_duel(chosen, agents, cohort)
        return

    if len(chosen.given.intersection(VIEWS)) > 1:
        message = "--by, --provisional and --metaculus can't be combined"
        raise ArenaError("two_views", message, "leave out all but one", status=64)
    from arena.cli.board import show_board

    show_board(chosen, cohort, by, provisional, metaculus)


@command(table=True)
def score(
    chosen: Options,
    files: Files = argument("SOURCE…", "Files, folders, clones, a tournament's YAML, or -."),
    outcomes: Files = option("Join outcomes by question; repeatable.", "FILE", default=[]),
    prices: Files = option("Join market prices by question; repeatable.", "FILE", default=[]),
    form: str | None = option("Read by this form; a wrong name lists all.", "FORM"),
    skip_faulty: bool = flag("Score the rows without a fault alone."),
    questions: Files = QUESTIONS,
    resolutions: Files = RESOLUTIONS,
    mode: Literal["exact", "metaculus"] = option("As documented, or as the site.", default="exact"),
    by: Literal["category"] | None = option("One table for each category."),
    rule: Literal["skill", "metaculus", "forecastbench", "autocast"] = option(
        "Which scores set the order.", "RULE", default="skill"
    ),
    against: str | None = option("Compare all with this one.", "NAME"),
    adjusted: bool = flag("Adjust Brier scores for hard questions."),
    outside: Names = option("Leave out of comparisons; repeatable.", "NAME", default=[]),
    provisional: bool = flag("Score open questions at their latest price."),
    community: bool = flag("Score the median of all as a forecaster."),
    parts: bool = flag("Split Brier scores into reliability and more."),
    sweep: bool = flag("Show a tournament's prizes by the hidden weight."),
    entries: Path | None = option("Write a tournament's forecasts as its CSV, too.", "FILE"),
    html: Path | None = option("Write it as one page, too.", "FILE"),
    badge: str | None = option("Write a badge of the first, or of NAME.", "[NAME=]FILE"),
    force: bool = flag("Replace existing files."),
) -> None:
    """Score anyone's forecasts, or allocate a tournament's prizes.

    A table has question, forecaster, probability (0.35 or 35%) and outcome (1, 0, or empty), or --columns
    question=TITLE; files of a board are read as they are.

    Example: arena score forecasts.csv

        ranks  forecaster  better than    skill  evidence   Brier    peer  forecasts
          1–2  ann         0 of 1       +0.0750  ×1.1      0.0250  +40.55          2

    Next: arena score FILE --against NAME
    """
    tournament = _tournament_of(chosen, files)
    if tournament is not None:
        from arena.cli.prizes import show_prizes

        show_prizes(chosen, tournament, mode, sweep, entries, force)
        return

    from arena.cli.score import read_files, read_forecast_table
    from arena.cli.score_files import score_files
    from arena.cli.score_page import score_page
    from arena.scores.files.report import report_data, report_file
    from arena.scores.files.score_choices import ScoreChoices
    from arena.scores.files.sources import SourceChoices

    sets = questions + resolutions
    outputs = score_files(html, badge)
    outputs.check(force, files + outcomes + prices + sets)

    reading = SourceChoices(
        form=form,
        columns=_take_renamed(chosen),
        outcomes=read_files(outcomes),
        prices=read_files(prices),
        sets=read_files(sets),
        skip_faulty=skip_faulty,
        provisional=provisional,
    )
    table = read_forecast_table(files, reading)

    choices = ScoreChoices(
        outside=tuple(outside) or table.outside,
        against=against,
        adjusted=adjusted,
        provisional=provisional,
        community=community,
        parts=parts,
        rule=rule,
        references=None if outside else table.references,
    )

    report = report_file(table, mode, by_category=by is not None, choices=choices)
    written = outputs.write(report)
    chosen.print_answer(
        report_data(report) | written, score_page, report, choices, chosen.table_choice, written
    )


def _take_renamed(chosen: Options) -> dict[str, str]:
    """Return the columns of the files that --columns names; leave the columns to show in the options."""
    from arena.cli.score import split_columns

    renamed, shown = split_columns(chosen.table_choice.columns)
    chosen.table_choice = replace(chosen.table_choice, columns=shown)
    return renamed


def _tournament_of(chosen: Options, files: list[Path]) -> Path | None:
    """Return the tournament's YAML if one is named; raise `ArenaError` for options that exclude each other.

    Without one `--sweep` and `--entries` are refused.
    """
    tournaments = [file for file in files if file.suffix in (".yaml", ".yml")]
    if not tournaments:
        reason = "can't be combined with files of forecasts"
        chosen.refuse_if_given("--sweep", "--entries", because=reason, hint="name a tournament's YAML file")
        return None

    tournament = tournaments[0]
    reason = f"can't be combined with a tournament ({tournament})"
    hint = "a tournament takes --mode, --sweep and --entries"
    chosen.refuse_if_given(*OF_FORECASTS, because=reason, hint=hint)
    if len(files) > 1:
        raise ArenaError("not_together", f"another file {reason}", hint, status=64)
    return tournament
