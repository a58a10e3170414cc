"""Whether a text tells what could not be known when agents decide, by rules over its own words. Pure.

A date of publishing can be wrong, and so can a search that goes by it. So each sentence of a text, its title
and its address are judged by themselves: by days later than the decision, unless they are only to come; by
words that say how the question ended, unless they speak of earlier times or of what may be; and by prices of
bets. The sentence that gave the verdict is kept with it, and judged again it gives the same.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain, islice
from operator import itemgetter
from typing import Literal

from agents.search_terms import COMMON, JOINING, SHORTEST, Kind, search_terms
from agents.written_dates import MONTHS, WrittenDate, written_dates

Verdict = Literal["clean", "dated later", "answer", "odds", "unsure"]
VERDICTS: tuple[Verdict, ...] = ("odds", "dated later", "answer", "unsure")
"""Those of suspects, the worst first."""
RULES = 1
"""The version of these rules: a verdict is recomputed only by the rules that gave it."""
Place = Literal["title", "text", "url"]
LONGEST = 400
"""A sentence has at most so many characters; of a longer one each piece is judged."""
SOON = timedelta(days=120)
"""A day without a year is taken for one to come only if it is so near."""
MOST_JUDGED = 100_000
"""So many characters of a text are judged: five times what any agent is shown of one."""
NEAR = 80
"""A figure within so many characters of a market's name, or of a word for bets, is taken for its price."""
MOST_ENDS = 5
"""So many words that may say how a question ended are looked at in a sentence."""
MOST_TERMS, STEM = 12, 5
"""So many terms of a question are looked for, and of a word at least so many letters."""
OVERLAP = 100
FEW_LETTERS, FEW_WORDS = 25, 4
COMING_MONTHS = 3
"""A month without a year is over, unless it is this one or one of the next."""
_FIGURES = re.compile(
    r"(?:\d+(?:\.\d+)?\s?(?:%|percent|per cent|pct|cents?|¢|points?)"
    r"|(?<!\d)\d{1,3}(?:[/–-]|\s(?:to|in)\s|-(?:to|in)-)\d{1,3}|[+−-]\d{3,}|0?\.\d+|\d+\.\d\d?|one in \w+)"
    r"(?!\d|\s?(?:[bmt]n|[mbtr]+illion|thousand)\b)",
    re.IGNORECASE,
)
_PRICED_AT = re.compile(
    r"\b(?:polymarket|kalshi|predictit|(?:on|by) manifold\b"
    r"|manifold (?:markets?|has|gives|puts|sees|traders|users)|metaculus|betfair|smarkets|fedwatch|bet365"
    r"|betmgm|draftkings|fanduel|ladbrokes|paddy power|william hill|prediction markets?|betting|bettors?"
    r"|punters?|bookmakers?|bookies|oddsmakers?|sportsbooks?|moneyline|odds|implied probability"
    r"|traders? (?:see|price|put|give)|(?:swaps?|futures|options) (?:imply|price in|put|give))\b"
)
_STAMP = re.compile(
    r"\b(?:(?P<far>(?:last|latest) (?:updated?|modified|edited|revised|reviewed|changed?)|updated?:|updated"
    r"|modified|edited|editor's note|aktualisiert|mis à jour|actualizad[oa]|aggiornato)|amended|revised"
    r"|reviewed|corrected|correction|re-?published|published|posted|issued|retrieved|accessed"
    r"|archived|generated|crawled|as of)\b",
    re.IGNORECASE,
)
FAR, ADJACENT = 60, 12
"""How far before a date such a word may stand: one that only pages bear, and one that means more."""
_DATELINE = re.compile(r"\(?[A-Z][\w .'-]{1,30}(?:, [A-Z][\w .'-]{1,20})?,?\s$")
_DASH = re.compile(r"[.,]?\s?(?:\([\w /]+\)\s?)?[—–-]\s")
_CHANGED = re.compile(r".{0,20}\b(?:updated|modified|edited)\b", re.IGNORECASE)
_SAID_ON = re.compile(r"\b(?:said|says|told|announced|reported|wrote) (?:\w+ )?on $", re.IGNORECASE)
_FOR = re.compile(r"\bfor (?:the )?$", re.IGNORECASE)
_INFINITIVE = re.compile(
    r"\b(?:promis|agree|vow|pledg|plan|decid|want|hop|aim|intend|prepar|offer|ask|order|invit"
    r"|urg)\w* (?:\w+ ){0,3}to [a-z]+(?: \w+){0,4} (?:by|until|before|on|in) $"
)
_INVERTED = re.compile(r"[\"']?(?:Had|Should|Were|If|Unless|Once|When|Whenever|Whoever|Most)\b")
_LIVE_PAGE = re.compile(
    r"\b(?:live[ -]?blog|as it happened|minute[- ]by[- ]minute|this page (?:refreshes|updates|reloads)"
    r"|(?:follow|join) (?:our|the) live|refresh for|live updates?)\b"
)
_LIVE_TITLE = re.compile(
    r"\blive (?:report|ticker|scores?|feed|stream|results?|coverage)\b|\blatest updates?\b|^live\b|[:"
    r"|–—-] ?live$",
    re.IGNORECASE,
)
_LIVE_URL = re.compile(r"/live(?:blog|-?updates?)?(?:/|$)|live-?blog|-live-updates", re.IGNORECASE)
_URL_DAY = re.compile(
    r"(?<![\d])(?P<year>20\d\d)(?P<by>[/_-]?)(?P<month>\d\d"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)"
    r"(?:(?P=by)(?P<day>\d\d))?(?![\da-z])",
    re.IGNORECASE,
)
_BREAK = re.compile(r"(?<=[.!?…])[\"'”’)\]]{0,3}\s+(?=[\"'“‘(\[]{0,2}[A-Z0-9])|\n\s*")
_SHORT = re.compile(
    r"\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mr|mrs|ms|dr|st|vs|no|prof|gen|sen|rep|gov"
    r"|[a-z])\.$",
    re.IGNORECASE,
)
_COUNTED, _MONTH = re.compile(r"\b\d{1,2}\.$"), re.compile(rf"(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_SPACES = re.compile(r"[^\S\n]+")
_CLAUSE = re.compile(
    r"[,;:()—–]\s|\s[–—-]\s|\b(?:but|while|which|who|although|though|because|so that|and then)\b",
    re.IGNORECASE,
)
_COMING = re.compile(
    r"\b(?:will|would|shall|should|(?-i:may)|might|could|can|must|won't|going to|set (?:to|for)|due"
    r"|schedul\w+|plan(?:s|ned)?|planning|expect\w*|anticipat\w+|propos\w+|upcoming|forthcoming|next|deadline"
    r"|no later than|expir\w+|takes? (?:effect|place|office)|(?:is|are|was|were) to|to be|hopes?|aims?"
    r"|targets?|intends?|if|unless|agreed to|vowed to|promised to|pledged to|called (?:an?|the|early|for)"
    r"|fixed|moved|postponed|delayed"
    r"|brought forward|invit\w+|ahead of|not before)\b",
    re.IGNORECASE,
)
_IRREGULAR = (
    "was|were|had|did|been|won|lost|came|went|took|gave|made|began|rose|fell|met|sold|bought|hit|kept|left"
    "|led|held"
    "|beat|spoke|saw|broke|struck|sent|ran|became|grew|drew|threw|stood|paid|put|quit|shut|swept|fought"
    "|withdrew"
    "|wrote|heard|found|lay|sat|rode|flew|sank|burnt|built|chose|spent|felt|got|knew"
)
_PAST = re.compile(
    rf"\b(?:{_IRREGULAR}"
    rf"|(?<!\bthe )(?<!\ba )(?<!\ban )(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bits )(?<!\btheir )"
    r"(?!need|feed|speed|indeed|hundred|united|sacred|naked|hatred|embed|schedul|expect|plann|propos"
    r"|said)[a-z]{2,}ed)\b"
)
_EARLIER = re.compile(
    r"\b(?:\w+ (?:years?|months?|weeks?|days?|decades?|seasons?) (?:ago|before|earlier)"
    r"|last (?:year|month|week|spring|summer|autumn|fall|winter|season|time|election|final|january|february"
    r"|march|april|may|june|july|august|september|october|november|december)|previous(?:ly)?"
    r"|earlier (?:this|in|on)|formerly|once|ever|since (?:19|20)\d\d"
    r"|(?:two|three|four|five|six|seven|eight|nine|ten|twelve|\d+) times|twice|for the first time in"
    r"|(?:second|third|fourth) time"
    r"|had (?:\w+ )?(?:been|\w{2,}(?:ed|en|wn)|won|cut|kept|held|left|hit|lost|met|set)"
    r"|in (?:spring|summer|autumn|winter)|defending|outgoing|incumbent|in a row|record of)\b",
    re.IGNORECASE,
)
_STAGE = re.compile(
    r"\b(?:first round|first leg|group stage|round of \d+|quarter-?finals?|semi-?finals?|league|friendly"
    r"|debate|endorsement|last (?:eight|four|sixteen)"
    r"|primar(?:y|ies)|qualif\w+|lower house|committee|(?:district|lower|appeals) court|preliminary)\b",
    re.IGNORECASE,
)
"""What comes before that which is asked, unless it is asked itself."""
_OPEN = re.compile(
    r"\b(?:if|unless|whether|when|whenever|whoever|will|would|could|(?-i:may)|might|should|can|must|expect\w*"
    r"|likely|unlikely|probab\w+|predict\w*|forecasts?|hopes?|hoping|wants?|chances?|poised|set to|going to"
    r"|thinks?|believes?|plans?|were it|polls?|surveys?|nominat\w+|candidates?|not|never|nobody|no one|none"
    r"|yet to|without|cannot|until|in case|who wins|favou?r(?:ed|ites?))\b"
    r"|n't\b|n’t\b",
    re.IGNORECASE,
)
_TRANSITIVE = re.compile(
    r"(?:won|wins|beats?|defeat(?:ed|s)|lost|loses|lift(?:ed|s)|took|takes|clinched|elected|pass(?:ed|es)"
    r"|adopt(?:ed|s)|approv(?:ed|es)|reject(?:ed|s)|clear(?:ed|s)|cuts?|lower(?:ed|s)|rais(?:ed|es)"
    r"|hik(?:ed|es)|kept|keeps|held|holds|left|hits?|reach(?:ed|es)|topp?(?:ed|s)|broke|breaks|acquired"
    r"|bought|complet(?:ed|es)|replaced|succeed(?:ed|s)|fired|launch(?:ed|es)|releas(?:ed|es)|unveil(?:ed|s)"
    r"|sign(?:ed|s)|rul(?:ed|es)|sid(?:ed|es) with|upheld"
    r"|ended|ends)$",
    re.IGNORECASE,
)
_OBJECT = re.compile(
    r" (?:(?:for|to|against|in favou?r of) )?(?=(?:the|an?|h[ie][sr]|its|their|another|two|three|\w+'s)\b"
    r"|[A-Z])(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)(.{1,60}?)(?= (?:of|for|in|at|on|with|by|from"
    r"|after|to|and|as|when)\b|[,;:()]|[.!?\"']*$)"
)
_OUTCOME = re.compile(
    r"\b(?:election|race|vote|runoff|presidency|majority|seats?|title|final|match|game|contest|trophy|crown"
    r"|gold|case|nomination|it|bill|law|act|measure|merger|takeover|deal|acquisition|strike|walkout|threshold"
    r"|level"
    r"|mark)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"(?:'s (?:\w+ )?|\b)(?:predecessor|deputy|rivals?|opponents?|allies|ally|adviser|brother|sister|wife"
    r"|husband|son"
    r"|daughter|subsidiary|spokes\w+|neighbour\w*)\b",
    re.IGNORECASE,
)
_HABIT, _PLURAL = re.compile(r"\b(?:is|are|be|being) $", re.IGNORECASE), re.compile(r" (?:are|were)\b")
_HARD = re.compile(r";|\b(?:but|while|although|though|whereas)\b")
_BARE_MONTH = re.compile(
    r"\b(?:in|of|for|during|by) (january|february|march|april|may|june|july|august|september|october|november"
    r"|december)\b(?! \d)",
    re.IGNORECASE,
)
_NOUNS = (
    r"(?:since|after|following|in response to|thanks to|despite|with|in) (?:the|its|her|his"
    r"|their) (?:\w+ ){0,2}(?:victory|win|defeat|triumph|loss|resignation|launch|release|signing|ruling"
    r"|approval|rejection|passage|acquisition|takeover|collapse|bankruptcy|landfall)"
)
_SAYS_SO = (
    r"resolve[ds] (?:to |as )?(?:yes|no)|declared (?:the )?winner|final score|full[- ]time|has won"
    r"|was (?:re-?)?elected"
    r"|conceded|officially (?:over|confirmed)|" + _NOUNS
)
"""What says of any question that it has ended."""
_ENDS: Mapping[str, str] = {
    r"wins?|beats?|defeat|elect\w+|champion|winner|nominee|victor|title|finals?|award|vs?": (
        r"won(?! over)|wins|beats?|defeat(?:ed|s)?|lost|loses|victory|triumph(?:ed|s)?|elected|crowned"
        r"|clinched|prevail(?:ed|s)|lift(?:ed|s)|t(?:ook|akes)(?= (?:the|home|best|gold))|scored the winner"
        r"|(?:is|are|became|named) (?:the )?(?:new )?(?:champions?|winners?|president|mayor|governor"
        r"|prime minister)|knocked out|eliminated|\w+-elect|congratulat\w+|sworn in|takes office as"
        r"|(?-i:[A-Z]\w+ \d{1,2}[,–-] ?(?:[A-Z]\w+ )?\d{1,2}\b)"
    ),
    r"pass|passes|approved?|adopt|enact|ratif\w+|law|bill|act|referendum|votes?|confirm\w*|impeach\w*": (
        r"pass(?:ed|es)|adopt(?:ed|s)|approv(?:ed|es)|reject(?:ed|s)|vot(?:ed|es) (?:for|against|down|to|by"
        r"|in favou?r)|enacted|ratified|signed into law|became law|clear(?:ed|s)|defeat(?:ed|s)|turned down"
        r"|confirmed|impeached"
    ),
    r"cuts?|hikes?|raise|lower|rates?|bps|hold": (
        r"cuts?|lower(?:ed|s)|reduced?|rais(?:ed|es)|hik(?:ed|es)|kept|keeps|held|holds|left|leaves|unchanged"
        r"|trim(?:med|s)"
    ),
    r"reach|hits?|above|below|exceeds?|close|price|over|under|at least|higher|inflation|cpi|gdp|between": (
        r"hits?|reach(?:ed|es)|topp?(?:ed|s)|broke|breaks|surpass(?:ed|es)|cross(?:ed|es)|closed|rose|rises"
        r"|climb(?:ed|s)|jump(?:ed|s)|fell|falls|dropp?(?:ed|s)|c[ao]mes? in|stood at|settled|finished"
        r"|pass(?:ed|es)|exceed(?:ed|s)"
    ),
    r"acqui\w+|buy|merge\w*|takeover|deal|sell|sale": (
        r"acquired|complet(?:ed|es)|closed the|bought|took over|taken over|now (?:part of|owned)|merged"
        r"|finali[sz]ed|called off|abandon(?:ed|s)|walked away|blocked"
    ),
    r"resign|out|leave|step down|fired|remain|removed|cease|replace\w*|quit|ousted": (
        r"resign(?:ed|s)|stepp?(?:ed|s) down|quits?|succeed(?:ed|s)|replaced|ousted|removed|fired|dismissed"
        r"|left office|successor|former|sworn in|handed over"
    ),
    r"launch\w*|releas\w+|announce\w*|unveil|ship|fly|land|orbit|publish|introduce|debut": (
        r"launch(?:ed|es)|lift(?:ed|s)[ -]off|lift-?off|blasted off|reached orbit|successful launch"
        r"|releas(?:ed|es)|unveil(?:ed|s)|introduced|debut(?:ed|s)|rolled out(?! to)|shipp?(?:ed|s)"
        r"|went on sale|available"
    ),
    r"rules?|ruling|court|convict\w*|guilty|sentence\w*|acquit\w*|charge|indict\w*|verdict|uphold|overturn": (
        r"rul(?:ed|es)|sid(?:ed|es) with|upheld|overturn(?:ed|s)|struck down|revers(?:ed|es)|convicted"
        r"|acquitted|found guilty|sentenced|charged|indicted|wrote for the majority"
    ),
    r"sign|treaty|agree\w*|ceasefire|peace|truce|accord": (
        r"sign(?:ed|s)|agreed|reached an?|struck a|concluded|sealed|collapsed|broke down|called off"
        r"|took effect"
    ),
    r"file|bankruptcy|default|ipo|sue|list": (
        r"fil(?:ed|es)|went bankrupt|defaulted|declared bankruptcy|went public|sued|listed"
    ),
    r"end|ends|strikes?|shutdown|war|over|finish|resume|reopen": (
        r"ended|ends|(?:is|was|are) over|came to an end|called off|reopen(?:ed|s)|resum(?:ed|es)|back (?:at"
        r"|to) work|settled|accepted"
    ),
    r"hurricane|landfall|storm|earthquake|eruption|erupt|flood|snow|rain|temperature": (
        r"made landfall|came ashore|struck|hit|slammed|erupted"
    ),
    r"attack|invade|strikes?|annex|capture|bomb|missiles?|troops": (
        r"attacked|invaded|struck|bombed|captured|seized|annexed|fired"
    ),
    r"meet|visit|attend|talks?|summit|debate": r"met|visited|attended|shook hands|held talks",
}
"""By words of a question, the words that say how such a one ended."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A verdict on a text, and the sentence that gave it: none where it is clean.

    `question` is that whose answer it tells.
    """

    verdict: Verdict = "clean"
    words: str = ""
    place: Place = "text"
    question: str = ""


CLEAN = AuditFinding()


def audit(
    title: str, text: str, url: str, questions: Sequence[str], at: datetime, prices: bool = True
) -> AuditFinding:
    """The verdict on an article that is to be shown to who is asked these questions at an instant.

    Of several the worst, and of one kind the first. Without `prices` those of bets are nothing to hide.

    >>> at = datetime.fromisoformat("2026-10-20T12:00:00+00:00")
    >>> asked = ["Will Adaeze Okafor win the mayoral election in Port Harrow on 3 November 2026?"]
    >>> audit("", "The election is on 3 November 2026. Polls see Okafor ahead.", "", asked, at).verdict
    'clean'
    >>> audit("Port Harrow", "Okafor was elected with 51.8 percent.", "", asked, at).verdict
    'answer'
    >>> audit("", "The court ruled on 6 November 2026.", "", asked, at).verdict
    'dated later'
    >>> audit("", "On Polymarket she stands at 71%.", "", asked, at).verdict
    'odds'
    """
    title = _plain(title)
    parts = (_part("title", title), _part("text", _plain(text)))
    if prices and (odds := next((each for part in parts for each in _of_odds(part)), None)):
        return odds
    days = [*_of_url(url, at), *(each for part in parts for each in _of_dates(part, at))]
    certain = (each for each in days if each.verdict == "dated later")
    answers = (each for part in parts for asked in questions for each in _of_answer(part, title, asked, at))
    live = (each for part in parts for each in _of_live(part))
    return next(chain(certain, answers, days, live), CLEAN)


@dataclass(frozen=True, slots=True)
class _Part:
    """A title or a text, the same in small letters, and its sentences, each with where it begins."""

    place: Place
    words: str
    folded: str
    sentences: Sequence[tuple[int, str]]

    def sentence(self, start: int) -> str:
        """The sentence at a place."""
        return self.sentences[max(0, bisect_right(self.sentences, start, key=itemgetter(0)) - 1)][1]


def _part(place: Place, words: str) -> _Part:
    return _Part(place, words, _folded(words), _sentences(words))


def tells_odds(text: str) -> bool:
    """Whether a text names a market or bets with a figure beside it that may be a price.

    >>> tells_odds("Polymarket odds put a Fed cut at 97 %"), tells_odds("Bookies make Arsenal 5/2 favourites")
    (True, True)
    >>> tells_odds("Bettors give the Chiefs 3-to-1"), tells_odds("Manifold users are at 0.83")
    (True, True)
    >>> tells_odds("Kalshi raises $2 billion in 2026"), tells_odds("Inflation falls to 3 percent")
    (False, False)
    """
    return any(True for _ in _of_odds(_Part("text", text, _folded(text), ())))


def _plain(text: str) -> str:
    """A text without what people don't see: width and form of letters, other spaces than single ones."""
    if not text.isascii():
        text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text[:MOST_JUDGED])).translate(_QUOTES)
    return _SPACES.sub(" ", text[:MOST_JUDGED])


