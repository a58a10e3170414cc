"""Finds what only a later page has: rows of tables, headings of results, months told as over. Pure."""

import re
from datetime import datetime

from agents.audit_foreign import OPEN as OPEN_ABROAD
from agents.audit_threshold import without_accents
from agents.audit_words import CLAUSE, COMING, EARLIER, OPEN, PAST, finds_any
from agents.written_dates import MONTHS, WrittenDate

_FIGURE = r"[$€£]?(?:\d{1,3}(?:[,.]\d{3})+(?:[.,]\d+)?|\d+[.,]\d+|\d{3,})"
ROW = re.compile(
    rf",? {_FIGURE}\s?%|\s?\|[^|]{{0,20}}?{_FIGURE}|\W{{0,2}}(?:[:|]"
    rf"|[—–-]\s)[^.;|]{{0,12}}?{_FIGURE}[^;]*?{_FIGURE}"
)
"""What stands behind the day of a row in a table of figures."""
ENTRY = re.compile(
    r"\W{0,2}(?:[:|]|[—–-]\s)[^.]{0,80}?\b(?:now|first public|general availability|introduc\w+|available"
    r"|added|fixed|removed|released|launched|shipped"
    r"|success|failure|passed|rejected|adopted|won|lost|closed|signed)\b",
    re.IGNORECASE,
)
"""What stands behind the day of an entry in a log."""
HEADING = re.compile(
    rf"{_FIGURE}\s?% (?:until|from|since|as of|ab|seit|bis|depuis|desde|dal) $"
    r"|\b(?:announced|available|released|launched|published|closed|signed|decided|adopted): $|"
    r"(?:\b(?:vote date|dates?|chart|results?|actuals?|history|settlements?|closing prices?|box scores?"
    r"|standings"
    r"|roll call|s[eé]ance du|sitzung vom|sesi[oó]n del|seduta del|sess[aã]o de)\W{1,2}"
    r"(?:of (?:the )?|(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?)$",
    re.IGNORECASE,
)
"""What stands before the day of which a page gives the results."""
UNSURE = re.compile(
    r"\b(?:forecasts?|predict\w*|schedul\w+|(?<!-)preview|calendar|due|expected|estimates?|consensus|est\.?"
    r"|outlook|upcoming|tbd|tba|deadline|registration)\b",
    re.IGNORECASE,
)
SOON = 4
"""A month without a year counts as a coming one only this many months ahead."""
_NAMES = "|".join(sorted((name for name in MONTHS if len(name) > 3), key=len, reverse=True))
MONTH = re.compile(
    rf"\b(?:in|im|en|em|early|late|mid|of|since|a|à|au|(?:anfang|ende|mitte|seit)|(?:début|fin|mi)"
    rf"|(?:inizio|fine|metà)"
    rf"|(?:início|fim|meados) de|(?:principios|finales|mediados) de|depuis|desde|da|dopo|tras|após|après"
    rf"|(?:am|diese[mr]|ersten|zweiten|dritten|letzten))[ -](?P<month>{_NAMES})(?:wochenende"
    rf"|tag\w*)?(?! \d|'s?\b| 20\d\d|\w)",
    re.IGNORECASE,
)
_PAST_ABROAD = re.compile(
    r"\b(?:a|ont|s'est|est) [a-zà-ÿ'-]{2,}(?:é|i|u|is|it)e?s?\b|"
    r"\b\w{2,}(?:ó|aron|ieron|ou|aram|eram|iram|éis)\b|\b\w{3,}(?:test|te|ten)\b"
    r"|\b(?:ha|han|hanno|ont|hat|haben|avait|avaient|aveva|avevano|hatten?|había|habían|wurden?|waren?"
    r"|fue|fueron|foi|foram|war)\s\w+",
)
_PLANNED_ABROAD = re.compile(
    r"\b(?:fix|convo[ck]|program|prevu|reporte|repouss|ajourn|fijad|fijo|aplaz|marcad|marcou|adiad"
    r"|angesetzt|verschob"
    r"|anberaumt|fissat|rinviat|convocat|annonce|anunci)\w*|\b(?:para el|pour le|fur den|per il|para o"
    r"|ate|bis|hasta"
    r"|jusqu'au|fino al|avant|antes|vor|prima)\b",
    re.IGNORECASE,
)
"""What says that a day is one that something was planned for."""
_APPOINTED = re.compile(
    r"\b(?:votes?|meetings?|elections?|summits?|hearings?|trials?|release|launch|debut|start|deadline"
    r"|polls?|ballots?|run-?offs?|referendum|talks|conference|decision|review|conclude|begin|end|next|last"
    r"|wahl\w*|elecci\w+|élections?|eleiç\w+|elezion\w+|zum|für|para|pour|per|until|by|for|to|from|of)\b",
    re.IGNORECASE,
)
"""Between a verb and a month: the month is that of a plan, not of what the verb tells."""
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre|tra|fra|k[öo]nnt\w+)\b", re.IGNORECASE)
FEW = 40
"""The most characters between a verb and the month that it is about."""


def is_past_abroad(clause: str) -> bool:
    """Return whether a clause in another language than English tells of something over, and of no plan."""
    bare = without_accents(clause)
    if OPEN_ABROAD.search(bare) or _PLANNED_ABROAD.search(bare):
        return False
    return _PAST_ABROAD.search(clause) is not None


def is_of_results(sentence: str, day: WrittenDate) -> bool:
    """Return whether a page gives the results of a day: in a row, an entry of a log, or under a heading."""
    before = sentence[: day.start]
    after = sentence[day.end :]
    entry = before + after.partition(". ")[0]
    if UNSURE.search(entry) or OPEN.search(entry):
        return False
    if HEADING.search(before):
        return True
    if not day.dated:
        return False
    return ROW.match(after) is not None or ENTRY.match(after) is not None


def tells_coming_month(sentence: str, at: datetime) -> bool:
    """Return whether a sentence tells of a coming month as if it were over.

    >>> tells_coming_month("since the arms gripped it in August", datetime(2026, 7, 1))
    True
    """
    for match in MONTH.finditer(sentence):
        months_ahead = (MONTHS[match["month"].casefold()] - at.month) % 12
        if not 0 < months_ahead <= SOON:
            continue

        clause_start = 0
        for cut in CLAUSE.finditer(sentence, 0, match.start()):
            clause_start = cut.end()
        next_cut = CLAUSE.search(sentence, match.end())
        clause = sentence[clause_start : next_cut.start() if next_cut else len(sentence)]

        if finds_any((COMING, OPEN, EARLIER, UNSURE, _BETWEEN), clause):
            continue
        if OPEN_ABROAD.search(without_accents(clause)):
            continue

        past_verbs = [
            *PAST.finditer(sentence, clause_start, match.start()),
            *_PAST_ABROAD.finditer(sentence, clause_start, match.start()),
        ]
        if not past_verbs:
            continue

        verb_end = max(verb.end() for verb in past_verbs)
        is_near = match.start() - verb_end <= FEW
        if is_near and not _APPOINTED.search(sentence, verb_end, match.start()):
            return True
    return False
