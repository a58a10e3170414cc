"""The names that extensions import: flat, public, and each in its page's list."""

import arena.extend


def test_every_name_is_listed_once_and_in_order() -> None:
    public = {name for name in vars(arena.extend) if not name.startswith("_")}
    assert public == set(arena.extend.__all__)
    assert sorted(arena.extend.__all__, key=str.casefold) == sorted(
        set(arena.extend.__all__), key=str.casefold
    )


def test_the_same_things_are_meant_by_their_names_in_the_rooms() -> None:
    from agents.evidence import ResearchSettings
    from agents.model import Decision, KindSettings
    from markets.venue import VenueSettings

    assert arena.extend.KindSettings is KindSettings
    assert arena.extend.ResearchSettings is ResearchSettings
    assert arena.extend.VenueSettings is VenueSettings
    assert arena.extend.Decision is Decision
