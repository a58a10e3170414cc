"""What a quick trial of a model shows: JSON, its figures in words and lines, and a page of its own.

Nothing is claimed against the price unless enough questions were asked after the model's release: of the
others it may remember how they ended.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from arena.cli.output import exact, plain, shortened
from arena.cli.table import drawn
from arena.errors import count_text
from arena.rounds.quick_trial import QuickTrial
from arena.scores.rules import brier, calibration
from arena.scores.rules.calibration import Bin
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.rules.comparisons.mean_interval import mean_intervals
from arena.scores.rules.reliability.reading import reading

DISTANCES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
"""Where the steps of the distance from the price begin and end."""
WIDTH = 41
"""Characters of the line from 0% to 100%."""
LONGEST_BAR = 30
LONGEST_EXAMPLE = 160
PAGE = Path(__file__).with_name("try_page.html")

Answer = dict[str, Any]
"""A question with the model's probability, and whether it counts: it was asked after the model's release."""


def trial_data(model: str, trial: QuickTrial, released: date | None, next_step: str) -> dict[str, Any]:
    """Return what came of a trial in which something was answered."""
    answers = [
        {**asdict(question), "probability": trial.answers[question.id], "counts": question.is_after(released)}
        for question in trial.questions
        if question.id in trial.answers
    ]
    own, prices, outcomes = (column(answers, name) for name in ("probability", "price", "outcome"))
    distances = np.abs(own - prices)
    # 0.35 − 0.3 is a hair under 0.05 in floats.
    counts = np.histogram(distances.round(9), DISTANCES)[0].tolist()
    sure = reading(own, outcomes, range(len(answers)))
    sure_text = "too few questions to say more" if sure is None else sure.text
    told = {
        "model": model,
        "released": released,
        "standing": standing(model, answers, released),
        "asked": trial.asked,
        "answered": len(answers),
        "unusable": trial.unusable,
        "example": shortened(trial.example, LONGEST_EXAMPLE) or None,
        "seconds": round(trial.took, 2),
        "ended": plain(trial.ended) or None,
        "brier": brier.score(own, outcomes),
        "brier_price": brier.score(prices, outcomes),
        "comparison": comparison([answer for answer in answers if answer["counts"]]),
        "calibration_sentence": f"Where it is 70% sure or more: {sure_text}.",
        "calibration": calibration.bins(own, outcomes),
        "distance": float(distances.mean()),
        "distances": [
            {"low": low, "high": high, "count": count}
            for low, high, count in zip(DISTANCES, DISTANCES[1:], counts, strict=False)
        ],
        "cost_usd": exact(trial.spent) if trial.spent or trial.most is not None else None,
        "most_usd": exact(trial.most),
        "page": None,
        "next": next_step,
        "answers": answers,
    }
    return told | {"sentence": sentence(told), "score_sentence": score_sentence(told)}


def column(answers: Sequence[Answer], name: str) -> Any:
    """Return what the answers have under a name."""
    return np.array([answer[name] for answer in answers])


def comparison(answers: Sequence[Answer]) -> dict[str, float] | None:
    """Return Brier scores on these questions and their difference with its interval; None for too few."""
    if len(answers) < ENOUGH_EVENTS:
        return None

    own = brier.each(column(answers, "probability"), column(answers, "outcome"))
    price = brier.each(column(answers, "price"), column(answers, "outcome"))
    rows = np.arange(len(answers))
    gap = mean_intervals(0 * rows, rows, own - price, 1)
    return {
        "questions": len(answers),
        "brier": own.mean().item(),
        "price_brier": price.mean().item(),
        "difference": gap.mean.item(),
        "low": gap.low.item(),
        "high": gap.high.item(),
    }


def standing(model: str, answers: Sequence[Answer], released: date | None) -> str:
    """Return what a trial can show of a model, and what it can't: the first thing to be read."""
    counted = int(column(answers, "counts").sum())
    if counted >= ENOUGH_EVENTS:
        return (
            f"{model} was released on {released}. {counted} of {count_text(len(answers), 'question')} were "
            "asked after that: only these are compared with the price."
        )

    after = "its release is not known"
    if released is not None:
        few = f"only {counted} of them were" if counted else "none of them was"
        after = f"{few} asked after its release on {released}"
    days = [answer["closed"] for answer in answers]
    return (
        f"{model} may remember how these questions ended: {after}, and they closed from {min(days)} to "
        f"{max(days)}. Nothing is claimed against the price. It reads and answers; this is its calibration "
        "on questions that it may remember."
    )


def sentence(told: Mapping[str, Any]) -> str:
    """Return how much was answered, and why no more."""
    words = f"{told['model']} answered {told['answered']} of {count_text(told['asked'], 'question')}"
    words += f" in {told['seconds']:.0f} s."
    if told["unusable"]:
        words += f" {told['unusable']} could not be read, for example: {told['example']}"
    if told["ended"]:
        words += f" It ended early: {told['ended']}."
    return words


def score_sentence(told: Mapping[str, Any]) -> str:
    """Return the Brier score beside that of the price; on which questions, if they can be compared."""
    words = (
        "Brier score, 0 is perfect and 0.25 is always 50%: {brier:.3f}, the price on the day of the question "
        "{brier_price:.3f}."
    ).format_map(told)
    if told["comparison"]:
        words += (
            " On the {questions} asked after its release: {brier:.3f}, the price {price_brier:.3f}; "
            "difference {difference:+.3f}, 95% interval {low:+.3f} to {high:+.3f}."
        ).format_map(told["comparison"])
    return words


def report_lines(told: Mapping[str, Any]) -> list[str]:
    """Return the report: what it can show first, then what it shows, and what to type next."""
    cost = "unknown, because its price is unknown"
    if told["cost_usd"] is not None:
        cost = f"${told['cost_usd']:,.4f}" if told["cost_usd"] else "$0.00"
    if told["most_usd"]:
        cost += f" of at most ${told['most_usd']:,.4f}"

    tenths = told["calibration"]
    steps = told["distances"]
    largest = max(step["count"] for step in steps)
    return [
        f"{told['standing']}\n\n{told['sentence']}\n",
        "Calibration: what it says ○, and how often that happened ●",
        *drawn(
            [
                ("  says", [f"{tenth.forecast:.0%}" for tenth in tenths]),
                ("happened", [f"{tenth.observed:.0%}" for tenth in tenths]),
                ("questions", [str(tenth.count) for tenth in tenths]),
                ("0%".ljust(WIDTH - 4) + "100%", [calibration_line(tenth) for tenth in tenths]),
            ]
        ),
        f"{told['calibration_sentence']}\n\n{told['score_sentence']}\n",
        f"Distance from the price: {100 * told['distance']:.0f} points on average",
        *drawn(
            [
                ("points", [f"{100 * step['low']:.0f} to {100 * step['high']:.0f}" for step in steps]),
                ("questions", [str(step["count"]) for step in steps]),
                ("", ["█" * math.ceil(LONGEST_BAR * step["count"] / largest) for step in steps]),
            ]
        ),
        f"\nCost: {cost}.",
        *([f"Page: {told['page']}"] if told["page"] else []),
        f"Next: {told['next']}",
    ]


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


def trial_page(told: Mapping[str, Any]) -> str:
    """Return the report as a page of its own, which loads nothing from elsewhere."""
    from jinja2 import Environment, StrictUndefined

    around = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return around.from_string(PAGE.read_text("utf-8")).render(told, report="\n".join(report_lines(told)))
