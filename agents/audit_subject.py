"""What a question is about, with the patterns of texts that tell how it ended, compiled once. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, permutations

from agents.audit_foreign import BEATEN_BY, VICTORY_OVER
from agents.audit_kinds import PAIRED, Kind, kinds_of
from agents.audit_presumed import any_of, presumed_ways
from agents.audit_threshold import Threshold, threshold_of
from agents.search_terms import WRITTEN

STATISTICS = (
    re.compile(
        r"\b(?:inflation\w*|cpi|pce|hicp|consumer prices|inflacion|inflacao|ipc|verbraucherpreise"
        r"|teuerung)\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:gdp|gross domestic product|economic growth|economy|pib|bip)\b", re.IGNORECASE),
    re.compile(
        r"\b(?:unemploy\w+|jobless(?:ness)?|payrolls?|nfp|jobs|desempleo|paro|desemprego|chomage"
        r"|arbeitslos\w+)\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:retail sales|industrial production|housing starts)\b", re.IGNORECASE),
)
"""Groups of words for one statistic."""
OUT = (
    r"(?:'s| has| is)? (?:now |finally |already )?(?:out|here|live|in beta no more|(?:generally "
    r"|now )?available"
    r"|released|launched|shipped)(?: (?:now|today|everywhere))?(?=[\s,.;:!]|$)"
    r"|(?:,? which)? (?:came|comes) (?:out|along)\b|(?: has| just)? (?:dropped|landed|arrived)\b"
    r"|(?: has| just)? (?:went|gone) (?:live|ga|on sale|generally available)\b|(?: has"
    r"| is)? (?:already )?sold out\b"
    r"|(?:'s)? (?:release notes|system card|changelog|model card|review|hands-on|teardown|benchmarks?)\b"
    r"|(?: (?:was|has been|got|were))? (?:released|launched|rolled out|shipped|unveiled)\b"
    r"| (?:patch|hotfix|update|dlc)(?: v?\d[\d.]*| (?:notes|is (?:live|out)))|: (?:general availability|ga\b)"
    r"|\.\d+\b(?![-.]?(?:rc|beta|alpha|dev|pre))|-stable\b| ?\((?:day-0|new)\b| (?:users?|owners?|buyers?"
    r"|subscribers|weights|endpoint|api)\b"
    r"| (?:scor(?:es|ed)|tops|topped|beats?|outperform(?:s|ed)|handles|costs|runs|feels|writes|works)\b"
)
"""What follows the name of a thing that exists."""
USED = (
    r"(?:using|used|tried|tested|testing|running|ran|runs|(?:switched|moved|migrated"
    r"|upgraded) (?:[\w']+ ){0,4}to|moved (?:over "
    r"|everything )?to"
    r"|migrated to|upgraded to|release notes(?: for)?:?|introducing|meet|powered by|bought|ordered"
    r"|installed"
    r"|(?:picked up|took delivery of|rate-limited on|limits on|bugs? (?:in|with)|problems? with"
    r"|issues? with|thoughts on)"
    r"|based on|built on|(?:i've|i have|we've|we have) had|review of|hands[- ]on with"
    r"|available:?) (?:the |my |an? )?"
)
"""What stands before it."""
QUOTED = r"[\"'`=/]"
"""What stands before the name of a thing in a setting or a path."""
TICKER = re.compile(r"\b[A-Z]{3,5}\b")
PINNED = r"\b(?:from|install|pull|pin(?:ned)?(?: to)?|image:?|model:?|version|bump(?:ed)? to|requires|tag) "
"""What stands before it where a build asks for it."""
_ORDINALS = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
fifteenth sixteenth seventeenth eighteenth nineteenth twentieth
"""
ORDINALS = _ORDINALS.split()
_NUMBERED = re.compile(r"(?P<whose>.*?) ?(?P<what>[A-Z][a-z]+) (?P<number>\d{1,2})")
_PRIZE = re.compile(
    r"\b(?:Prize|Award|Cup|Oscar|Medal|Trophy|Palme|Lion|Bear|Drama|Comedy|Series|Picture|Film|Album|Song"
    r"|Record"
    r"|Actor|Actress|Director|Ballon|Booker|Pulitzer)\b"
)
"""In the name of what is won, and not of who wins it."""
_SCORE_LINE = re.compile(r"\b([A-Z]{2,4}) \d{1,3}\W{1,3}([A-Z]{2,4}) \d{1,3}\b(?!%|[.,]\d)")
_REACHES = re.compile(
    r"\b(?:reach|hit|touch|top|cross|exceed|surpass|break|trade above)\w*\b\D{0,30}?"
    r"(?P<figure>\d[\d,]*(?:\.\d+)?)\s?(?P<unit>k\b)?(?=[^?]*\b(?:by|before|in|during)\b)",
    re.IGNORECASE,
)
DECIDED = frozenset(
    [
        "Act",
        "Bill",
        "Law",
        "Treaty",
        "Measure",
        "Initiative",
        "Referendum",
        "Amendment",
        "Prize",
        "Award",
        "Awards",
    ]
)
"""The last words of names that only what is decided bears."""
_STORM = re.compile(r"(?:Hurricane|Typhoon|Cyclone|(?:Tropical )?Storm) [A-Z]\w+")
_NUMERAL = re.compile(r"[IVX]+|[\d.]+")
_PERIOD = re.compile(
    r"(?<!\d )(?<!before )(?<!by )(?<!until )(?<!end of )\b[A-Z][a-z]{2,8} 20\d\d\b|\bquarter\b"
)
_POINT = re.compile(
    r"\b(?:on|at|ending) (?:the )?(?:\d{1,2}(?::\d\d)?(?: UTC)?(?: on)? ?(?:\d{1,2} )?[A-Z][a-z]+"
    r"|[A-Z][a-z]+ \d{1,2})\b"
)
DEEDS = re.compile(
    r"\b(?:remov|impeach|approv|reject|pass|ratif|confirm|expel|censur|adopt)\w*", re.IGNORECASE
)
"""What is decided by a vote."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about: its text, its kinds, the ways to write each of its names, and its patterns.

    A pattern is None where the question is of another kind. `unique_names` are nobody else's.
    `price_threshold` is the value that a price has to reach at any time; where `is_point`, it is asked at one
    time only. `figure_threshold` is the threshold that figures in texts are held against.
    """

    question: str
    kinds: frozenset[Kind]
    names: Sequence[Sequence[str]]
    unique_names: tuple[str, ...]
    scores: re.Pattern[str] | None
    beaten: re.Pattern[str] | None
    ousted: re.Pattern[str] | None
    labels: re.Pattern[str] | None
    releases: re.Pattern[str] | None
    identifiers: re.Pattern[str] | None
    certain: re.Pattern[str] | None
    past: re.Pattern[str] | None
    statistics: Sequence[re.Pattern[str]]
    deeds: frozenset[str]
    price_threshold: float | None
    is_point: bool
    is_period: bool
    figure_threshold: Threshold | None


