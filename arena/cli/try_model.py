"""`arena try`: asks a model, and reports in the terminal, as JSON and as a page.

The model is compared with the price only on questions asked after its release, if there are enough: it may
remember how the others ended.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from shlex import join
from typing import Any

import numpy as np

from agents.llm import close
from arena.calls.budget_warnings import rounded_dollars
from arena.cli.model_choice import confirm_offer, find_or_pick_model, named_models
from arena.cli.output import (
    Data,
    from_millionths,
    interruptible,
    plain,
    prints_to_stderr,
    program,
    progress,
    run_async,
    shortened,
)
from arena.cli.page import Fields, Page, page_lines, print_error
from arena.cli.table import Table, TableColumn
from arena.config.model_blocks import Block, ModelOptions
from arena.config.new_folder import check_playable
from arena.errors import ArenaError, count_text
from arena.exports.api import score
from arena.rounds.live_check import HINTS
from arena.rounds.quick_trial import MOST, QuickTrial
from arena.scores.rules import brier, calibration
from arena.scores.rules.calibration import Bin
from arena.scores.rules.reliability.reading import WHERE_SURE, read_calibration
from markets.millionths import ONE

NO_FILE_NAME = r"[^\w.-]+"
INTERRUPTED = "interrupted by Ctrl-C"
PAGE = Path(__file__).with_name("try_page.html")
PAGE_WIDTH = 100
WIDTH = 41
"""Characters of the line from 0% to 100%."""
LONGEST_EXAMPLE = 160


def model_to_try(name: str | None, options: ModelOptions, environ: Mapping[str, str]) -> Block:
    """Return the agent's keys for the model of that name, or for the one that is found or picked.

    Raise `ArenaError` if there is no such model, or none at all, or several and no user to pick one.
    """
    name = name or find_or_pick_model(options, environ)
    check_playable((name,), "")
    (block,) = named_models((name,), options)
    return block


def agree_on_cost(name: str, cost: tuple[int, int] | None, can_ask: bool, agreed: bool) -> int | None:
    """Ask the user to agree to the cost, and return the amount at which asking stops; None if unknown.

    Raise `ArenaError` unless they agree; a free model needs no agreement.
    """
    most = None
    offer = f"The price of {name} is unknown: {MOST} questions can't be estimated, nor stopped in time"
    hint = "--price IN OUT: dollars per million tokens; or add --yes"
    if cost is not None:
        expected, most = cost
        amounts = f"about {rounded_dollars(expected)}, at most ${most / ONE:,.4f}"
        offer = f"Up to {MOST} questions to {name}: {amounts}"
        hint = "add --yes to ask"
    if most != 0 and not agreed:
        confirm_offer(offer, can_ask, hint, default=cost is not None)
    return most


def ask_questions(name: str, trial: QuickTrial) -> None:
    """Ask the questions of a trial until done or Ctrl-C; raise `ArenaError` if none was answered."""

    async def ask() -> None:
        try:
            await trial.run()
        finally:
            await close()

    try:
        stopped = interruptible(f"stopped before {name} answered", "")
        with stopped, prints_to_stderr(), progress(f"Asking {name}", MOST) as trial.moved:
            run_async(ask())
    except ArenaError as error:
        if error.code != "interrupted" or not trial.answers:
            raise
        trial.ended = INTERRUPTED

    if not trial.answers:
        # A fault is kept as the code of the failed call and its message: "auth: the key is refused".
        code, _, message = plain(trial.fault).partition(": ")
        reason = f"{name} gave no usable answer: {shortened(message, LONGEST_EXAMPLE)}"
        hint = HINTS.get(code, "try another model; a slow one needs more --minutes")
        if code == "auth" and trial.settings.base_url is not None and trial.settings.api_key_env is None:
            hint = "no key was sent: name its variable with --key-env"
        raise ArenaError(code, reason, hint)


def trial_data(model: str, trial: QuickTrial, released: date | None, options: ModelOptions) -> dict[str, Any]:
    """Return the results of a trial with at least one answer, for JSON."""
    answers = []
    for question in trial.questions:
        if question.id in trial.answers:
            result = {"probability": trial.answers[question.id], "counts": question.is_after(released)}
            answers.append(asdict(question) | result)

    probabilities = values_under(answers, "probability")
    outcomes = values_under(answers, "outcome")
    distances = np.abs(np.array(probabilities) - np.array(values_under(answers, "price")))
    when_sure = read_calibration(probabilities, outcomes, range(len(answers)))
    after_release = [answer for answer in answers if answer["counts"]]
    over_all = comparison_with_price(answers)
    return {
        "model": plain(model),
        "released": released,
        "asked": trial.asked,
        "answered": len(answers),
        "unusable": trial.unusable,
        "example": shortened(trial.example, LONGEST_EXAMPLE) or None,
        "seconds": round(trial.took, 2),
        "ended": plain(trial.ended) or None,
        "brier": over_all["brier"],
        "brier_price": over_all["price_brier"],
        "comparison": comparison_with_price(after_release) if after_release else None,
        "calibration": calibration.bins(probabilities, outcomes),
        "sure": when_sure and when_sure.text,
        "distance": float(distances.mean()),
        "distance_of_tenth": float(np.quantile(distances, 0.9)),
        "cost_usd": from_millionths(trial.cost),
        "most_usd": from_millionths(trial.most),
        "next": init_command(model, options),
        "answers": answers,
    }


def values_under(answers: Sequence[Data], name: str) -> list[Any]:
    """Return the values of the answers under a name."""
    return [answer[name] for answer in answers]


def comparison_with_price(answers: Sequence[Data]) -> dict[str, Any]:
    """Return the comparison of these answers with the price, by the rules of `arena score`.

    Without an interval the reason says what is missing.
    """
    columns = {
        "question": values_under(answers, "id"),
        "forecaster": ["model"] * len(answers),
        "outcome": values_under(answers, "outcome"),
        "probability": values_under(answers, "probability"),
        "market_probability": values_under(answers, "price"),
    }
    (row,) = score(columns).rows
    return {
        "questions": len(answers),
        "brier": row.brier,
        "price_brier": brier.score(columns["market_probability"], columns["outcome"]),
        "skill": row.skill,
        "low": row.skill_low,
        "high": row.skill_high,
        "reason": row.reason,
    }


def init_command(name: str, options: ModelOptions) -> str:
    """Return the command by which the model plays an arena of its own."""
    words = [program(), "init", "my-arena", "--yes", "--model", name]
    if options.base_url is not None:
        words += ["--base-url", options.base_url]
    if options.key_env is not None:
        words += ["--key-env", options.key_env]
    if options.price is not None:
        words += ["--price", *map("{:g}".format, options.price)]
    return join(words)


def report(data: Data) -> Page:
    """Yield what the trial can show, its results, and the next command."""
    yield from (claim_sentence(data), "", answered_sentence(data), "")
    title = "Calibration: what it says ○, and how often that happened ●"
    yield Table(CALIBRATION, data["calibration"], title)
    yield f"{WHERE_SURE}: {data['sure'] or 'too few questions to say more'}."
    yield (
        "Brier score, 0 is perfect and 0.25 is always 50%: {brier:.3f}, the price on the day of the question "
        "{brier_price:.3f}."
    ).format_map(data)
    if data["comparison"]:
        text = "On the {questions} asked after its release: {brier:.3f}, the price {price_brier:.3f}; "
        if has_skill_interval(data):
            text += "skill over the price {skill:+.3f}, 95% interval {low:+.3f} to {high:+.3f}."
        else:
            text += "no comparison: {reason}."
        yield text.format_map(data["comparison"])
    yield (
        f"Distance from the price: {100 * data['distance']:.0f} points on average, and more than "
        f"{100 * data['distance_of_tenth']:.0f} for one question in ten."
    )

    cost = "unknown, because its price is unknown"
    if data["cost_usd"] == 0:
        cost = "$0.00"
    elif data["cost_usd"]:
        cost = f"${data['cost_usd']:,.4f}"
    if data["most_usd"]:
        cost += f" of at most ${data['most_usd']:,.4f}"
    fields = {"Cost:": cost, "Page:": data["page"], "Next:": data["next"]}
    yield ""
    yield Fields({label: str(text) for label, text in fields.items() if text})


def write_page(data: Data) -> Path | None:
    """Write the report as a self-contained page; print an error and return None if that fails."""
    from jinja2 import StrictUndefined, Template

    name = re.sub(NO_FILE_NAME, "-", data["model"])
    page = Path(f"try-{name}.html")
    template = Template(
        PAGE.read_text("utf-8"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    lines = "\n".join(page_lines(report({**data, "page": None}), PAGE_WIDTH))
    try:
        page.write_text(template.render(data, report=lines), "utf-8")
    except OSError as error:
        message = f"{page} can't be written: {error.strerror}"
        print_error(ArenaError("not_writable", message, "run it in another folder"), as_json=False)
        return None
    return page


def has_skill_interval(data: Data) -> bool:
    """Tell whether enough questions were asked after the model's release for an interval of its skill."""
    return data["comparison"] is not None and data["comparison"]["low"] is not None


