"""Tells outcomes that no verb states: scores, tallies, closing values, releases, other languages. Pure.

`agents.audit` knows the verbs by which a question ends. A headline often has none; each rule here looks for
one such form, next to the names of the question.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from agents.audit_aftermath import AHEAD
from agents.audit_foreign import OPEN as OPEN_ABROAD
from agents.audit_foreign import is_match_told, tells_abroad, tells_decision
from agents.audit_kinds import Kind
from agents.audit_presumed import is_presumed
from agents.audit_subject import TICKER, Subject, is_score_line, is_ticker
from agents.audit_threshold import is_of_other_time
from agents.audit_words import OPEN, finds_any
from agents.written_dates import MONTHS

SCORE = re.compile(r"(?<![\d.,$€£(])\d{1,3}(?:\s?[-–:]\s?\d{1,3})?(?![\d.,]*\d|\s?(?:%|percent|bps?\b))")
"""A number that may be one side's score, or both sides' at once."""
REGIONS = re.compile(
    r"\b(?:(?-i:US|U\.S)|american?|labor department|euro|eurostat|eu|uk|brit\w+|german\w*|france|french"
    r"|ital\w+|spain|spanish|japan\w*|china|chinese"
    r"|canad\w+|austral\w+|india\w*|brazil\w*|mexic\w+|turk\w+|russia\w*|tokyo|ons)\b",
    re.IGNORECASE,
)
_COUNTRY = {"brit": "uk", "ons": "uk", "amer": "us", "u.s": "us", "labo": "us"}
"""What stands for a country, by its first letters."""
_COUNT = r"\d{1,3}(?:,\d{3})*"
_SHARE = r"\d{1,3}(?:[.,]\d{1,3})*\s?%?"
TALLY = re.compile(
    r"\b(?:vot(?:ed|es?)|senate|house|congress|parliament|assembly|lawmakers|senators|deputies|passed"
    r"|adopted|backed"
    r"|approved|rejected|ousted|removed|carried|cleared|by)\b[^.;]{0,30}?"
    r"\b\d{1,3}(?:\s?[-–]\s?|\s(?:votes )?to\s)\d{1,3}\b"
    rf"|\b(?:yeas?|ayes?|for|yes|in favou?r|si|oui|ja|sim|dafur)\b:? {_SHARE}.{{0,12}}?"
    rf"\b(?:nays?|noes|no|against|opposed|non|nein|nao|dagegen)\b:? {_SHARE}"
    rf"|\b{_COUNT}(?: \w+){{0,3}} (?:in favou?r|for|yes)\b,?(?: and"
    rf"|;)? (?:with )?{_COUNT}(?: \w+)? (?:against|opposed|no)\b"
    rf"|\b{_COUNT} (?:votos |votes )?a favor|\b(?:with|by|con|por|avec|mit) {_COUNT} (?:votes|votos|voix"
    rf"|stimmen|voti)\b"
    rf"|\b{_COUNT} (?:\w+ )?(?:gegen|contra|contre|a|x|zu) {_COUNT} (?:stimmen|votos|voix|voti)\b"
    rf"|\b{_COUNT} (?:stimmen|votos|voix|voti) (?:gegen|contra|contre|contro|a|zu) {_COUNT}\b"
    r"|\b\d{1,2}\s?[-–]\s?\d{1,2} (?:vote|decision|split|ruling|verdict|majority|(?:to|for|in favou?r of"
    r"|against)\b)"
    r"|\b\d{2}(?:[.,]\d)?\s?% (?:of (?:the )?(?:voters|votes?|shareholders|ballots|members)|voted"
    r"|dos votos|des voix"
    r"|der stimmen|de los votos)\b"
    rf"|\b(?:stimmten|votaron|votaram|votarono|ont vote"
    rf"|hanno votato) (?:a favor\w* )?{_COUNT}\b[^.;]{{0,30}}?"
    rf"\b{_COUNT}(?: \w+){{0,2}} (?:dagegen|en contra|contra|contre|contro)\b"
    rf"|\b{_COUNT}(?: \w+){{0,3}} (?:dafur|a favore?|pour|favorevoli|favorables?)\b[^.;]{{0,12}}?"
    rf"\b{_COUNT}(?: \w+){{0,2}} (?:dagegen|en contra|contra|contre|contro|contrari[oi]?s?)\b",
    re.IGNORECASE,
)
COUNTED = re.compile(
    r"\b(?:100(?:\.0)?\s?%|all|99(?:\.\d)?\s?%) of (?:the )?(?:precincts|votes?|ballots|districts)\b"
    r"|\b(?:all|postal|absentee|100%|99%)(?: of)? ?(?:the )?(?:votes|ballots|precincts)? ?(?:are "
    r"|were )?(?:in|counted|reporting)\b"
    r"|\b\d+ of (?:the )?\d+ seats\b",
    re.IGNORECASE,
)
LABEL = re.compile(
    r"^\W*(?:winners?|elected|champions?|results?|passed|signed|resigned|approved|rejected"
    r"|confirmed|released"
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
    r"[:,] ?[+−-]\s?\d+ ?bps?\b|"
    r"[:,–—-]\s?(?:a )?(?:\d+|quarter|half)[- ]?(?:bps?|basis points?|point|percentage point)?[- ]"
    r"(?:cut|hike|reduction|increase|hold)\b"
    r"|\b\d{1,2}\s?[-–]\s?\d{1,2}\b.{0,12}?(?:[+−-]\s?\d{1,2}\s?bps?\b|to (?:keep|hold|cut|raise|lower"
    r"|leave|ease))"
    r"|\b(?:stands? pat|stood pat|on hold again|holds fire|held fire|stay(?:s|ed) put|skips|skipped)\b",
    re.IGNORECASE,
)
"""A rate that was moved, or left, by those who set it."""
FORESEEN = re.compile(
    r"\b(?:sees?|seen|eyes?|eyed|project\w*|consensus|estimates?|nowcast\w*|ending|previews?|target\w*"
    r"|bets?|puts"
    r"|week ahead|tracking|guidance|guide|outlook|calls? for|so far|to date|on track|on course|heading for"
    r"|month-to-date|strike|strikes|resistance|would-be|what to watch|what to expect|nominees|shortlist)\b",
    re.IGNORECASE,
)
EXPECTATION = re.compile(
    r",? as (?:widely |was )?(?:expected|forecast)|"
    r",? (?:more|less|higher|lower|faster|slower|better|worse|fewer) than (?:\w+ ){0,3}(?:expected"
    r"|forecast|predicted|feared)|"
    r"\s?\([^()]*\b(?:est|exp|consensus|street|forecasts?|fcast|poll|prior|prev|expected"
    r"|estimates?)\b[^()]*\)"
    r"|,? (?:vs\.?|versus|against|compared with) [^;()]{0,30}?\b(?:est|exp|expected|estimates?|consensus"
    r"|forecasts?)\b\.?"
    r"|, (?:est|exp|consensus)\.? (?:of )?[+−$-]?[\d.]+\s?%?",
    re.IGNORECASE,
)
"""What was expected of a figure that stands before it."""
BEATEN = re.compile(
    r"\b(?:beats?|beating|miss(?:ed|es|ing)?|topp?(?:ed|s|ing)|exceed(?:ed|s)|surpass(?:ed|es)"
    r"|(?:f[ae]lls?|c[ao]mes?) (?:in )?(?:short of|below|above|ahead of))\b[^.;]{0,40}?"
    r"\b(?:guidance|estimates?|expectations?|forecasts?|consensus)\b|\bf[ae]lls? short(?: of|$)",
    re.IGNORECASE,
)
REPORTED = re.compile(
    r"\b(?:revenues?|earnings|profits?|eps|deliver\w*|sales|subscribers|report)\b", re.IGNORECASE
)
DEBUT = re.compile(
    r"\b(?:open(?:ed|s)|debut(?:ed|s)|bow(?:ed|s)|start(?:ed|s)) (?:\w+ )?(?:to|with|at) (?:\w+ )?[$€£]\d"
    r"|\b(?:its|the|an?|his|her) (?:\w+ )?[$€£]\d[\d.,]*\s?\w* (?:\w+ )?(?:debut|opening|launch|haul|bow"
    r"|start)\b"
    r"|[$€£]\d[\d.,]*\s?[mbk]? \(new\)|\(new\)[^;]{0,60}[$€£]\d"
    r"|[$€£]\d[\d.,]*\W{1,3}[\d,]+ (?:theat(?:er|re)s|screens|cinemas|locations|salas|salles|kinos)\b"
    r"|\b(?:grossed|raked in|pulled in|hauled in"
    r"|collected) (?:\w+ ){0,2}[$€£]\d",
    re.IGNORECASE,
)
FIGURE = re.compile(
    r"[+−-]?\d[\d.,]*\s?(?:%|percent\b|per cent\b|pct\b|prozent\b|[kmb]n?\b|million|billion|thousand"
    r"|millionen|mio"
    r"|°|degrees\b)|\b\d{2,3},\d{3}\b",
    re.IGNORECASE,
)
PRICE = re.compile(
    r"[$€£]?(?P<figure>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?=k\b))(?P<unit>k\b)?", re.IGNORECASE
)
STANDS_AT = re.compile(
    r"\b(?:hands at|trad(?:es|ed|ing) (?:at|above)|changed hands at|high of|peak(?:ed)? (?:at|of)|touched"
    r"|hit|crossed|topped"
    r"|went (?:through|past|above)|broke (?:through|above)?|above|past|over|beyond|north of"
    r"|(?:rose|climbed|jumped|surged|advanced|soared|rallied|gained)[^.;]{0,30} to)"
    r" (?:about |around |nearly |a (?:new |fresh )?(?:record|high|peak) (?:of )?)?$",
    re.IGNORECASE,
)
"""What stands before the price of a thing, and says that it got there."""
ENDS_PERIOD = re.compile(
    r"\b(?:ends?|ended|finish(?:es|ed)?|clos(?:es|ed)(?: out)?|opens?|opened|settled|wrap(?:s|ped) up"
    r"|began|begins"
    r"|round(?:s|ed) off)(?: off)? (?:the )?(?:month of |final day of |last (?:trading |full )?day of )?"
    r"(?P<period>[a-z]+(?: quarter| half)?)\b.{0,24}\d"
    r"|\d.{0,40}\b(?:last|final) (?:trading |full )?day of (?P<last>[a-z]+)\b"
    r"|\b(?:last|final) (?:trading |full )?day of (?P<final>[a-z]+)\b.{0,24}\d",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"(?<![\w/-])\d[\d.,]*(?![\d/-])(?! (?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december))(?<!20\d\d)",
    re.IGNORECASE,
)
ROW = re.compile(r"\b(?P<month>[A-Z][a-z]{2,8})\.?(?: 20\d\d)?:? [+−-]?\d{1,3}[.,]\d{1,2}(?![\d.,]\d)")
"""A month and its figure, as tables have them."""
SURVEYED = re.compile(r"\b(?:median|surveyed|polled|estimates from|forecasters)\b", re.IGNORECASE)
"""What says that a figure is one of many forecasts."""
LARGEST_PRICE = 1.5
"""A price of more than so many times what is asked is that of something else."""
UNRELEASED = re.compile(
    r"\b(?:if|unless|whether|when|once|will|would|could|(?-i:may)|might|should|expect\w*|rumou?r\w*"
    r"|likely|wants?|hop(?:e|es|ing)"
    r"|wait\w*|leak\w*|supposed|reportedly|reported to|string|mention(?:s|ed|ing)|spotted|as soon as"
    r"|internal\w*|red-teaming|training|testers?|not yet"
    r"|yet to|know"
    r"|upcoming|coming|soon|bets?|previews?|isn't|not)\b",
    re.IGNORECASE,
)
"""What says that a thing isn't there yet."""
QUARTERS = ("first", "second", "third", "fourth")
LONG_NAME = 3
"""A name of so many words is nobody else's."""


