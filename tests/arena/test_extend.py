"""The names that extensions import: flat, public, and each in its page's list."""

import arena.extend
from arena.extend import KindSettings


def test_every_name_is_listed_once_and_in_order() -> None:
    public = {name for name in vars(arena.extend) if not name.startswith("_")}
    assert public == set(arena.extend.__all__)
    assert sorted(arena.extend.__all__, key=str.casefold) == sorted(
        set(arena.extend.__all__), key=str.casefold
    )


def test_the_same_things_are_meant_by_their_former_names() -> None:
    from agents.model import Decision, Settings

    assert KindSettings is Settings
    assert arena.extend.Decision is Decision
