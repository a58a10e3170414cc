"""`arena try`: what a model's probabilities are worth, by resolved questions, within two minutes."""

import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict
from datetime import date, datetime
from pathlib import Path
from shlex import quote
from typing import Any

import typer

from agents.llm import close
from agents.model import TokenPrice
from arena.cli.options import DAY, Options, argument, command, flag, option
from arena.cli.output import exact, plain, print_error, prints_aside, program, progress, run_async, shortened
from arena.cli.try_choice import TriedModel, agree_on_cost, check_key, choose_model
from arena.clock import timer
from arena.config.environment import environment
from arena.errors import ArenaError
from arena.exports.trial_report import (
    AnsweredQuestion,
    TrialReport,
    calibration_line,
    distance_bar,
    trial_page,
)
from arena.rounds.adapters import OpenModels
from arena.rounds.past_questions import PastQuestion, asking_cost, asking_settings, questions_to_ask
from arena.rounds.quick_trial import MOST, PATIENCE, QuickTrial, limited

LONGEST_EXAMPLE = 160
NO_FILE_NAME = r"[^\w.-]+"
INTERRUPTED = "interrupted by Ctrl-C"


@command("json")
def try_model(
    chosen: Options,
    model: str | None = argument("[MODEL]", "Its name at its server, or PROVIDER/MODEL.", default=None),
    base_url: str | None = option("Its server, if not a usual one.", "URL"),
    key_env: str | None = option("The variable that holds the key.", "VARIABLE"),
    price: tuple[float, float] | None = option(
        "Dollars per million tokens in and out, if unknown.", "IN OUT"
    ),
    released: datetime | None = option("The day of the model's release.", formats=DAY),
    minutes: float = option("How long to ask.", default=2.0, min=0.001, max=60.0),
    html: Path | None = option("The page, by default try-MODEL.html.", "FILE"),
    yes: bool = flag("Don't ask before money is spent.", "--yes", "-y"),
) -> None:
    """Try a model on 20 to 120 resolved questions: its calibration and Brier score, in two minutes.

    Without MODEL it looks for Ollama, LM Studio, vLLM and llama.cpp on this machine, and for keys. Ctrl-C
    reports on what was answered.

    It may remember how questions ended. With --released, only those asked later are compared with the price.

    Example: arena try qwen3:8b

    qwen3:8b answered 120 of 120 questions in 16 s.

    says 34%, happened 20%, 10 questions ········●─────○····

    Brier score 0.100, the price on the day of the question 0.066.

    Next: arena init my-arena
    """
    environ = environment(Path(), os.environ)
    os.environ.update(environ)
    asking = not chosen.json and sys.stdin.isatty()
    tried = choose_model(model, base_url, key_env, environ, asking)
    own_price = tried.price if price is None else TokenPrice(input=price[0], output=price[1])
    settings = asking_settings(
        tried.model, tried.base_url, tried.key_variable, own_price, PATIENCE * 60 * minutes
    )
    check_key(settings, environ)

    day = released and released.date()
    questions = questions_to_ask(day, MOST)
    most = agree_on_cost(tried.name, len(questions), asking_cost(settings, questions), asking, yes)

    def prepare(models: OpenModels, moved: Callable[[int, int | None], None]) -> QuickTrial:
        limit = limited(models.ask(settings), settings, most)
        return QuickTrial(settings, questions, limit, timer, 60 * minutes, moved=moved)

    trial = ask_questions(tried.name, prepare)
    if not trial.answers:
        raise no_answers(tried.name, trial)
    report = report_of(tried, trial, questions, day, most)
    page = write_page(html or page_of(tried.name), report)
    chosen.answer(report_data(report, page), say, report, page)
    if trial.ended == INTERRUPTED:
        raise typer.Exit(130)
    if trial.ended or page is None:
        raise typer.Exit(2)


Prepare = Callable[[OpenModels, Callable[[int, int | None], None]], QuickTrial]


def ask_questions(name: str, prepare: Prepare) -> QuickTrial:
    """Return the trial after all of it was asked, or as much as was when Ctrl-C was pressed."""
    trials: list[QuickTrial] = []

    async def asked(moved: Callable[[int, int | None], None]) -> None:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(close)
            trials.append(prepare(OpenModels(stack), moved))
            await trials[0].run()

    try:
        with prints_aside(), progress(f"Asking {name}", MOST) as moved:
            run_async(asked(moved))
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # pressed again, it must not break into the report
        if not trials:
            raise
        trials[0].ended = INTERRUPTED
    return trials[0]


