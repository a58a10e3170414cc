"""The words of a question that an article about it is likely to have."""

import re

_PLAIN = """
about above after again all and any are before below between both but can could does during each either
ever every for from get had has have hit how into its last least less made make many more most much next
not off once one only other out over per reach same than that the their them then there these they this
those through under until was what when where which while who whom whose will win with within would yes
january february march april may june july august september october november december jan feb mar apr jun
jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday day days week weeks
month months year years end start by
"""
PLAIN = frozenset(_PLAIN.split())
"""Words that any question may have."""
SHORTEST = 3
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """The words of a text, as they stand.

    >>> words("Will it rain in São Paulo?")
    ['Will', 'it', 'rain', 'in', 'São', 'Paulo']
    """
    return _WORD.findall(text)


def letters(text: str) -> str:
    """A name or title without anything that two people might write differently.

    >>> letters("Good Judgment: Open")
    'goodjudgmentopen'
    """
    return "".join(words(text)).casefold()


def keywords(question: str, most: int) -> tuple[str, ...]:
    """The telling words of a question, in small letters, names before others, each once.

    >>> keywords("Will the Fed cut rates before March 31, 2026?", 3)
    ('fed', 'cut', 'rates')
    >>> keywords("Will rain fall on Lisbon in May?", 2)
    ('lisbon', 'rain')
    """
    found = [word for word in words(question) if _tells(word)]
    first = words(question)[:1]
    named = [word for word in found if not word.islower() and [word] != first]
    return tuple(dict.fromkeys(word.casefold() for word in (*named, *found)))[:most]


def _tells(word: str) -> bool:
    return len(word) >= SHORTEST and not word.isdigit() and word.casefold() not in PLAIN