def tells_outcome(
    sentence: str, subject: Subject, is_named: bool, is_about_question: bool, at: datetime
) -> bool:
    """Return whether a sentence, without accents, tells how a question ended.

    `is_named` is whether it has a name of the question, `is_about_question` whether it has enough of the
    question's other words too.
    """
    if _has_score(sentence, subject):
        return True
    if is_named and _has_figure_beside_expectation(sentence, subject, is_about_question, at):
        return True
    sentence = EXPECTATION.sub("", sentence)
    if _has_statistic_of_month(sentence, subject, is_about_question, at):
        return True
    if FORESEEN.search(sentence):
        return False
    if not is_named:
        return False

    if _has_value_at_period_end(sentence, subject.question, at) or _has_price_reached(
        sentence, subject.price_threshold
    ):
        return True
    if tells_abroad(sentence, _kinds_of_sentence(sentence, subject)) or (
        is_about_question and _is_decided(sentence, subject)
    ):
        return True
    return _has_tally_or_label(sentence, subject, is_about_question)


def _has_score(sentence: str, subject: Subject) -> bool:
    """Return whether a sentence has a score of each of two sides that a question names."""
    if subject.scores is not None and subject.scores.search(sentence):
        return True
    return "contest" in subject.kinds and is_score_line(sentence, subject.names)


