"""A badge with the verdict on an agent or a forecaster, in the format of shields.io."""

import json

from arena.scores.verdict import AgentVerdict

GREY = "lightgrey"


def badge_words(told: AgentVerdict | None, why_not: str | None, copies: str | None) -> tuple[str, str]:
    """Return the verdict in a few words, never just a rank, and a colour.

    `why_not` is why it is not ranked, and `copies` whom it copies, if it does.
    """
    if why_not is not None:
        return f"not ranked: {why_not}", GREY
    if copies is not None:
        return f"copies {copies}", GREY
    if told is None:
        return "too early", GREY
    if told.better_than:
        return f"better than {told.better_text}", "brightgreen"
    if told.worse_than:
        return f"ranks {told.rank_text} of {told.entries}", "blue"
    if told.price in ("better", "worse"):
        return f"{told.price} than the price", "blue"
    return "too early", GREY


def badge_json(label: str, message: str, color: str) -> str:
    """Return a badge as JSON."""
    data = {"schemaVersion": 1, "label": label, "message": message, "color": color}
    return json.dumps(data, ensure_ascii=False) + "\n"
