"""What `arena try` asks a model, and what it shows: figures in words and lines, JSON, and a page of its own.

Nothing is claimed against the price unless enough questions were asked after the model's release: of the
others it may remember how they ended.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import typer

from agents.llm import close
from agents.providers import DEMO
from arena.calls.budget_warnings import rounded_dollars
from arena.cli.check_live import HINTS
from arena.cli.init import keyed_models
from arena.cli.model_choice import (
    LISTED,
    Block,
    ModelOptions,
    model_blocks,
    servers_at,
    unanswered_ports,
)
from arena.cli.output import (
    Data,
    exact,
    interruptible,
    plain,
    prints_aside,
    program,
    progress,
    run_async,
    shortened,
)
from arena.cli.page import Fields, Page, page_lines, print_error
from arena.cli.table import Table, TableColumn
from arena.errors import ArenaError, count_text
from arena.rounds.quick_trial import MOST, QuickTrial
from arena.scores.rules import brier, calibration
from arena.scores.rules.calibration import Bin
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.comparisons.mean_interval import mean_intervals
from arena.scores.rules.reliability.reading import WHERE_SURE, reading
from markets.millionths import ONE

NO_FILE_NAME = r"[^\w.-]+"
INTERRUPTED = "interrupted by Ctrl-C"
PAGE = Path(__file__).with_name("try_page.html")
PAGE_WIDTH = 100
WIDTH = 41
"""Characters of the line from 0% to 100%."""
LONGEST_EXAMPLE = 160

Answer = Data
"""A question with the model's probability, and whether it counts: it was asked after the model's release."""


def model_to_try(name: str | None, options: ModelOptions, environ: Mapping[str, str]) -> Block:
    """Return the model of that name, or the one that is found or picked, as an agent has it in a config.

    Raise `ArenaError` if there is no such model, or none at all, or several and nobody to pick one.
    """
    if name is None:
        key = environ.get(options.key_env or "", "")
        names = [model for server in servers_at(options.base_url, key) for model in server.models]
        if options.base_url is None:
            names += keyed_models(environ)
        name = picked(names, options)
    if name.startswith(DEMO):
        raise ArenaError("unknown_model", f"{name} plays only the simulator", f"{program()} demo")

    (block,) = model_blocks((name,), options)
    return block


def picked(names: Sequence[str], options: ModelOptions) -> str:
    """Return the only one of these models, or the one that the person at the terminal names."""
    if not names and options.base_url is not None:
        message = f"no list of models comes from {options.base_url}/models"
        raise ArenaError("no_server", message, "check the address, or name the model")
    if not names:
        hint = (
            "start a server (ollama run qwen3:8b), or name a model whose key is set: "
            f"{program()} try anthropic/claude-sonnet-5 (ANTHROPIC_API_KEY)"
        )
        raise ArenaError("no_server", f"{unanswered_ports()}, and no known model has its key", hint)

    if len(names) == 1:
        return names[0]
    found = f"{len(names)} models found: {', '.join(names[:LISTED])}"
    if not options.asking:
        raise ArenaError("several_models", found, f"name one: {program()} try {names[0]}")
    return str(typer.prompt(f"{found}. Which one", names[0]))


def agree_on_cost(name: str, cost: tuple[int, int] | None, asking: bool, yes: bool) -> int | None:
    """Return the amount in millionths of a dollar at which asking stops; None if the price is unknown.

    Raise `ArenaError` if nobody agrees to it. What is free needs no yes.
    """
    question = f"The price of {name} is unknown: {MOST} questions can't be estimated, nor stopped in time"
    hint = "--price IN OUT: dollars per million tokens; or add --yes"
    most = None
    if cost is not None:
        expected, most = cost
        amounts = f"about {rounded_dollars(expected)}, at most ${most / ONE:,.4f}"
        question = f"Up to {MOST} questions to {name}: {amounts}"
        hint = "add --yes to ask"

    if yes or most == 0:
        return most
    if not asking:
        raise ArenaError("not_confirmed", question, hint)
    if not typer.confirm(f"{question}. Ask?", default=cost is not None):
        raise ArenaError("stopped", "nothing was asked", hint)
    return most


def ask_questions(name: str, trial: QuickTrial) -> None:
    """Ask all of it, or as much as is answered before Ctrl-C is pressed; raise if nothing is."""

    async def ask() -> None:
        try:
            await trial.run()
        finally:
            await close()

    try:
        with interruptible(INTERRUPTED, ""), prints_aside(), progress(f"Asking {name}", MOST) as trial.moved:
            run_async(ask())
    except ArenaError as error:
        if error.code != "interrupted":
            raise
        if not trial.answers:
            raise ArenaError("interrupted", f"stopped before {name} answered", status=130) from error
        trial.ended = INTERRUPTED

    if not trial.answers:
        code, _, message = plain(trial.fault).partition(": ")
        reason = f"{name} gave no usable answer: {shortened(message, LONGEST_EXAMPLE)}"
        raise ArenaError(code, reason, HINTS.get(code, "try another model; a slow one needs more --minutes"))


def trial_data(model: str, trial: QuickTrial, released: date | None, options: ModelOptions) -> dict[str, Any]:
    """Return what came of a trial in which something was answered."""
    answers = []
    for question in trial.questions:
        if question.id in trial.answers:
            counts = {"probability": trial.answers[question.id], "counts": question.is_after(released)}
            answers.append(asdict(question) | counts)

    own, prices, outcomes = (column(answers, name) for name in ("probability", "price", "outcome"))
    sure = reading(own, outcomes, range(len(answers)))
    distances = np.abs(own - prices)
    return {
        "model": plain(model),
        "released": released,
        "asked": trial.asked,
        "answered": len(answers),
        "unusable": trial.unusable,
        "example": shortened(trial.example, LONGEST_EXAMPLE) or None,
        "seconds": round(trial.took, 2),
        "ended": plain(trial.ended) or None,
        "brier": brier.score(own, outcomes),
        "brier_price": brier.score(prices, outcomes),
        "comparison": comparison([answer for answer in answers if answer["counts"]]),
        "calibration": calibration.bins(own, outcomes),
        "sure": None if sure is None else sure.text,
        "distance": float(distances.mean()),
        "distance_of_tenth": float(np.quantile(distances, 0.9)),
        "cost_usd": exact(trial.spent) if trial.spent or trial.most is not None else None,
        "most_usd": exact(trial.most),
        "next": next_step(model, options),
        "answers": answers,
    }


def column(answers: Sequence[Answer], name: str) -> Any:
    """Return what the answers have under a name."""
    return np.array([answer[name] for answer in answers])


def comparison(answers: Sequence[Answer]) -> dict[str, float] | None:
    """Return Brier scores on these questions and their difference with its interval; None for too few."""
    if len(answers) < ENOUGH_EVENTS:
        return None

    outcomes = column(answers, "outcome")
    own = brier.each(column(answers, "probability"), outcomes)
    price = brier.each(column(answers, "price"), outcomes)
    rows = np.arange(len(answers))
    gap = mean_intervals(0 * rows, rows, own - price, 1)
    figures = (own.mean(), price.mean(), gap.mean, gap.low, gap.high)
    names = ("brier", "price_brier", "difference", "low", "high")
    return {"questions": len(answers)} | {
        name: figure.item() for name, figure in zip(names, figures, strict=True)
    }


def next_step(name: str, options: ModelOptions) -> str:
    """Return the command by which the model plays an arena of its own."""
    words = [program(), "init", "my-arena", "--model", quote(name)]
    if options.base_url is not None:
        words += ["--base-url", quote(options.base_url)]
    if options.key_env is not None:
        words += ["--key-env", options.key_env]
    if options.price is not None:
        words += ["--price", *(f"{dollars:g}" for dollars in options.price)]
    return " ".join([*words, "--yes"])


def report(data: Data) -> Page:
    """Yield what the trial can show first, then what it shows, and what to type next."""
    yield from (standing(data), "", answered_sentence(data), "")
    title = "Calibration: what it says ○, and how often that happened ●"
    yield Table(CALIBRATION, data["calibration"], title)
    yield f"{WHERE_SURE}: {data['sure'] or 'too few questions to say more'}."
    yield (
        "Brier score, 0 is perfect and 0.25 is always 50%: {brier:.3f}, the price on the day of the question "
        "{brier_price:.3f}."
    ).format_map(data)
    if data["comparison"]:
        yield (
            "On the {questions} asked after its release: {brier:.3f}, the price {price_brier:.3f}; "
            "difference {difference:+.3f}, 95% interval {low:+.3f} to {high:+.3f}."
        ).format_map(data["comparison"])
    yield (
        f"Distance from the price: {100 * data['distance']:.0f} points on average, and more than "
        f"{100 * data['distance_of_tenth']:.0f} for one question in ten."
    )

    cost = "unknown, because its price is unknown"
    if data["cost_usd"] is not None:
        cost = f"${data['cost_usd']:,.4f}" if data["cost_usd"] else "$0.00"
    if data["most_usd"]:
        cost += f" of at most ${data['most_usd']:,.4f}"
    fields = {"Cost:": cost, "Page:": data["page"], "Next:": data["next"]}
    yield from ("", Fields({label: str(text) for label, text in fields.items() if text}))


def standing(data: Data) -> str:
    """Return what a trial can show of a model, and what it can't: the first thing to be read."""
    days = [answer["closed"] for answer in data["answers"]]
    after = sum(answer["counts"] for answer in data["answers"])
    counted = f"{after} of {count_text(len(days), 'question')}"
    if data["comparison"]:
        return (
            f"{data['model']} was released on {data['released']}. {counted} were asked after that: only "
            "these are compared with the price."
        )

    known = f"on {data['released']}" if data["released"] else "(not known: --released DAY)"
    return (
        f"{data['model']} may remember how these questions ended: they closed from {min(days)} to "
        f"{max(days)}, and {counted} were asked after its release {known}. Nothing is claimed against the "
        "price."
    )