def _folded(text: str) -> str:
    """A text in small letters, each where it stood."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(x.lower()[:1] for x in text)


def _sentences(text: str) -> list[tuple[int, str]]:
    spans, begin = list[tuple[int, str]](), 0
    for match in _BREAK.finditer(text):
        if match[0].startswith("\n") or not _goes_on(text, begin, match):
            spans += _pieces(text, begin, match.start())
            begin = match.end()
    return [*spans, *_pieces(text, begin, len(text))]


def _goes_on(text: str, begin: int, match: re.Match[str]) -> bool:
    """Whether a full stop only shortens a word, or counts a day before its month."""
    before = max(begin, match.start() - 8)
    if _SHORT.search(text, before, match.start()):
        return True
    return bool(_COUNTED.search(text, before, match.start()) and _MONTH.match(text, match.end()))


def _pieces(text: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
    """A sentence, or the pieces of a long one, which overlap."""
    for start in range(begin, max(begin + 1, end - OVERLAP), LONGEST - OVERLAP):
        if piece := text[start : min(start + LONGEST, end)]:
            yield start, piece


def _of_url(url: str, at: datetime) -> Iterator[AuditFinding]:
    """An address with a later day in its path, or of a page that is written while something happens."""
    for match in _URL_DAY.finditer(url):
        named, day = match["month"].casefold(), match["day"]
        month = int(named) if named.isdigit() else MONTHS.get(named, 0)
        if not (1 <= month <= 12 and 1 <= int(day or 1) <= 31 and (match["by"] or day)):
            continue
        if datetime(int(match["year"]), month, 1, tzinfo=UTC) + timedelta(days=int(day or 1) - 1) > at:
            in_path = url[: match.start()].endswith("/")
            yield AuditFinding("dated later" if in_path else "unsure", url, "url")
    if _LIVE_URL.search(url):
        yield AuditFinding("unsure", url, "url")


def _of_live(part: _Part) -> Iterator[AuditFinding]:
    """A page that is written while something happens, whatever day it bears."""
    match = _LIVE_PAGE.search(part.folded) or (
        _LIVE_TITLE.search(part.words) if part.place == "title" else None
    )
    if match is not None:
        yield AuditFinding("unsure", part.sentence(match.start()), part.place)


def _of_odds(part: _Part) -> Iterator[AuditFinding]:
    """The price of a bet, with what stands around it."""
    for match in _PRICED_AT.finditer(part.folded):
        begin, end = max(0, match.start() - NEAR), match.end() + NEAR
        if _FIGURES.search(part.folded, begin, end):
            yield AuditFinding("odds", part.words[begin:end], part.place)
            return


def _of_dates(part: _Part, at: datetime) -> Iterator[AuditFinding]:
    """Days later than an instant: of the page itself, or of what has happened by its words."""
    days = written_dates(part.words, at, at.year)
    later = (part.sentence(day.start) for day in days if day.last > at)
    for sentence in dict.fromkeys(later):
        for day in written_dates(sentence, at):
            if day.last <= at or (not day.dated and day.at - at > SOON):
                continue
            if _is_of_page(sentence, day):
                yield AuditFinding("dated later" if day.first > at else "unsure", sentence, part.place)
            elif day.at > at and _has_happened(sentence, day):
                yield AuditFinding("dated later", sentence, part.place)


def _is_of_page(sentence: str, day: WrittenDate) -> bool:
    """Whether a day is that on which a page was written, changed or read."""
    before, after = sentence[max(0, day.start - FAR) : day.start], sentence[day.end :]
    for word in _STAMP.finditer(before):
        if (word["far"] or len(before) - word.end() <= ADJACENT) and not _COMING.search(before):
            return True
    if _CHANGED.match(after) or (_DATELINE.fullmatch(before) and _DASH.match(after)):
        return True
    letters = sum(map(str.isalpha, before)) + sum(map(str.isalpha, after))
    return day.timed and letters <= FEW_LETTERS


def _has_happened(sentence: str, day: WrittenDate) -> bool:
    """Whether what a sentence tells of a day is over, by its verbs."""
    before = sentence[: day.start]
    if _SAID_ON.search(before):
        return True
    if (_FOR.search(before) and not day.spans) or _INFINITIVE.search(before):
        return False
    clause = _clause(sentence, day.start, day.end)
    return bool(_PAST.search(clause)) and not _COMING.search(clause)


def _clause(sentence: str, start: int, end: int) -> str:
    """The part of a sentence around a place; with the part beside it, where it says nothing more."""
    inside = (match for match in _CLAUSE.finditer(sentence) if not start <= match.start() < end)
    cuts = [0, *(match.end() for match in inside), len(sentence)]
    place = bisect_right(cuts, start, 0, len(cuts) - 1) - 1
    low, high = cuts[place], cuts[place + 1]
    if len((sentence[low:start] + sentence[end:high]).split()) <= FEW_WORDS:
        low, high = (low, cuts[place + 2]) if place + 2 < len(cuts) else (cuts[max(0, place - 1)], high)
    return sentence[low:high]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question is known by in texts: its names and its other words, and how such a one ends.

    Of its terms an answer has at least `need`, and a name among them. Where no text of `keys` is in small
    letters, no name is.
    """

    names: tuple[re.Pattern[str], ...]
    others: tuple[re.Pattern[str], ...]
    keys: tuple[str, ...]
    need: int
    ends: re.Pattern[str]

    def is_told(self, part: str, title: str) -> bool:
        """Whether a part of a sentence is about it, together with the title."""
        if not any(name.search(part) for name in self.names):
            return False
        whole = f"{part} {title}"
        return sum(bool(term.search(whole)) for term in (*self.names, *self.others)) >= self.need

    def of_something_else(self, match: re.Match[str]) -> bool:
        """Whether what ended, by the words after a verb, is something that isn't asked."""
        thing = _OBJECT.match(match.string, match.end()) if _TRANSITIVE.search(match[0]) else None
        if thing is None or _OUTCOME.search(thing[1]):
            return False
        return not any(term.search(thing[1]) for term in (*self.names, *self.others))


