"""Tells outcomes that no verb states: scores, tallies, closing values, releases, other languages. Pure.

`agents.audit` knows the verbs by which a question ends. A headline often has none; each rule here looks for
one such form, next to the names of the question.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from agents.audit_subject import CONTEST, STATISTICS, Subject
from agents.written_dates import MONTHS

SCORE = re.compile(r"(?<![\d.,$€£(])\d{1,3}(?:\s?[-–:]\s?\d{1,3})?(?![\d.,]*\d|\s?(?:%|percent|bps?\b))")
"""A number that may be one side's score, or both sides' at once."""
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
    r"|ousts|ousting of|removes|impeaches|convicts|acquits|transition team|put (?:their|his|her) names? to"
    r"|wholly owned subsidiary|top prize|stands? pat|concedes|upheld|annulled|turned down)\b",
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
    r"\b(?:ends?|ended|finish(?:es|ed)?|clos(?:es|ed)(?: out)?|opens?)(?: off)? (?:the )?(?:month of )?"
    r"(?P<period>[a-z]+(?: quarter| half)?)\b.{0,24}\d",
    re.IGNORECASE,
)
QUARTERS = ("first", "second", "third", "fourth")
LONG_NAME = 3
"""A name of so many words is nobody else's."""


def tells_outcome(sentence: str, subject: Subject, named: bool, told: bool, at: datetime) -> bool:
    """Return whether a sentence, without accents, tells how a question ended.

    It has a name of the question where it is `named`; it is `told` to be about the question where it has
    enough of its other words too.
    """
    if subject.scores is not None and subject.scores.search(sentence):
        return True
    if _tells_release(sentence, subject, at):
        return True
    if FORESEEN.search(sentence):
        return False
    if _tells_statistic(sentence, subject, at):
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
    if subject.labels is not None and subject.labels.search(sentence):
        return True
    told = told or _has_long_name(sentence, subject)
    if TALLY.search(sentence):
        return told or any(stem in sentence.casefold() for stem in subject.deeds)
    forms = (COUNTED, LABEL, SETTLED, RATE_MOVE)
    return told and any(form.search(sentence) for form in forms)


def candidates(text: str, question: str) -> Iterator[int]:
    """Yield where a text may tell the outcome of a question without its names."""
    if CONTEST.search(question):
        yield from (score.start() for score in SCORE.finditer(text))
    for statistic in STATISTICS:
        if statistic.search(question):
            yield from (word.start() for word in statistic.finditer(text))


def _tells_release(sentence: str, subject: Subject, at: datetime) -> bool:
    """Return whether a sentence takes what a question asks about for released."""
    if subject.releases is None or subject.identifiers is None:
        return False
    if subject.releases.search(sentence):
        return True
    return any(_is_later(match, at) for match in subject.identifiers.finditer(sentence))


def _is_later(match: re.Match[str], at: datetime) -> bool:
    """Return whether the day that was matched is later than an instant."""
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


def _tells_statistic(sentence: str, subject: Subject, at: datetime) -> bool:
    """Return whether a sentence has the figure of a statistic for the month that is asked of."""
    if not any(words.search(sentence) for words in subject.statistics):
        return False
    if not FIGURE.search(sentence):
        return False

    elsewhere = {region.casefold() for region in REGIONS.findall(sentence)}
    if elsewhere - {region.casefold() for region in REGIONS.findall(subject.question)}:
        return False
    months = _months_asked(subject.question, at)
    words = re.findall(r"\b[A-Z][A-Za-z]{2,}\b", sentence)
    return any(MONTHS.get(word.casefold(), 0) in months for word in words)


def _has_long_name(sentence: str, subject: Subject) -> bool:
    """Return whether a sentence has a name of the question that can be nobody else's, in full."""
    for ways in subject.names:
        if any(len(way.split()) >= LONG_NAME and way in sentence for way in ways):
            return True
    return False
