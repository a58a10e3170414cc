"""What the figures come to, and what they can't say: the first words of a page."""

from collections.abc import Iterable

from dashboard.model import CohortLine
from dashboard.words import count, day, plain
from portfolio.rules import DEPTH_UNKNOWN, UNLIMITED

STAMPS = {
    "simulated": "Simulated season: play money on made-up markets, whose true odds are known.",
    "replay": "Replay: not evidence of skill.",
    UNLIMITED: "Profit and loss: fills are unlimited, whatever a market could have taken.",
    DEPTH_UNKNOWN: "Profit and loss: depth unknown where the venue did not say how much was traded.",
}
"""What has to be said of a record whose markets are not live, and of its money."""


def cohort_label(line: CohortLine) -> str:
    """A cohort in a list."""
    return f"Cohort {line.number} · {day(line.starts_at)}"


def progress(line: CohortLine) -> str:
    """How far a cohort is."""
    rest = f", {line.unfinished} with turns that failed or are to come" if line.unfinished else ""
    rounds = f"{line.played} of {count(line.rounds, 'round')} decided{rest}"
    if line.ended_at is not None:
        corrected = f", then corrected on {day(line.corrected_at)}" if line.corrected_at else ""
        return f"{rounds}, ended {day(line.ended_at)}{corrected}"
    if line.stopped:
        return f"{rounds}, ended by hand, open positions are still tracked"
    if line.played == line.rounds:
        return f"{rounds}, open positions are still tracked"
    return f"{rounds}, paused" if line.paused else rounds


def leading(sentence: str) -> str:
    """The sentence that leads a board, in Markdown: it names agents, whose names may be anything."""
    return plain(sentence, most=2_000)


def stamps(lines: Iterable[CohortLine]) -> list[str]:
    """What has to be said first of cohorts: that they were not played live, and of their depth."""
    found = {said for line in lines for said in (line.stamp, line.depth)}
    return [text for said, text in STAMPS.items() if said in found]