@lru_cache(maxsize=4096)  # every text of a round is held against the same questions
def _asked(question: str) -> _Asked:
    ways: dict[Kind, list[tuple[str, ...]]] = {"name": [], "figure": [], "word": []}
    for term in search_terms(question, MOST_TERMS):
        ways.get(term.kind, []).append(term.ways)
    asking = [words for words in _ENDS if re.search(rf"\b(?:{words})\b", question, re.IGNORECASE)]
    words = [each[0] for each in ways["word"]]
    plain = [word for word in words if not any(re.fullmatch(each, word, re.IGNORECASE) for each in asking)]
    named = [re.compile("|".join(_name_ways(each))) for each in ways["name"]]
    figures = ["|".join(map(_figure_way, each)) for each in ways["figure"]]
    stems = [rf"\b{re.escape(word[: max(STEM, len(word) - 3)])}" for word in words]
    others = [re.compile(each, re.IGNORECASE) for each in (*figures, *stems)]
    need = min(2, len(named) + len(figures) + len(plain)) if named else 1
    if len(named) == 1 and any(map(str.isdigit, ways["name"][0][0])):
        need = 1  # such a name is nobody else's
    parts = [way.lower().split() for each in ways["name"] or ways["word"] for way in each]
    keys = tuple(dict.fromkeys(key for each in parts for key in (each[-1], each[0])))
    ends = re.compile(rf"\b(?:{'|'.join([_SAYS_SO, *(_ENDS[x] for x in asking)])})(?!\w)", re.IGNORECASE)
    names, more = (named, others) if named else (others, [])
    return _Asked(tuple(names), tuple(more), keys, need, ends)


