"""What a question is about, with the patterns of texts that tell how it ended, compiled once. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

CONTEST = re.compile(r"\b(?:wins?|beats?|defeats?|champions?|finals?|vs?|match|game|series)\b", re.IGNORECASE)
RELEASE = re.compile(
    r"\b(?:releas\w+|launch\w*|announce\w*|unveil\w*|ships?|publish\w*|debut\w*)\b", re.IGNORECASE
)
STATISTICS = (
    re.compile(r"\b(?:inflation|cpi|pce|consumer prices)\b", re.IGNORECASE),
    re.compile(r"\b(?:gdp|gross domestic product|economic growth|economy)\b", re.IGNORECASE),
    re.compile(r"\b(?:unemployment|jobless(?:ness)?|payrolls?|jobs)\b", re.IGNORECASE),
    re.compile(r"\b(?:retail sales|industrial production|housing starts)\b", re.IGNORECASE),
)
"""Groups of words for one statistic."""
OUT = (
    r"(?:'s| has| is)? (?:now |finally )?(?:out|here|live|(?:generally |now )?available|released|launched"
    r"|shipped)(?: (?:now|today|everywhere))?(?=[\s,.;:!]|$)"
    r"|(?:,? which)? (?:came|comes) out\b"
    r"|(?:'s)? (?:release notes|system card|changelog|model card)\b"
    r"|(?: (?:was|has been|got))? (?:released|launched|rolled out|shipped)\b"
    r"|\.\d|-stable\b| \(day-0 support"
)
"""What follows the name of a thing that exists."""
USED = (
    r"(?:using|used|tried|tested|running|switched to|migrated to|upgraded to|release notes(?: for)?:?"
    r"|introducing) "
)
"""What stands before it."""
DEEDS = re.compile(
    r"\b(?:remov|impeach|approv|reject|pass|ratif|confirm|expel|censur|adopt)\w*", re.IGNORECASE
)
"""What is decided by a vote."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about: its text, the ways in which each of its names is written, and its patterns.

    A pattern is None where the question is of another kind.
    """

    question: str
    names: Sequence[Sequence[str]]
    scores: re.Pattern[str] | None
    labels: re.Pattern[str] | None
    releases: re.Pattern[str] | None
    identifiers: re.Pattern[str] | None
    statistics: Sequence[re.Pattern[str]]
    deeds: frozenset[str]


def subject_of(question: str, names: Sequence[Sequence[str]]) -> Subject:
    """Return what a question is about, with every pattern that its names go into compiled."""
    scores = None
    labels = None
    if CONTEST.search(question):
        scores = _one_of(_score_ways(names))
        labels = _one_of(_label_ways(names))

    releases = None
    identifiers = None
    telling = [way for ways in names for way in ways if " " in way or any(map(str.isdigit, way))]
    if telling and RELEASE.search(question):
        called = "|".join(map(re.escape, telling))
        releases = re.compile(rf"(?<!\w)(?:{called})(?:{OUT})|\b{USED}(?:{called})(?![\w.-])", re.IGNORECASE)
        identifiers = re.compile(rf"(?<!\w)(?:{called})-(20\d\d)-?(\d\d)-?(\d\d)(?!\d)", re.IGNORECASE)

    statistics = [words for words in STATISTICS if words.search(question)]
    deeds = frozenset(word[:5].casefold() for word in DEEDS.findall(question))
    return Subject(question, names, scores, labels, releases, identifiers, statistics, deeds)


def _one_of(ways: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern for any of these; None where there are none."""
    if not ways:
        return None
    return re.compile("|".join(ways))


def _score_ways(names: Sequence[Sequence[str]]) -> list[str]:
    """Return how two sides stand beside a score each, or around one of both."""
    sides = []
    for ways in names:
        called = {called for way in ways for called in team_ways(way)}
        longest_first = sorted(called, key=lambda way: (-len(way), way))
        sides.append("|".join(map(re.escape, longest_first)))

    scores = []
    for first, second in permutations(sides, 2):
        scores.append(rf"(?<!\w)(?:{first}) \d{{1,3}}\W{{1,3}}(?:{second}) \d{{1,3}}(?![\d%.])")
        scores.append(rf"(?<!\w)(?:{first}) \d{{1,3}}\s?[-–:]\s?\d{{1,3}} (?:{second})(?!\w)")
    return scores


def _label_ways(names: Sequence[Sequence[str]]) -> list[str]:
    """Return how one name stands as a heading, and another under it: "Best Film: The Salt Road"."""
    called = ["|".join(map(re.escape, ways)) for ways in names]
    pairs = permutations(called, 2)
    return [rf"(?:^|\W)(?:{first}): \"?(?:{second})\b" for first, second in pairs]


def team_ways(name: str) -> Iterator[str]:
    """Yield how a table of results may call a side.

    >>> sorted(team_ways("Kansas City Chiefs"))
    ['Chiefs', 'KC', 'Kansas City', 'Kansas City Chiefs']
    >>> sorted(team_ways("Denver Broncos"))
    ['Broncos', 'DEN', 'Denver', 'Denver Broncos']
    """
    yield name
    parts = name.split()
    if len(parts) == 1:
        yield name[:3].upper()
        return

    town = parts[:-1]
    yield parts[-1]
    yield " ".join(town)
    if len(town) == 1:
        yield town[0][:3].upper()
    else:
        yield "".join(part[0] for part in town).upper()
