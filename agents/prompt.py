"""From what an agent sees to what its model is asked: a template filled in, and nothing else."""

from collections.abc import Sequence
from dataclasses import replace

from agents.facts import Sight, facts, long_texts, short_ids
from agents.model import Forecast, Message, Prompt, Stage, View
from agents.template import BadTemplate, compiled
from agents.trim import TooLong, fitted
from agents.wording import Part

__all__ = ["BadTemplate", "Part", "TooLong", "render", "short_ids"]


def render(
    text: str,
    view: View,
    *,
    prices: bool = True,
    stage: Stage = "final",
    before: Sequence[Forecast] = (),
    system: str | None = None,
    part: Part | None = None,
    tokens: int | None = None,
) -> Prompt:
    """The template filled in with a view. `before` are forecasts made without prices, to be shown again.

    A template has a block `user` and, if it wants one, a block `system`; one without blocks is
    the user's message as it stands. A `system` template takes the place of that block. With a `part`
    only its markets are asked about. Long texts are cut evenly until all fits in so many `tokens`.
    Raises `BadTemplate`, and `TooLong` where nothing is left to cut.
    """
    user = compiled(text)
    head = user if system is None else compiled(system)
    sight = Sight(view, prices, before, part, "evidence" in user.names | head.names)

    def messages(longest: int | None) -> tuple[Message, ...]:
        known = facts(replace(sight, longest=longest))
        opening = head.filled("system", known) if system is not None or "system" in user.blocks else ""
        asked = Message("user", user.filled("user", known))
        return (Message("system", opening), asked) if opening else (asked,)

    texts = () if tokens is None else tuple(long_texts(sight))
    bets = user.answer == "decision" and stage != "blind"
    return Prompt(fitted(messages, texts, tokens), view.seed, stage, bets=bets)