def _name_ways(ways: Iterable[str]) -> Iterator[str]:
    """How a text may call what is named: in full, by the last two words, or by the last one or the first."""
    for way in ways:
        parts = way.split()
        yield rf"(?i:\b{re.escape(way)}(?!\w))"
        if len(parts) > 2:
            yield rf"\b{re.escape(' '.join(parts[-2:]))}(?!\w)"
        singles = parts[-1:] + parts[:1] * bool(JOINING.intersection(parts)) if len(parts) > 1 else []
        yield from (
            rf"\b{re.escape(x)}(?!\w)" for x in singles if len(x) > SHORTEST and x.casefold() not in COMMON
        )


def _figure_way(way: str) -> str:
    plain = re.escape(way).replace("percent", "(?:percent|%|per cent)")
    short = f"|{way.removesuffix(',000')}k" if way.endswith(",000") else ""
    return rf"(?<![\d.,])(?:{plain}{short})(?!\d)"


def _of_answer(part: _Part, title: str, question: str, at: datetime) -> Iterator[AuditFinding]:
    """A sentence that says how a question has ended."""
    asked = _asked(question)
    named = sorted({place for key in asked.keys for place in _places(key, part.folded)})
    for sentence in dict.fromkeys(map(part.sentence, named)):
        if _answers(sentence, title, asked, question, at):
            yield AuditFinding("answer", sentence, part.place, question)
            return