def _is_decided(sentence: str, subject: Subject) -> bool:
    """Return whether a sentence has a decision as a noun, or one side of a match behind its defeat."""
    if "vote" in subject.kinds and tells_decision(sentence):
        return True

    names_beaten_side = subject.beaten is not None and subject.beaten.search(sentence) is not None
    return names_beaten_side and is_match_told(sentence)


def _kinds_of_sentence(sentence: str, subject: Subject) -> frozenset[Kind]:
    """Return the kinds of a question that a verb can end: not by a level of another time, or of any day."""
    if subject.is_point or (
        subject.figure_threshold is not None and is_of_other_time(sentence, subject.figure_threshold)
    ):
        return subject.kinds - {"level"}
    return subject.kinds


def _has_figure_beside_expectation(
    sentence: str, subject: Subject, is_about_question: bool, at: datetime
) -> bool:
    """Return whether a sentence has the figure that a question asks of beside what was expected of it."""
    if "level" not in subject.kinds:
        return False
    if is_of_other_period(sentence, subject.question, at) or is_elsewhere(sentence, subject.question):
        return False

    expectation = EXPECTATION.search(sentence)
    if is_about_question and expectation is not None:
        before = sentence[: expectation.start()]
        if FIGURE.search(before) and not FORESEEN.search(before):
            return True

    if DEBUT.search(sentence) and not FORESEEN.search(sentence):
        return True
    return bool(REPORTED.search(subject.question) and BEATEN.search(sentence))


