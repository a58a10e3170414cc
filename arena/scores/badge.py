"""A badge with the verdict on an agent or a forecaster, in the format of shields.io."""

import json

from arena.scores.verdict import AgentVerdict

GREY = "lightgrey"


def badge_words(
    verdict: AgentVerdict | None, why_not: str | None, copied_agent: str | None
) -> tuple[str, str]:
    """Return the verdict in a few words, never just a rank, and a colour.

    `why_not` is why it is not ranked, and `copied_agent` whom it copies, if it does.
    """
    if why_not is not None:
        return f"not ranked: {why_not}", GREY
    if copied_agent is not None:
        return f"copies {copied_agent}", GREY
    if verdict is None:
        return "too early", GREY
    if verdict.better_than:
        return f"better than {verdict.better_text}", "brightgreen"
    if verdict.worse_than:
        return f"ranks {verdict.rank_text} of {verdict.entries}", "blue"
    if verdict.price in ("better", "worse"):
        return f"{verdict.price} than the price", "blue"
    return "too early", GREY


def badge_json(label: str, message: str, color: str) -> str:
    """Return a badge as JSON."""
    data = {"schemaVersion": 1, "label": label, "message": message, "color": color}
    return json.dumps(data, ensure_ascii=False) + "\n"
