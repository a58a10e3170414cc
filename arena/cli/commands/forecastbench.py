"""ForecastBench's rounds: `arena study forecastbench run`, `file` and `board`."""

import os
from contextlib import closing
from pathlib import Path
from typing import Literal

import typer

from arena.cli.commands.shared import QUESTIONS, RESOLUTIONS, Files, Names
from arena.cli.options import (
    CLOCK_FILE,
    DONT_ASK,
    Options,
    argument,
    clock_opener,
    command,
    flag,
    option,
)
from arena.cli.output import interruptible, prints_to_stderr, progress
from arena.errors import ArenaError

DUE = option("The round due that day, not the newest.", "DATE")
SOURCE = option("A folder or an address with the files.", "DIR|URL", "--from")
COMBINATIONS = flag("Also questions about two others, as in 2024.")

OF_SUBMISSION = ("--as", "--model", "--output", "--agent", "--lab", "--cohort", "--n", "--due")
"""The options for writing a submission."""


@command(table=True, plays=True)
def run(
    chosen: Options,
    due: str | None = DUE,
    source: str | None = SOURCE,
    prompt: str = option(
        "zero_shot, scratchpad, another, your own .md, or own: each agent's.", "NAME", default="scratchpad"
    ),
    prices: bool = flag("Show freeze values; of markets, the crowd's probability."),
    evidence: bool = flag("Show articles from the config's source."),
    batch: int = option("Questions in one call.", default=1, min=1),
    combinations: bool = COMBINATIONS,
    make: int | None = option("First make a set of so many questions, due on --due.", min=1),
    seed: int = option("The seed of the lots by which --make draws.", default=0),
    out: Path | None = option("Also write the set to this file.", "FILE"),
    agents: Names = option("Only this agent; repeatable.", "NAME", "--agent", default=[]),
    baselines: bool = flag("Add always 0, 0.5, 1, random, freeze value and naive."),
    dry: bool = flag("Only show what it would cost."),
    yes: bool = DONT_ASK,
    clock: Path | None = CLOCK_FILE,
) -> None:
    """Let the config's agents answer a round of ForecastBench.

    The question set is read first if the record has none that is still due, and anew with --from; --make
    draws one from the record's markets and a published set. The cost is shown first. Running it again asks
    what is missing. The exit status is 2 if an agent did not finish, or a model left questions out.

    Example: arena study forecastbench run --dry

        2026-03-01-llm.json: new, version 1
          30 questions: 20 market rows, 20 data rows
        …
        Left to ask: 30 calls, about 11,782 tokens in and 1,626 out: $0.02 expected,
        $0.02 at the least, $0.73 at the most

    Next: arena study forecastbench file --as ORG --model AGENT -o DIR
    """
    from arena.cli import forecastbench_run as shown
    from arena.config import environment
    from arena.record.record import Record
    from arena.rounds.answering import plan_answers
    from arena.rounds.forecasting import AskingMethod

    plan = shown.set_plan(chosen, make, due, seed, combinations)
    config = chosen.load_to_play(os.environ)
    time = clock_opener(clock)()
    method = AskingMethod(prompt, prices, evidence, batch, combinations)

    hint = "arena study forecastbench run continues it; a call in progress may still be charged"
    with (
        prints_to_stderr(),
        closing(Record.open(config.database)) as record,
        interruptible("stopped; what was answered is kept", hint),
    ):
        at = time.now()
        with progress("Reading the question set"):
            kept, is_new = shown.read_set(record, plan, source, due, config.markets.universe, at)
        if out is not None:
            shown.write_set(out, kept)

        keys = environment(config.folder, os.environ)
        planned = plan_answers(config, record, kept, method, agents, baselines, at, keys)
        answered = shown.answer_round(chosen, planned, record, time, dry, yes)

    data = shown.run_data(answered) | {
        "set": shown.set_data(kept, is_new, method),
        "asked": not dry,
        "late": f"{time.now():%Y-%m-%d}" > kept.due,
    }
    chosen.print_answer(data, shown.run_page, answered, data, chosen.table_choice)
    if not dry and (answered.unfinished or answered.silent):
        raise typer.Exit(2)


