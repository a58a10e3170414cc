"""What the figures come to, and what they can't say: the first words of a page."""

from collections.abc import Iterable, Sequence

from arena.leaderboard import MARKET, Row
from dashboard.model import CohortLine
from dashboard.words import code, count, day

STAMPS = {
    "simulated": "Simulated season: the markets are made up and their true odds are known.",
    "replay": "Replay: not evidence of skill.",
}
"""What has to be said of a record whose markets are not live."""


CAUTION = (
    "The surest skill stands first, by its interval in `arena leaderboard`: "
    "read the order as what has happened, not as proof of who is better."
)


def cohort_label(line: CohortLine) -> str:
    """A cohort in a list."""
    return f"Cohort {line.number} · {day(line.starts_at)}"


def progress(line: CohortLine) -> str:
    """How far a cohort is."""
    rounds = f"{line.played} of {count(line.rounds, 'round')} decided"
    if line.ended_at is not None:
        return f"{rounds}, ended {day(line.ended_at)}"
    if line.stopped:
        return f"{rounds}, ended by hand, open positions are still tracked"
    if line.played == line.rounds:
        return f"{rounds}, open positions are still tracked"
    return f"{rounds}, paused" if line.paused else rounds


def lead(rows: Sequence[Row]) -> str:
    """What the leaderboard says so far, and what it can't say: one honest paragraph in Markdown."""
    players = [row for row in rows if row.kind != MARKET]
    resolved = [row for row in players if row.skill is not None]
    if not resolved:
        return "No market has resolved yet, so nobody can be ranked: figures come with the first results."
    forecasts = sum(row.forecasts for row in players)
    events = max(row.events for row in players)
    said = f"**{count(forecasts, 'forecast')}** on **{count(events, 'event')}** have resolved so far. "
    return f"{said}{_leader(resolved)} {CAUTION}"


def _leader(resolved: Sequence[Row]) -> str:
    best = max(row.skill or 0.0 for row in resolved)
    if best <= 0:
        return "Nobody beats the market's price."
    first = [row for row in resolved if row.skill == best]
    names = _listed([_named(row) for row in first])
    verb = "leads" if len(first) == 1 else "lead together"
    words = f"In skill, {names} {verb}: {best:.4f} Brier points better than the price on the same forecasts."
    models = [row for row in resolved if row.kind == "llm"]
    if models and not any(row.kind == "llm" for row in first):
        model = max(models, key=lambda row: row.skill or 0.0)
        words += f" Of the language models, {code(model.agent)} is ahead with {model.skill:+.4f}."
    return words


def _named(row: Row) -> str:
    return (
        f"{code(row.agent)} (which is told the truth, with noise)"
        if row.kind == "oracle"
        else code(row.agent)
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def stamps(lines: Iterable[CohortLine]) -> list[str]:
    """What has to be said first of cohorts that were not played live."""
    found = {line.stamp for line in lines}
    return [text for stamp, text in STAMPS.items() if stamp in found]