def no_answers(name: str, trial: QuickTrial) -> ArenaError:
    """Return the error for a trial in which nothing could be used, with the reason."""
    from arena.cli.check_live import HINTS

    if trial.ended == INTERRUPTED:
        return ArenaError("interrupted", f"stopped before {name} answered", "run it again", status=130)
    if trial.unusable:
        example = shortened(trial.example, LONGEST_EXAMPLE)
        words = f"none of the answers to {trial.unusable} questions can be used, for example: {example}"
        return ArenaError("unusable", words, "try another model, or a larger one")
    if trial.fault is not None:
        words = f"{name} gave no answer: {plain(trial.fault.message)}"
        return ArenaError(trial.fault.code, words, HINTS.get(trial.fault.code, ""))
    return ArenaError("timeout", f"{name} gave no answer within {trial.took:.0f} s", "give it more --minutes")


def report_of(
    tried: TriedModel,
    trial: QuickTrial,
    questions: list[PastQuestion],
    released: date | None,
    most: int | None,
) -> TrialReport:
    """Return what came of a trial."""
    answers = []
    for question in questions:
        if question.id in trial.answers:
            counts = released is not None and question.asked_at >= released
            answers.append(AnsweredQuestion(question, trial.answers[question.id], counts))

    return TrialReport(
        model=plain(tried.name),
        released=released,
        answers=tuple(answers),
        asked=trial.asked,
        unusable=trial.unusable,
        example=shortened(trial.example, LONGEST_EXAMPLE),
        seconds=trial.took,
        cost=trial.limit.spent if trial.limit.is_known else None,
        most=most,
        ended=plain(trial.ended),
        next_steps=next_steps(tried),
    )


def next_steps(tried: TriedModel) -> tuple[str, ...]:
    """Return the commands by which the model plays an arena of its own."""
    arena = program()
    if tried.base_url is None:
        return (f"{arena} init my-arena --model {quote(tried.model)} --yes",)
    server = f"--base-url {quote(tried.base_url)}"
    if tried.key_variable is not None:
        server += f" --key-env {tried.key_variable}"
    price = " --price 0 0" if tried.price is not None else ""
    return (
        f"{arena} init my-arena --yes",
        f"{arena} agents add {quote(tried.model)} {server}{price} --config my-arena/config.yaml",
    )


def page_of(name: str) -> Path:
    """Return the file that the page about a model is written to.

    >>> page_of("qwen/qwen3:8b").name
    'try-qwen-qwen3-8b.html'
    """
    return Path(f"try-{re.sub(NO_FILE_NAME, '-', name)}.html")


def write_page(page: Path, report: TrialReport) -> Path | None:
    """Write the report as a page, and return where; None if that can't be done, which is said."""
    try:
        page.write_text(trial_page(report), "utf-8")
    except OSError as error:
        words = f"{page} can't be written: {error.strerror}"
        print_error(ArenaError("not_writable", words, "name another file with --html"), as_json=False)
        return None
    return page


def report_data(report: TrialReport, page: Path | None) -> dict[str, Any]:
    """Return a report for programs."""
    comparison = report.comparison
    return {
        "model": report.model,
        "released": report.released,
        "standing": report.standing,
        "sentence": report.sentence,
        "calibration_sentence": report.calibration_sentence,
        "score_sentence": report.score_sentence,
        "asked": report.asked,
        "answered": len(report.answers),
        "unusable": report.unusable,
        "example": report.example or None,
        "seconds": round(report.seconds, 2),
        "ended": report.ended or None,
        "brier": report.brier,
        "brier_price": report.price_brier,
        "distance": report.distance,
        "comparison": None if comparison is None else asdict(comparison),
        "calibration": [asdict(tenth) for tenth in report.bins],
        "distances": [asdict(step) for step in report.distances],
        "cost_usd": exact(report.cost),
        "most_usd": exact(report.most),
        "page": page,
        "next": list(report.next_steps),
        "answers": [
            asdict(answer.asked) | {"probability": answer.forecast, "counts": answer.counts}
            for answer in report.answers
        ],
    }


def say(report: TrialReport, page: Path | None) -> None:
    """Print what the trial can show first, then what it shows, and what to type next."""
    print(f"{report.standing}\n\n{report.sentence}\n")

    print("Calibration: what it says ○, and how often that happened ●")
    print("  says  happened  questions  0%                                   100%")
    for tenth in report.bins:
        says, happened = f"{tenth.forecast:.0%}", f"{tenth.observed:.0%}"
        print(f"{says:>6}{happened:>10}{tenth.count:>11}  {calibration_line(tenth)}")

    print(f"{report.calibration_sentence}\n\n{report.score_sentence}\n")
    print(f"Distance from the price: {100 * report.distance:.0f} points on average")
    steps = report.distances
    for step in steps:
        points = f"{100 * step.low:.0f} to {100 * step.high:.0f}"
        print(f"{points:>10}{step.count:>7}  {distance_bar(step, steps)}".rstrip())

    print(f"\nCost: {report.cost_text}.")
    if page is not None:
        print(f"Page: {page}")
    print("Next:", *report.next_steps, sep="\n  ")
