"""A kind of agent that answers questions of every kind without any model."""

from pathlib import Path

ANSWERING = '''\
"""States what nothing but the question says."""

from arena.extend import Agent, Ask, Decision, Forecast, Given, KindSettings, View
from markets.distributions import form_of, question_kind


class Settings(KindSettings):
    """Nothing to set."""


def agent(settings: Settings, given: Given) -> Agent:
    async def decide(view: View, ask: Ask) -> Decision:
        forecasts = []
        for listing in view.snapshot.shown:
            form = form_of(listing.market.form)
            if form.kind == "yes_no":
                forecasts.append(Forecast(listing.market.id, 0.6))
                continue
            answer = question_kind(form.kind).uniform(form)
            forecasts.append(Forecast(listing.market.id, distribution=answer.text))
        return Decision(tuple(forecasts))

    return decide
'''


def write_answering(folder: Path) -> None:
    """Write the kind beside a config."""
    (folder / "extensions" / "kinds").mkdir(parents=True)
    (folder / "extensions" / "kinds" / "answering.py").write_text(ANSWERING, "utf-8")
