"""What the figures come to, and what they can't say: the first words of a page."""

from collections.abc import Iterable

from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import Leaderboard
from dashboard.model import CohortLine
from dashboard.numbers import with_true_minus
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
    return plain(with_true_minus(sentence), most=2_000)


def headline(board: Leaderboard) -> str:
    """Who beats the market, in a few words: the heading of a board."""
    ranked = [row for row in board.rows if row.ranked and row.kind != MARKET and not row.copies]
    proven, ahead = ([row.agent for row in ranked if row.verdict == name] for name in ("proven", "ahead"))
    if not any(row.skill_low is not None for row in ranked):
        return "Too early to say who beats the market."
    if proven:
        more = f" {counted(len(ahead), 'more')} {'is' if len(ahead) == 1 else 'are'} ahead, not yet proven."
        first = f"{proven[0]} beats" if len(proven) == 1 else f"{counted(len(proven), 'agents')} beat"
        return f"{first} the market, proven.{more if ahead else ''}"
    if len(ahead) == 1:
        return f"{ahead[0]} is ahead of the market, not yet proven."
    if ahead:
        return f"{counted(len(ahead), 'agents')} are ahead of the market, none proven yet."
    close = any(row.verdict == "close" for row in ranked)
    return "Nobody is ahead of the market yet." if close else "No agent beats the market."


def counted(number: int, noun: str) -> str:
    """A small number in words, at the start of a sentence.

    >>> counted(2, "agents"), counted(12, "agents")
    ('Two agents', '12 agents')
    """
    words = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
    return f"{words[number] if number < len(words) else f'{number:,}'} {noun}"


def stamps(lines: Iterable[CohortLine]) -> list[str]:
    """What has to be said first of cohorts: that they were not played live, and of their depth."""
    found = {said for line in lines for said in (line.stamp, line.depth)}
    return [text for said, text in STAMPS.items() if said in found]