def subject_of(question: str, names: Sequence[Sequence[str]]) -> Subject:
    """Return what a question is about, with every pattern that its names go into compiled."""
    kinds = kinds_of(question)
    scores = None
    beaten = None
    labels = None
    ousted = None
    if "contest" in kinds:
        scores = _pattern_of_any(_score_patterns(names))
        labels = _pattern_of_any(_heading_patterns(names))
        beaten = _defeat_pattern(names)
        if not PAIRED.search(question):
            ousted = _elimination_pattern(names)

    releases = None
    identifiers = None
    names = [*names, *_numbered_versions(question, names)]
    spellings = list(chain.from_iterable(names))
    telling = [name for name in spellings if " " in name or any(map(str.isdigit, name))]
    if telling and "release" in kinds:
        called = "|".join(re.escape(name).replace(r"\ ", "[ :@=-]") for name in telling)
        exists = (
            rf"(?<!\w)(?:{called})(?:{OUT})|\b{USED}(?:{called})(?![\w.-])"
            rf"|(?:{QUOTED}|{PINNED})(?:{called})(?![\w.]|-?(?:rc|beta|alpha|dev|pre|nightly))"
        )
        ordinals = "|".join(_ordinal_patterns(telling))
        if ordinals:
            exists += f"|{ordinals}"
        releases = re.compile(exists, re.IGNORECASE)
        identifiers = re.compile(
            rf"(?<!\w)(?:{called})(?:-[a-z]+){{0,2}}(?:-| \()(20\d\d)-?(\d\d)-?(\d\d)(?!\d)", re.IGNORECASE
        )

    certain, past = presumed_ways(question, kinds, names)
    is_of_level = "level" in kinds
    is_point = is_of_level and _POINT.search(question) is not None
    return Subject(
        question,
        kinds,
        names,
        _unique_names(kinds, names),
        scores,
        beaten,
        ousted,
        labels,
        releases,
        identifiers,
        re.compile(certain, re.IGNORECASE) if certain else None,
        re.compile(past, re.IGNORECASE) if past else None,
        [words for words in STATISTICS if words.search(question)],
        frozenset(word[:5].casefold() for word in DEEDS.findall(question)),
        _price_to_reach(question),
        is_point,
        is_of_level and _PERIOD.search(question) is not None and not is_point,
        threshold_of(question, is_point) if is_of_level else None,
    )