def answered_sentence(data: Data) -> str:
    """Return how much was answered, and why no more."""
    text = "{model} answered {answered} of {asked} questions in {seconds:.0f} s.".format_map(data)
    if data["unusable"]:
        text += f" {data['unusable']} could not be read, for example: {data['example']}"
    if data["ended"]:
        text += f" It ended early: {data['ended']}."
    return text


def calibration_line(tenth: Bin) -> str:
    """Return a line from 0% to 100% with what the model says (○) and how often that happened (●).

    >>> calibration_line(Bin(0.2, 0.3, 4, 0.25, 0.5))
    '··········○─────────●····················'
    """
    says = round(tenth.forecast * (WIDTH - 1))
    happened = round(tenth.observed * (WIDTH - 1))
    signs = ["·"] * WIDTH
    signs[min(says, happened) : max(says, happened)] = "─" * abs(says - happened)
    signs[says] = "○"
    signs[happened] = "◉" if says == happened else "●"
    return "".join(signs)


CALIBRATION = (
    TableColumn("forecast", "says", ".0%"),
    TableColumn("observed", "happened", ".0%"),
    TableColumn("count", "questions"),
    TableColumn("line", f"{'0%':{WIDTH - 4}}100%", value=calibration_line),
)


def write_page(data: Data) -> Path | None:
    """Write the report as a page that loads nothing from elsewhere; None if that can't be, which is said."""
    from jinja2 import Environment, StrictUndefined

    name = re.sub(NO_FILE_NAME, "-", data["model"])
    page = Path(f"try-{name}.html")
    around = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    lines = "\n".join(page_lines(report({**data, "page": None}), PAGE_WIDTH))
    try:
        page.write_text(around.from_string(PAGE.read_text("utf-8")).render(data, report=lines), "utf-8")
    except OSError as error:
        message = f"{page} can't be written: {error.strerror}"
        print_error(ArenaError("not_writable", message, "run it in another folder"), as_json=False)
        return None
    return page