@command(table=True)
def file(
    chosen: Options,
    files: Files = argument(
        "FILE", "A CSV of answers, in place of an agent's; with --check, submissions.", default=[]
    ),
    check: bool = flag("Only check files, and list every fault with its remedy."),
    organization: str | None = option("The team that files it.", "ORG", "--as"),
    model: str | None = option("Its name on the board.", "M"),
    folder: Path | None = option("The folder to write to.", "DIR", "--output", "-o"),
    agent: str | None = option("The agent of the record, if not named M.", "NAME"),
    cohort: int | None = option("Its answers in this cohort, not the newest."),
    lab: str | None = option("Who made the model, if not the team.", "NAME"),
    number: int = option("Which of the team's files for the round.", "", "--n", default=1, min=1, max=3),
    due: str | None = DUE,
    questions: Files = QUESTIONS,
    combinations: bool = COMBINATIONS,
) -> None:
    """Write answers as a submission, or check submissions.

    Answers are an agent's, or those of a CSV with the columns source, id, resolution_date (empty for a
    market), forecast (0 to 1) and optionally reasoning. Nothing is written if an answer is invalid, or if
    less than 95% of the market rows or of the data rows are answered. --check takes submissions; ids, dates
    and coverage are checked against the round's question set. With a fault the exit status is 1.

    Example: arena study forecastbench file --check filed/2026-03-01.us.1.json

        filed/2026-03-01.us.1.json: 40 forecasts: no fault
          checked against 2026-03-01-llm.json

    Next: arena study forecastbench board --fetch
    """
    from arena.cli import forecastbench_files as bench
    from arena.cli.score import read_texts
    from arena.exports.forecastbench_forms import write_submission
    from arena.forms.bench.answers import Submitter
    from arena.scores.files.forecastbench_texts import newest_set

    if check:
        chosen.refuse_if_given(*OF_SUBMISSION, because="can't be combined with --check")
        bench.check_submissions(chosen, files, questions, combinations)
        return

    if organization is None or model is None or folder is None:
        message = "a submission needs --as ORG, --model M and -o DIR"
        raise ArenaError("no_name", message, "or check files with --check FILE", status=64)
    if len(files) > 1:
        raise ArenaError("many_files", f"{len(files)} files are named", "name one CSV of answers", status=64)

    question_set = newest_set(bench.question_sets(chosen, questions, combinations), due)
    if files:
        [(name, text)] = read_texts(files)
    else:
        name, text = bench.recorded_answers(chosen, question_set, agent or model, cohort, combinations)
    submitter = Submitter(organization, model, lab or organization, number)
    written = write_submission(name, text, submitter, question_set, folder)
    chosen.print_answer(written, bench.submission_page)


@command(table=True)
def board(
    chosen: Options,
    files: Files = argument("FILE", "Submissions, or a CSV that joins them.", default=[]),
    mode: Literal["tournament", "baseline", "preliminary", "paper"] = option(
        "baseline, preliminary, paper.", "MODE", default="tournament"
    ),
    fetch: bool = flag("First store the resolutions of all stored rounds."),
    source: str | None = SOURCE,
    questions: Files = QUESTIONS,
    resolutions: Files = RESOLUTIONS,
    median: str | None = option("The median of individual forecasters, as one.", "NAME"),
    difficulty: Literal["two_way", "market_brier"] | None = option(
        "two_way or market_brier, not the site's.", "HOW"
    ),
    by: Literal["source", "horizon", "round"] | None = option("Also plain means, on the questions of each."),
    against: str | None = option("Compare everybody with this forecaster.", "NAME"),
    combinations: bool = COMBINATIONS,
    agents: bool = flag("With files: also the agents of the record."),
    every_round: bool = flag("Also the rounds that the site leaves out."),
    clock: Path | None = CLOCK_FILE,
    as_csv: bool = flag("Print CSV, in the columns of the source.", "--csv"),
    as_html: bool = flag("Print a page with the same table.", "--html"),
) -> None:
    """Rank forecasters by ForecastBench's rules.

    They are the agents of the record, those of files, or both. What isn't scored is named, as are the rounds
    that the site leaves out. --fetch also lists the outcomes that changed.

    Example: arena study forecastbench board --fetch --mode paper

        forecaster  dataset  market  overall  95% interval      by cluster
        sharp        0.0400  0.0400   0.0400  [0.0400, 0.0400]  [0.0400, 0.0400]
        Always 0.5   0.2500  0.2380   0.2440  [0.2314, 0.2566]  [0.2304, 0.2576]

    Next: arena share report --method -o method.md
    """
    from arena.cli import forecastbench_board as boards
    from arena.cli import forecastbench_files as bench
    from arena.scores.files.forecastbench_board import make_board

    if as_csv + as_html + chosen.json > 1:
        message = "--csv, --html and --json can't be combined"
        raise ArenaError("two_forms", message, "leave out all but one", status=64)
    if source is not None and not fetch:
        raise ArenaError("no_fetch", "--from says where --fetch reads", "add --fetch", status=64)

    fetched = None
    if fetch:
        reason = "can't be combined with --fetch, which scores by the sets in the record"
        chosen.refuse_if_given("--questions", "--resolutions", because=reason)
        fetched = bench.fetch_resolutions(chosen, source, clock)

    forecasters = bench.gather(chosen, files, questions, resolutions, combinations, mode, median, agents)
    today = None
    if not every_round:
        today = clock_opener(clock)().now().date()
    made = make_board(forecasters, mode, today, difficulty=difficulty, by=by, against=against)

    if as_csv or as_html:
        boards.print_board(made, as_csv, by is not None)
        return

    data = boards.board_data(made) | {"fetched": fetched}
    chosen.print_answer(data, boards.board_page, data, against, chosen.table_choice)
