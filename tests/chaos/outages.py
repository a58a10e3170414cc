"""What fails beside the arena while a season is played: its models' provider, and its venue."""

from tests.chaos.simulation import Mishap, Simulation

AWAY_WITH = ("429", "503", "529", "500", "refused-connection", "reset", "html")
"""How a provider that is away answers."""
LONGEST_WITHOUT_MODELS = 200.0
LONGEST_WITHOUT_VENUE = 90.0
"""Seconds for which the provider, and the venue, is away."""


def lose_provider(season: Simulation) -> None:
    """Let every call to a model fail in the same way for a while."""
    seconds = season.chance.uniform(1, LONGEST_WITHOUT_MODELS)
    season.provider.away_until = season.loop.moment + seconds
    season.provider.away_with = season.chance.choice(AWAY_WITH)
    season.note(f"models answer {season.provider.away_with} for {seconds:.1f} s")


def lose_venue(season: Simulation) -> None:
    """Let the venue give no answer for a while."""
    seconds = season.chance.uniform(1, LONGEST_WITHOUT_VENUE)
    season.venue.away_until = season.loop.moment + seconds
    season.note(f"the venue is away for {seconds:.1f} s")


OUTAGES: tuple[Mishap, ...] = (lose_provider, lose_venue)