def _places(key: str, text: str) -> Iterator[int]:
    """Where a word stands in a text."""
    place = text.find(key)
    while place >= 0:
        yield place
        place = text.find(key, place + len(key))


def _answers(sentence: str, title: str, asked: _Asked, question: str, at: datetime) -> bool:
    if sentence.endswith("?") or _INVERTED.match(sentence):
        return False
    if any(stage[0].casefold() not in question.casefold() for stage in _STAGE.finditer(sentence)):
        return False
    if _is_dated_before(sentence, question, at):
        return False
    for match in islice(asked.ends.finditer(sentence), MOST_ENDS):
        clause = _clause(sentence, match.start(), match.end())
        if _HABIT.search(sentence, 0, match.start()) or _PLURAL.match(sentence, match.end()):
            continue
        if _EARLIER.search(clause) or _OPEN.search(clause) or _OTHERS.search(clause):
            continue
        if asked.is_told(_between(_HARD, sentence, match), title) and not asked.of_something_else(match):
            return True
    return False


def _between(parting: re.Pattern[str], sentence: str, match: re.Match[str]) -> str:
    """The part of a sentence around a match, between what parts it."""
    cuts = [
        each.span() for each in parting.finditer(sentence) if not match.start() <= each.start() < match.end()
    ]
    low = max((end for _, end in cuts if end <= match.start()), default=0)
    return sentence[low : min((start for start, _ in cuts if start >= match.end()), default=len(sentence))]


@lru_cache(maxsize=4096)
def _days_of(question: str, at: datetime) -> frozenset[datetime]:
    return frozenset(day.at for day in written_dates(question, at))


def _is_dated_before(sentence: str, question: str, at: datetime) -> bool:
    """Whether a sentence names a day or month that was over, and is none that the question asks of."""
    asked_of = _days_of(question, at)
    if any(day.last <= at and day.at not in asked_of for day in written_dates(sentence, at)):
        return True
    for match in _BARE_MONTH.finditer(sentence):
        ahead = (MONTHS[match[1].casefold()] - at.month) % 12
        if ahead > COMING_MONTHS and match[1].casefold() not in question.casefold():
            return True
    return False
