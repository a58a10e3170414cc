"""The words that pages use, and what they mean."""

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from markupsafe import Markup

from dashboard.html import box, meanings
from dashboard.pages import put
from dashboard.record import RecordSource

TITLE = "Glossary"
NEEDS_A_COHORT = False
ORDER = None
WORDS = Path(__file__).parents[1] / "assets" / "glossary.toml"


def show(_record: RecordSource) -> None:
    """Show the page."""
    put(glossary(words()), "glossary")


@lru_cache(maxsize=1)
def words() -> Mapping[str, str]:
    """Return what each word means, in the order of the alphabet."""
    found: dict[str, str] = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    return found


def glossary(known: Mapping[str, str]) -> Markup:
    """Return all words with what they mean."""
    return box("What the words mean", meanings({word.capitalize(): text for word, text in known.items()}))