def is_of_other_period(sentence: str, question: str, at: datetime) -> bool:
    """Return whether a sentence names a month or a quarter, and none that a question asks of."""
    months = _months_named(sentence)
    if months and months.isdisjoint(_months_asked(question, at)):
        return True

    quarter = r"\bQ[1-4]\b|\b(?:first|second|third|fourth) quarter"
    quarters = set(map(_quarter_number, re.findall(quarter, sentence, re.IGNORECASE)))
    quarters_asked = set(map(_quarter_number, re.findall(quarter, question, re.IGNORECASE)))
    return bool(quarters and quarters_asked) and quarters.isdisjoint(quarters_asked)


def _quarter_number(text: str) -> int:
    """Return the number of a quarter written as Q2 or as second quarter."""
    digit = text[1:]
    if digit.isdigit():
        return int(digit)

    ordinal = text.split(maxsplit=1)[0].casefold()
    return 1 + QUARTERS.index(ordinal)


def _has_price_reached(sentence: str, threshold: float | None) -> bool:
    """Return whether a sentence has a price that is as high as the one that was to be reached."""
    if threshold is None:
        return False

    for match in PRICE.finditer(sentence):
        price = float(match["figure"].replace(",", ""))
        if match["unit"]:
            price *= 1_000

        # far above the threshold it is the price of something else
        is_of_same_thing = threshold <= price <= threshold * LARGEST_PRICE
        if is_of_same_thing and STANDS_AT.search(sentence[: match.start()]):
            return True
    return False


def tells_presumed(sentence: str, subject: Subject) -> bool:
    """Return whether a sentence takes for granted how a question ended."""
    if is_presumed(subject.certain, sentence, subject.question):
        return True
    if OPEN_ABROAD.search(sentence):
        return False
    return is_presumed(subject.past, sentence, subject.question, OPEN)


def _has_tally_or_label(sentence: str, subject: Subject, is_about_question: bool) -> bool:
    """Return whether a sentence has a tally or a label by which such a question is over."""
    if subject.labels is not None and subject.labels.search(sentence):
        return True
    if "rate" in subject.kinds and RATE_MOVE.search(sentence):
        return True
    if OPEN_ABROAD.search(sentence):
        return False

    names_question = is_about_question or _has_long_name(sentence, subject)
    if TALLY.search(sentence):
        small = sentence.casefold()
        return names_question or any(stem in small for stem in subject.deeds)
    return names_question and finds_any((COUNTED, LABEL, SETTLED), sentence)