def claim_sentence(data: Data) -> str:
    """Return a sentence on what a trial can show about a model, and what it can't."""
    closing_days = values_under(data["answers"], "closed")
    asked_after_release = sum(values_under(data["answers"], "counts"))
    after = f"{asked_after_release} of {count_text(len(closing_days), 'question')}"
    if has_skill_interval(data):
        return (
            f"{data['model']} was released on {data['released']}. {after} were asked after that: only "
            "these are compared with the price."
        )

    closed = f"they closed from {min(closing_days)} to {max(closing_days)}"
    no_claim = "Nothing is claimed against the price."
    if not data["released"]:
        return (
            f"{data['model']} may remember how these questions ended: {closed}, and the day of its release "
            f"is not known (--released DAY). {no_claim}"
        )

    released = f"its release on {data['released']}"
    if asked_after_release == len(closing_days):
        return f"All {asked_after_release} questions were asked after {released}: {closed}. {no_claim}"
    return (
        f"{data['model']} may remember how these questions ended: {closed}, and {after} were asked after "
        f"{released}. {no_claim}"
    )


def answered_sentence(data: Data) -> str:
    """Return a sentence on how much was answered, and why not more."""
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
    left = min(says, happened)
    right = max(says, happened)

    signs = ["·"] * WIDTH
    signs[left:right] = "─" * (right - left)
    signs[says] = "○"
    signs[happened] = "◉" if says == happened else "●"
    return "".join(signs)


CALIBRATION = (
    TableColumn("forecast", "says", ".0%"),
    TableColumn("observed", "happened", ".0%"),
    TableColumn("count", "questions"),
    TableColumn("line", f"{'0%':{WIDTH - 4}}100%", value=calibration_line),
)