def _price_to_reach(question: str) -> float | None:
    """Return the value that a question says a price has to reach by some time, or None without one."""
    match = _REACHES.search(question)
    if match is None:
        return None

    price = float(match["figure"].replace(",", ""))
    if match["unit"]:
        price *= 1_000
    return price


def _numbered_versions(question: str, names: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the names that a question gives a number to, with it: "Godot 4.8", "Steam Deck 2"."""
    number = r"(?P<number>\d+(?:\.\d+)+|\d{1,2}\b(?! [A-Z]))"
    versions = []
    for name in chain.from_iterable(names):
        pattern = rf"{re.escape(name)}(?P<word_between>(?: [A-Z][a-z]+)?) v?{number}"
        match = re.search(pattern, question)
        if match is not None:
            versions.append([f"{name}{match['word_between']} {match['number']}"])
    return versions


def _unique_names(kinds: frozenset[Kind], names: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the names that are nobody else's, so that a text with one is about the question."""
    unique = []
    is_of_product = kinds & {"release", "launch"} and "contest" not in kinds
    for name in chain.from_iterable(names):
        words = name.split()
        last = words[-1]
        is_storm = "disaster" in kinds and _STORM.fullmatch(name) is not None
        if is_storm:
            unique.append(last)

        is_act_or_prize = len(words) > 2 and last in DECIDED
        is_numbered_product = is_of_product and name != last and _NUMERAL.fullmatch(last) is not None
        if is_act_or_prize or is_numbered_product:
            unique.append(name)

    return tuple(unique)


def tickers_of(ways: Sequence[str]) -> list[str]:
    """Return the tickers and abbreviations of at least three letters for what is written in these ways.

    >>> tickers_of(["nvidia"]), tickers_of(["United States"])
    (['NVDA'], ['USA'])
    """
    tickers = []
    for ticker, names in WRITTEN.items():
        usual_name = names[0]
        if len(ticker) > 2 and usual_name in ways:
            tickers.append(ticker)
    return tickers


def is_ticker(word: str, subject: Subject) -> bool:
    """Return whether a word in capitals may be the ticker of what a question names: some of its letters.

    >>> is_ticker("NFLX", subject_of("Will Netflix earn more than $3?", [["Netflix"]]))
    True
    """
    if not subject.kinds & {"level", "deal", "launch", "bankruptcy"}:
        return False
    return any(_is_abbreviation_of(word, way) for ways in subject.names for way in ways)


def _is_abbreviation_of(word: str, name: str) -> bool:
    """Return whether the letters of a word stand in a name in this order, the first one first."""
    if name[:1].upper() != word[0] or len(word) >= len(name):
        return False

    # `in` takes letters from the iterator up to the one that it finds, so their order counts
    letters_left = iter(filter(str.isalpha, name.upper()))
    return all(letter in letters_left for letter in word)


def _ordinal_patterns(names: Sequence[str]) -> list[str]:
    """Return how the thing of a name with a number is counted: "Starship's fourteenth flight"."""
    patterns = []
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None or not match["whose"]:
            continue

        number = int(match["number"])
        if not 0 < number <= len(ORDINALS):
            continue

        ordinal = rf"(?:{ORDINALS[number - 1]}|{match['number']}(?:st|nd|rd|th))"
        whose = re.escape(match["whose"])
        noun = match["what"].lower()
        past_verb = (
            r"(?:broke|end(?:s|ed)|lift|exploded|lost|reached|splashed|landed|fell|was|flew|success|fail)"
        )
        patterns.append(
            rf"(?:{whose}(?:'s?)? {ordinal} (?:\w+ )?{noun}|{ordinal} {whose} {noun}) {past_verb}"
        )
    return patterns


def _pattern_of_any(patterns: Sequence[str]) -> re.Pattern[str] | None:
    """Return a pattern for any of these, or None without any."""
    if not patterns:
        return None
    return re.compile("|".join(patterns))


def _score_patterns(names: Sequence[Sequence[str]]) -> list[str]:
    """Return how two sides stand beside a score each, or around one of both."""
    sides = [any_of(chain.from_iterable(map(team_spellings, ways))) for ways in names]

    patterns = []
    for first, second in permutations(sides, 2):
        patterns.append(rf"(?<!\w)(?:{first}) \d{{1,3}}\W{{1,3}}(?:{second}) \d{{1,3}}(?!\d|%|[.,]\d)")
        patterns.append(rf"(?<!\w)(?:{first}) (?:UD|SD|MD|T?KO\d*|def\.?|d\.|bt) (?:{second})(?!\w)")
        patterns.append(rf"(?<!\w)(?:{first}) \d{{1,3}}\s?[-–:]\s?\d{{1,3}} (?:{second})(?!\w)")
        patterns.append(
            rf"(?<!\w)(?:{first})\s?(?:[-–—]|vs?\.?|gegen"
            rf"|x)\s?(?:{second}):? \d{{1,3}}\s?[-–:]\s?\d{{1,3}}(?!\d)"
        )

    won_it = r"(?:wins?|won|takes?|took) (?:the )?(?:series|final)(?! opener)\b"
    return patterns + [rf"(?<!\w)(?:{side}) {won_it}" for side in sides]


def is_score_line(text: str, names: Sequence[Sequence[str]]) -> bool:
    """Return whether a text has a score each for abbreviations of two different names."""
    for match in _SCORE_LINE.finditer(text):
        first_names = _indices_of_names_abbreviated(match[1], names)
        second_names = _indices_of_names_abbreviated(match[2], names)
        if first_names and second_names and first_names != second_names:
            return True
    return False


def _indices_of_names_abbreviated(word: str, names: Sequence[Sequence[str]]) -> frozenset[int]:
    """Return the places of the names that a word in capitals may be short for."""
    indices = set()
    for index, ways in enumerate(names):
        if any(_is_abbreviation_of(word, way) for way in ways):
            indices.add(index)
    return frozenset(indices)


def _defeat_pattern(names: Sequence[Sequence[str]]) -> re.Pattern[str] | None:
    """Return how one side of a match stands behind the words for its victory, or for its defeat."""
    if not any(names):
        return None

    side = any_of(chain.from_iterable(map(team_spellings, chain.from_iterable(names))))
    return re.compile(rf"(?i:(?:{BEATEN_BY}|{VICTORY_OVER}))(?:'| (?:\w{{1,4}}(?: |'))?)(?:{side})(?!\w)")


def _elimination_pattern(names: Sequence[Sequence[str]]) -> re.Pattern[str] | None:
    """Return a pattern for texts that say one of these is out of a tournament, at any stage."""
    ways = list(chain.from_iterable(names))
    if not ways:
        return None

    last_words = [way.split()[-1] for way in ways]
    called = any_of([*ways, *last_words])
    return re.compile(
        rf"(?<!\w)(?:d\.|def\.?|beats?|upsets?|stuns?|ousts?|eliminates?|(?i:knock(?:s|ed) out|sen(?:ds"
        rf"|t) out"
        rf"|upset|stunned|ousted|eliminated)) (?:\(\d+\) )?(?:[A-Z]\. ?)?(?:{called})(?!\w)"
        rf"|(?<!\w)(?:{called}) (?i:(?:is |are |was |were )?(?:out of|knocked out|eliminated|ousted"
        rf"|beaten|crash(?:es|ed) out"
        rf"|bow(?:s|ed) out|f[ae]ll(?:s)? (?:to|in the)|los(?:es|t) (?:to|in the)|exits?)(?!\w))"
    )


def _heading_patterns(names: Sequence[Sequence[str]]) -> list[str]:
    """Return how one name stands as a heading, and another under it: "Best Film: The Salt Road"."""
    prizes = []
    all_names = []
    for ways in names:
        name = "|".join(map(re.escape, ways))
        all_names.append(name)
        if any(_PRIZE.search(way) for way in ways):
            prizes.append(name)

    with_title_below = [rf"(?:^|[.;|] ?)(?:{name}) ?[:|–—] ?[«\"]? ?[A-Z]" for name in prizes]
    pairs = permutations(all_names, 2)
    return with_title_below + [rf"(?:^|\W)(?:{first}): \"?(?:{second})\b" for first, second in pairs]


def team_spellings(name: str) -> Iterator[str]:
    """Yield how a table of results may call a side.

    >>> sorted(team_spellings("Kansas City Chiefs"))
    ['Chiefs', 'KC', 'KCC', 'Kansas City', 'Kansas City Chiefs']
    >>> sorted(team_spellings("Denver Broncos"))
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
        return
    yield "".join(part[0] for part in town).upper()
    yield "".join(part[0] for part in parts).upper()