def candidates(text: str, subject: Subject) -> Iterator[int]:
    """Yield where a text may tell the outcome of a question without its names."""
    if "contest" in subject.kinds:
        for score in SCORE.finditer(text):
            yield score.start()

    for statistic in subject.statistics:
        for word in statistic.finditer(text):
            yield word.start()

    for word in TICKER.finditer(text):
        if is_ticker(word[0], subject):
            yield word.start()


def tells_release(sentence: str, subject: Subject, at: datetime) -> bool:
    """Return whether a sentence takes what a question asks about for released."""
    if subject.releases is None or subject.identifiers is None:
        return False
    match = subject.releases.search(sentence)
    if match is not None and not UNRELEASED.search(sentence):
        return True
    return any(_is_day_after(match, at) for match in subject.identifiers.finditer(sentence))


def _is_day_after(match: re.Match[str], at: datetime) -> bool:
    """Return whether the day that was matched is later than an instant."""
    year, month, day = map(int, match.groups())
    try:
        return datetime(year, month, day, tzinfo=UTC) > at
    except ValueError:
        return False


def _has_value_at_period_end(sentence: str, question: str, at: datetime) -> bool:
    """Return whether a sentence gives a value at the end of the month, or its quarter, that is asked of."""
    match = ENDS_PERIOD.search(sentence)
    if match is None:
        return False

    period = (match["period"] or match["last"] or match["final"]).casefold()
    months_asked = _months_asked(question, at)
    ordinal = period.removesuffix(" quarter")
    is_quarter = period != ordinal
    if is_quarter and ordinal in QUARTERS:
        quarter = QUARTERS.index(ordinal)
        return any((month - 1) // 3 == quarter for month in months_asked)

    if period == "year":
        return 12 in months_asked
    return MONTHS.get(period.partition(" ")[0], 0) in months_asked


def _months_named(sentence: str) -> set[int]:
    """Return the months that a sentence names with a capital letter."""
    capitalized = re.findall(r"\b[A-Z][A-Za-z]{2,}\b", sentence)
    return {MONTHS.get(word.casefold(), 0) for word in capitalized} - {0}


def _months_asked(question: str, at: datetime) -> set[int]:
    """Return the months that a question names: the last one, this one, and those of half a year."""
    months = set()
    for word in re.findall(r"[A-Za-z]{3,}", question):
        month = MONTHS.get(word.casefold(), 0)
        months_after_last = (month - at.month + 1) % 12
        if month and months_after_last <= 7:
            months.add(month)
    return months


def _country_codes(text: str) -> set[str]:
    """Return the countries that a text names, by the first letters of their words."""
    beginnings = {region.casefold()[:4] for region in REGIONS.findall(text)}
    return {_COUNTRY.get(beginning, beginning) for beginning in beginnings}


def is_elsewhere(text: str, question: str) -> bool:
    """Return whether a text names a country that a question does not."""
    return bool(_country_codes(text) - _country_codes(question))


def _has_statistic_of_month(sentence: str, subject: Subject, is_about_question: bool, at: datetime) -> bool:
    """Return whether a sentence has the figure of a statistic for the month that is asked of."""
    names_statistic = finds_any(subject.statistics, sentence)
    if not names_statistic and not (is_about_question and subject.is_period):
        return False
    if is_elsewhere(sentence, subject.question) or SURVEYED.search(sentence):
        return False

    months = _months_asked(subject.question, at)
    # a row of a table: "May 3.2, Jun 3.1"
    has_row = any(MONTHS.get(row["month"].casefold(), 0) in months for row in ROW.finditer(sentence))
    if names_statistic and has_row and not FORESEEN.search(sentence):
        return True

    figure_pattern = FIGURE if names_statistic else NUMBER
    figure = figure_pattern.search(sentence)
    if figure is None or FORESEEN.search(sentence, 0, figure.start()):
        return False
    if not names_statistic and AHEAD.search(sentence):
        return False

    return not months.isdisjoint(_months_named(sentence))


def _has_long_name(sentence: str, subject: Subject) -> bool:
    """Return whether a sentence has a name of the question that can be nobody else's, in full."""
    for ways in subject.names:
        if any(len(way.split()) >= LONG_NAME and way in sentence for way in ways):
            return True
    return False
