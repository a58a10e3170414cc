"""What the figures come to, and what they can't say: the first words of a page."""

from collections.abc import Iterable

from dashboard.model import CohortLine
from dashboard.words import count, day, plain

STAMPS = {
    "simulated": "Simulated season: play money on made-up markets, whose true odds are known.",
    "replay": "Replay: not evidence of skill.",
}
"""What has to be said of a record whose markets are not live."""


def cohort_label(line: CohortLine) -> str:
    """A cohort in a list."""
    return f"Cohort {line.number} · {day(line.starts_at)}"


def progress(line: CohortLine) -> str:
    """How far a cohort is."""
    rest = f", {line.unfinished} with turns that failed or are to come" if line.unfinished else ""
    rounds = f"{line.played} of {count(line.rounds, 'round')} decided{rest}"
    if line.ended_at is not None:
        return f"{rounds}, ended {day(line.ended_at)}"
    if line.stopped:
        return f"{rounds}, ended by hand, open positions are still tracked"
    if line.played == line.rounds:
        return f"{rounds}, open positions are still tracked"
    return f"{rounds}, paused" if line.paused else rounds


def leading(sentence: str) -> str:
    """The sentence that leads a board, in Markdown: it names agents, whose names may be anything."""
    return plain(sentence, most=2_000)


def stamps(lines: Iterable[CohortLine]) -> list[str]:
    """What has to be said first of cohorts that were not played live."""
    found = {line.stamp for line in lines}
    return [text for stamp, text in STAMPS.items() if stamp in found]
