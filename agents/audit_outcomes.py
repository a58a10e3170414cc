"""Tells outcomes that no verb states: scores, tallies, closing values, releases, other languages. Pure.

`agents.audit` knows the verbs by which a question ends. A headline often has none; each rule here looks for
one such form, next to the names of the question.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import permutations

from agents.written_dates import MONTHS

SCORE = re.compile(r"(?<![\d.,$€£(])\d{1,3}(?:\s?[-–:]\s?\d{1,3})?(?![\d.,]*\d|\s?(?:%|percent|bps?\b))")
"""A number that may be one side's score, or both sides' at once."""
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
REGIONS = re.compile(
    r"\b(?:euro|eurostat|eu|uk|brit\w+|german\w*|france|french|ital\w+|spain|spanish|japan\w*|china|chinese"
    r"|canad\w+|austral\w+|india\w*|brazil\w*|mexic\w+|turk\w+|russia\w*|tokyo|ons)\b",
    re.IGNORECASE,
)
TALLY = re.compile(
    r"\b(?:vot(?:ed|es?)|senate|house|congress|parliament|assembly|lawmakers|senators|deputies|passed|adopted"
    r"|approved|rejected|ousted|removed|by)\b[^.;]{0,30}?"
    r"\b\d{1,3}(?:\s?[-–]\s?|\s(?:votes )?to\s)\d{1,3}\b"
    r"|\b(?:yeas?|ayes?|for):? \d{1,3}\b.{0,12}\b(?:nays?|noes|against):? \d{1,3}\b"
    r"|\b(?:with|by|con|por|avec|mit) \d{1,3} (?:votes|votos|voix|stimmen)\b",
    re.IGNORECASE,
)
COUNTED = re.compile(
    r"\b(?:100(?:\.0)?\s?%|all|99(?:\.\d)?\s?%) of (?:the )?(?:precincts|votes?|ballots|districts)\b"
    r"|\ball (?:votes|ballots|precincts) (?:are )?(?:in|counted|reporting)\b",
    re.IGNORECASE,
)
LABEL = re.compile(
    r"^\W*(?:winners?|elected|champions?|results?|passed|signed|resigned|approved|rejected|confirmed|released"
    r"|launched|closed|ousted|convicted|acquitted|guilty|verdict|final result)\s?:\s",
    re.IGNORECASE,
)
SETTLED = re.compile(
    r"\b(?:now (?:a )?law|becomes? law|to the president'?s desk|signed into law|deal (?:has )?closed"
    r"|(?:merger|takeover|deal|acquisition) (?:has )?(?:(?:is )?(?:complete|done|completed)|closed)"
    r"|ceased trading|delisted"
    r"|champions of|after beating|newly elected|incoming (?:mayor|president|governor|prime minister)"
    r"|ousts|ousting of|removes|impeaches|convicts|acquits)\b",
    re.IGNORECASE,
)
RATE_MOVE = re.compile(
    r"[:,–—-]\s?(?:a )?(?:\d+|quarter|half)[- ]?(?:bps?|basis points?|point|percentage point)?[- ]"
    r"(?:cut|hike|reduction|increase|hold)\b",
    re.IGNORECASE,
)
FOREIGN = re.compile(
    r"\b(?:gan[oa]|ganaron|vence|vencio|derrot[oa]|se impuso|campeon(?:es)?|destituy\w+|elegid[oa]"
    r"|destituid[oa]"
    r"|(?:fue|es|resulta|sale) (?:elegid|electo|destituid)\w*|dimite|dimitio|renunci[oa]|aprueba|aprobo"
    r"|rechaz[oa]|recort[oa]|firmo"
    r"|a (?:gagne|remporte|ete elue?|demissionne|adopte|rejete)|remporte|l'emporte|elue?|demissionne|abaisse"
    r"|gewann|gewinnt|siegt|gewahlt|besiegt|zuruckgetreten|tritt zuruck|beschlossen|verabschiedet|senkt"
    r"|venceu|ganhou|eleit[oa]|renunciou|aprovou|cortou"
    r"|ha vinto|vince|eletto|si e dimesso|approva|taglia)(?!\w)",
    re.IGNORECASE,
)
"""How it is said in Spanish, French, German, Portuguese and Italian, without accents."""
FOREIGN_OPEN = re.compile(
    r"\b(?:si|podrian?|puede|pueden|quiere|espera\w*|encuestas?|sondeos?|favorit[oa]s?|candidat[oa]s?|hace"
    r"|pourrait|sondages?|s'il|il y a|konnten?|wenn|falls|umfragen?|vor \w+ jahren|poderia|pesquisas?"
    r"|potrebbe|sondaggi|no|nunca|ne|pas|nicht)(?!\w)",
    re.IGNORECASE,
)
FORESEEN = re.compile(
    r"\b(?:sees?|seen|eyes?|eyed|project\w*|consensus|estimates?|nowcast\w*|ending|previews?|target\w*|bets?)\b",
    re.IGNORECASE,
)
FIGURE = re.compile(r"[+−-]?\d+(?:\.\d+)?\s?(?:%|percent\b|per cent\b|pct\b)|\b\d{2,3},\d{3}\b")
ENDS_PERIOD = re.compile(
    r"\b(?:ends?|ended|finish(?:es|ed)?|clos(?:es|ed)(?: out)?)(?: off)? (?:the )?(?:month of )?"
    r"(?P<period>[a-z]+(?: quarter| half)?)\b.{0,24}\d",
    re.IGNORECASE,
)
QUARTERS = ("first", "second", "third", "fourth")
DATED_NAME = re.compile(r"-(20\d\d)-?(\d\d)-?(\d\d)(?!\d)")
"""The day at the end of a release's identifier."""
OUT = (
    r"(?:'s| has| is)? (?:now |finally )?(?:out|here|live|(?:generally |now )?available|released|launched"
    r"|shipped)(?: (?:now|today|everywhere))?(?=[\s,.;:!]|$)"
    r"|(?:,? which)? (?:came|comes) out\b"
    r"|(?:'s)? (?:release notes|system card|changelog|model card)\b"
    r"|(?: (?:was|has been|got))? (?:released|launched|rolled out|shipped)\b"
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
LONG_NAME = 3
"""A name of so many words is nobody else's."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question is about: its text, and for each of its names the ways in which it is written."""

    question: str
    names: Sequence[Sequence[str]]


def tells_outcome(sentence: str, subject: Subject, named: bool, told: bool, at: datetime) -> bool:
    """Return whether a sentence, without accents, tells how a question ended.

    It has a name of the question where it is `named`; it is `told` to be about the question where it has
    enough of its other words too.
    """
    if _tells_score(sentence, subject) or _tells_release(sentence, subject, at):
        return True
    if FORESEEN.search(sentence):
        return False
    if _tells_statistic(sentence, subject.question, at):
        return True
    if not named:
        return False

    if _ends_period(sentence, subject.question, at):
        return True
    if FOREIGN.search(sentence) and not FOREIGN_OPEN.search(sentence):
        return True
    return _is_settled(sentence, subject, told)


def _is_settled(sentence: str, subject: Subject, told: bool) -> bool:
    """Return whether a sentence has a tally or a label by which such a question is over."""
    told = told or _has_long_name(sentence, subject)
    if TALLY.search(sentence):
        return told or _has_deed(sentence, subject.question)
    forms = (COUNTED, LABEL, SETTLED, RATE_MOVE)
    return told and any(form.search(sentence) for form in forms)


def candidates(text: str, question: str) -> Iterator[int]:
    """Yield where a text may tell the outcome of a question without its names."""
    if CONTEST.search(question):
        yield from (score.start() for score in SCORE.finditer(text))
    for statistic in STATISTICS:
        if statistic.search(question):
            yield from (word.start() for word in statistic.finditer(text))


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


def _tells_score(sentence: str, subject: Subject) -> bool:
    """Return whether two sides that a question names stand beside a score each, or around one of both."""
    if not CONTEST.search(subject.question):
        return False

    sides = []
    for ways in subject.names:
        called = {called for way in ways for called in team_ways(way)}
        longest_first = sorted(called, key=lambda way: (-len(way), way))
        sides.append("|".join(map(re.escape, longest_first)))

    for first, second in permutations(sides, 2):
        each_beside = rf"(?<!\w)(?:{first}) \d{{1,3}}\W{{1,3}}(?:{second}) \d{{1,3}}(?![\d%.])"
        between = rf"(?<!\w)(?:{first}) \d{{1,3}}\s?[-–:]\s?\d{{1,3}} (?:{second})(?!\w)"
        if re.search(f"{each_beside}|{between}", sentence):
            return True
    return False


def _tells_release(sentence: str, subject: Subject, at: datetime) -> bool:
    """Return whether a sentence takes what a question asks about for released."""
    if not RELEASE.search(subject.question):
        return False

    for ways in subject.names:
        telling = [way for way in ways if " " in way or any(map(str.isdigit, way))]
        if not telling:
            continue

        names = "|".join(map(re.escape, telling))
        exists = rf"(?<!\w)(?:{names})(?:{OUT})|\b{USED}(?:{names})(?![\w.-])"
        if re.search(exists, sentence, re.IGNORECASE):
            return True
        for match in re.finditer(rf"(?<!\w)(?:{names})(?=-20\d\d)", sentence, re.IGNORECASE):
            if _is_later(DATED_NAME.match(sentence, match.end()), at):
                return True
    return False


def _is_later(match: re.Match[str] | None, at: datetime) -> bool:
    """Return whether a day that was matched is later than an instant."""
    if match is None:
        return False

    year, month, day = map(int, match.groups())
    try:
        return datetime(year, month, day, tzinfo=UTC) > at
    except ValueError:
        return False


def _ends_period(sentence: str, question: str, at: datetime) -> bool:
    """Return whether a sentence gives a value at the end of the month, or its quarter, that is asked of."""
    match = ENDS_PERIOD.search(sentence)
    if match is None:
        return False

    period = match["period"].casefold()
    months = _months_asked(question, at)
    quarter = period.removesuffix(" quarter")
    if quarter in QUARTERS and period != quarter:
        return any((month - 1) // 3 == QUARTERS.index(quarter) for month in months)
    return MONTHS.get(period.partition(" ")[0], 0) in months


def _months_asked(question: str, at: datetime) -> set[int]:
    """Return the months that a question names: the last one, this one, and those of half a year."""
    months = set()
    for word in re.findall(r"[A-Za-z]{3,}", question):
        month = MONTHS.get(word.casefold(), 0)
        if month and (month - at.month + 1) % 12 <= 7:
            months.add(month)
    return months


def _tells_statistic(sentence: str, question: str, at: datetime) -> bool:
    """Return whether a sentence has the figure of a statistic for the month that is asked of."""
    if not any(words.search(question) and words.search(sentence) for words in STATISTICS):
        return False
    if not FIGURE.search(sentence):
        return False

    elsewhere = {region.casefold() for region in REGIONS.findall(sentence)}
    if elsewhere - {region.casefold() for region in REGIONS.findall(question)}:
        return False
    months = _months_asked(question, at)
    words = re.findall(r"\b[A-Z][a-z]{2,}\b", sentence)
    return any(MONTHS.get(word.casefold(), 0) in months for word in words)


def _has_long_name(sentence: str, subject: Subject) -> bool:
    """Return whether a sentence has a name of the question that can be nobody else's, in full."""
    for ways in subject.names:
        if any(len(way.split()) >= LONG_NAME and way in sentence for way in ways):
            return True
    return False


def _has_deed(sentence: str, question: str) -> bool:
    """Return whether a sentence has a verb of the question, by its stem."""
    stems = (word[:5].casefold() for word in DEEDS.findall(question))
    return any(stem in sentence.casefold() for stem in stems)
