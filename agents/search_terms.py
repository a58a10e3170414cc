"""Search terms of a question: names and phrases as written, tickers and figures as articles write them.

Pure. A term is one thing in one or more ways of writing it. Names come first, then figures and years, then
other telling words. The year of a deadline counts only where little else is left: few articles say it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from markets.stories import CURRENCIES

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
_COMMON = """
announce announced another anyone anything become becomes beat beats call called cease change close
closes closing day days down draw drop dip end ended ends exactly exceed exceeds fall falls finish first
final game games happen happens higher hit hits hold holds include increase increases least level leave
leaves lose loses lower main market markets mention name named none number official officially others
otherwise pass passes people person place please point points prevail price prices question range reach
reaches record release released remain resolve resolves result rise rises say says second see set soon
state still take takes third tie time times today tomorrow top total try turn two three four five six
seven eight nine ten up use using value vs versus visit win winner wins won worth yes zero low high men
women thousand million billion trillion percent polymarket kalshi manifold metaculus non there's also
could may according as at an be do go he in is it on or so to we if et utc am pm est edt option outcome
listed resolution source following
"""
COMMON = PLAIN | frozenset(_COMMON.split())
"""Words that are useless in a search, capitalized or not."""
JOINING = frozenset(["of", "de", "da", "di", "del", "la", "van", "von", "der", "bin", "al"])
"""Words inside a name."""
_WRITTEN = {names: ticker for ticker, names in CURRENCIES.items()} | {
    ("S&P 500",): "SPX SPY",
    ("nasdaq",): "NDX QQQ",
    ("Dow Jones",): "DJI DJIA DIA",
    ("crude oil",): "WTI",
    ("Brent crude",): "BRENT",
    ("nvidia",): "NVDA",
    ("tesla",): "TSLA",
    ("Apple",): "AAPL",
    ("microsoft",): "MSFT",
    ("Alphabet", "Google"): "GOOG GOOGL",
    ("amazon",): "AMZN",
    ("microstrategy",): "MSTR",
    ("palantir",): "PLTR",
    ("fed", "Federal Reserve"): "FED FOMC",
    ("ECB", "European Central Bank"): "ECB",
    ("Bank of England",): "BOE",
    ("Bank of Japan",): "BOJ",
    ("inflation", "consumer prices"): "CPI",
    ("gross domestic product", "GDP"): "GDP",
    ("United States",): "US USA",
    ("United Kingdom", "Britain"): "UK",
    ("European Union",): "EU",
    ("United Nations",): "UN",
    ("United Arab Emirates", "UAE"): "UAE",
    ("artificial intelligence",): "AI",
    ("republicans",): "GOP",
    ("prime minister",): "PM",
    ("Supreme Court",): "SCOTUS",
    ("New York City",): "NYC",
    ("Los Angeles",): "LA",
}
WRITTEN = {ticker: ways for ways, tickers in _WRITTEN.items() for ticker in tickers.split()}
"""The words that articles use for a ticker or an abbreviation."""
TRADED = frozenset(names[0] for names in CURRENCIES.values())
"""Names of assets; alone, such a name is searched together with "price"."""
SCALES = {
    "k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion", "t": "trillion",
    "tn": "trillion",
}  # fmt: skip
PARTS = {"%": "percent", "percent": "percent", "bps": "basis points", "bp": "basis points"}
SHORTEST, LONGEST_NAME = 3, 4
"""The fewest letters of a word, and the most words of a name."""
ENOUGH = 2
"""With fewer terms the year of a deadline is added."""
LEAST = 100
"""The smallest figure without a unit that is worth searching."""
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DATE = re.compile(
    rf"\b(?:{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+(?P<a>(?:19|20)\d\d)\b)?"
    rf"|\d{{1,2}}\s+{_MONTH}\s+(?P<b>(?:19|20)\d\d)\b|{_MONTH}\s+(?P<c>(?:19|20)\d\d)\b"
    r"|(?P<d>(?:19|20)\d\d)-\d\d-\d\d)",
    re.IGNORECASE,
)
_SHORT = "|".join(name for name in (*WRITTEN, "AM", "PM") if len(name) < SHORTEST)
_SIGNED = (
    rf"(?<![\w&/])(?:[A-Z]{{1,3}}&[A-Z]{{1,3}}|(?!(?:{_SHORT})/)(?:[A-Z]{{2}}/[A-Z]{{2,3}}|[A-Z]{{3}}/[A-Z]{{2}})"
    r"|(?<!\bon )(?<!\bby )9/11)(?![\w&/])"
    r"|(?<!\w)(?:[A-Z]#|[A-Z]\w*\+\+|[A-Z]\w*\.(?:NET|js)|(?<!\.)\.(?:[A-Z]{2,}|com|org|net|io|ai))(?!\w)"
)
"""Names that say too little without their signs: AC/DC, AT&T, 9/11, C++, C#, .NET, Node.js."""
_WORD = re.compile(rf"{_SIGNED}|[^\W_]+")
SIGNED = re.compile(_SIGNED)
_LONG = re.compile(rf"{_SIGNED}|.{{{SHORTEST},}}")
_SIDES = re.compile(r"\(YES: .*\)\s*$")
_OWNED = re.compile(
    r"(?<!\bMoody)(?<!\bMcDonald)(?<!\bLevi)(?<!\bMacy)(?<!\bKohl)(?<!\bLowe)(?<!\bWendy)(?<!\bDomino)"
    r"(?<!\bKellogg)(?<!\bSotheby)(?<!\bChristie)(?<!\bLloyd)['’]s\b"
)
"""A possessive 's, unless it is part of a firm's name."""
_SEASON = re.compile(r"\b((?:19|20)\d\d)[–/-](?:(?:19|20)?\d\d)\b")
_COUNTED = re.compile(r"\d+(?:am|pm|st|nd|rd|th)", re.IGNORECASE)
_TOKEN = re.compile(
    r"(?P<quoted>[“\"][^”\"]{3,60}[”\"])"
    rf"|(?-i:(?P<signed>{_SIGNED}))"
    r"|(?P<figure>[$€£]?(?P<digits>\d[\d,]*(?:\.\d+)?)(?:\s?(?P<unit>%|(?:percent|bps?|thousand|million"
    r"|billion|trillion|bn|mn|tn|[kmbt])(?!\w)))?(?![\w]))"
    r"|(?P<word>[^\W_](?:\w|[&'’.+-](?=\w))*)|(?P<stop>[^\s\w])",
    re.IGNORECASE,
)
Kind = Literal["name", "figure", "year", "word"]
_ORDER: tuple[Kind, ...] = ("name", "figure", "year", "word")


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """One thing to search for: an article has it where it has one of the ways to write it."""

    kind: Kind
    ways: tuple[str, ...]

    @property
    def alone(self) -> bool:
        """Tell whether every form of the term is one word, which alone matches too much."""
        return " " not in "".join(self.ways)


PRICE = SearchTerm("word", ("price",))


def search_terms(question: str, most: int, rules: str = "") -> tuple[SearchTerm, ...]:
    """Return the most telling terms of a question; an empty tuple if only a common word is left.

    A term that would stand alone gets another: the first name in the rules, or "price" for what is traded.

    >>> [term.ways[0] for term in search_terms("Will Nova 5 be released before Nov 5, 2026?", 4)]
    ['Nova 5', '2026']
    """
    asked = _SIDES.sub("", question)
    terms = _terms(asked)
    if len(terms) == 1 and terms[0].alone:
        named = [term for term in _terms(rules[:500]) if term.kind == "name" and term != terms[0]]
        priced = [PRICE] if TRADED.intersection(terms[0].ways) else []
        terms = [*terms, *(priced or named[:1])]
        if len(terms) == 1 and terms[0].kind == "word":
            return ()

    return tuple(terms[:most])


def broader_terms(terms: Sequence[SearchTerm]) -> tuple[SearchTerm, ...]:
    """Return fewer terms for a search that found nothing; an empty tuple if they would match too much.

    >>> [term.ways[0] for term in broader_terms(search_terms("Will BTC reach $120k before March 31?", 4))]
    ['bitcoin', 'price']
    >>> [term.ways for term in broader_terms(search_terms("Will Xi Jinping be out in 2026?", 4))]
    [('Xi Jinping',)]
    """
    left = [term for term in terms if term.kind in ("name", "word")][:ENOUGH]
    if len(left) == 1 and TRADED.intersection(left[0].ways):
        left.append(PRICE)

    enough = len(left) > 1 or (left and not left[0].alone)
    if not enough or set(left) == set(terms):
        return ()
    return tuple(left)


def _terms(text: str) -> list[SearchTerm]:
    """Return every term of a text once, in the order of their kinds."""
    ends = list(filter(None, chain.from_iterable(match.groups() for match in _DATE.finditer(text))))
    undated = _SEASON.sub(_two_years, _DATE.sub(" ; ", text))
    found = [*_found(_OWNED.sub(" ;", undated))]

    years = tuple(dict.fromkeys(term.ways[0] for term in found if term.kind == "year"))
    found = [term for term in found if term.kind != "year"]
    if years:
        found.append(SearchTerm("year", years))

    terms: dict[str, SearchTerm] = {}

    for term in sorted(found, key=lambda term: _ORDER.index(term.kind)):
        key = term.ways[0].casefold()
        if not any(key in known.split() or key == known for known in terms):
            terms[key] = term

    if ends and len(terms) < ENOUGH:
        terms[ends[0]] = SearchTerm("year", (ends[0],))

    return list(terms.values())


def _two_years(season: re.Match[str]) -> str:
    return f" {season[1]} {int(season[1]) + 1} "


def _found(text: str) -> Iterator[SearchTerm]:
    """Yield the terms of a text in order; the words of one name are one term."""
    name: list[str] = []
    matches = [*_TOKEN.finditer(text), None]
    for match, after in zip(matches, [*matches[1:], None], strict=True):
        word = match and (match["signed"] or match["word"])
        joins = bool(name) and word in JOINING
        if word and (joins or _is_named(word)):
            name.append(word)
            continue
        if match and name and _belongs(match, after):
            name.append(match["figure"])
            continue

        yield from _named(name)
        name = []
        if match is None:
            return

        if match["quoted"]:
            yield from _quoted(match["quoted"][1:-1])
        elif match["figure"]:
            yield from _figure(match["digits"].rstrip(","), (match["unit"] or "").lower())
        elif word and _is_telling(word) and len(word) >= SHORTEST:
            yield SearchTerm("word", (word.casefold(),))


def _is_telling(word: str) -> bool:
    """Tell whether a word is neither a common one, nor a time of day, nor an ordinal."""
    return word.casefold() not in COMMON and not _COUNTED.fullmatch(word) and word not in ("I", "A")


def _is_named(word: str) -> bool:
    """Tell whether a word is written like a name."""
    cased = not word.islower() and any(map(str.isalpha, word))
    return _is_telling(word) and (cased or SIGNED.fullmatch(word) is not None)


def _belongs(match: re.Match[str], after: re.Match[str] | None) -> bool:
    """Tell whether a figure is part of the name before it, as in S&P 500: small, bare, and not a count."""
    figure = match["figure"]
    is_plain = figure and figure.isdigit() and not match["unit"]
    if not is_plain or int(match["digits"]) >= 1_000:
        return False

    counted = after and after["word"]
    return not counted or counted.casefold() in COMMON or not counted.endswith("s")


def _named(words: Sequence[str]) -> Iterator[SearchTerm]:
    words = list(words)
    while words and words[-1] in JOINING:
        words.pop()

    parts = [word for word in words if word not in JOINING]
    if len(words) <= LONGEST_NAME:
        parts = [" ".join(words)]

    for part in parts:
        ticker = ""
        if len(part) == SHORTEST:
            ticker = part.upper()
        ways = WRITTEN.get(part.replace(".", "")) or WRITTEN.get(ticker)
        if not ways:
            ways = next((ways for ways in _WRITTEN if part.casefold() in map(str.casefold, ways)), None)

        is_telling = _LONG.fullmatch(part) and part.casefold() not in ("new", *COMMON)
        if ways or is_telling:
            yield SearchTerm("name", ways or (part.replace("’", "'"),))


def _quoted(text: str) -> Iterator[SearchTerm]:
    words = list(filter(None, (match["signed"] or match["word"] for match in _TOKEN.finditer(text))))
    if 1 < len(words) <= LONGEST_NAME + 1:
        yield SearchTerm("name", (" ".join(words),))
    elif words and words[0].casefold() not in COMMON and _LONG.fullmatch(words[0]):
        yield SearchTerm("name", (words[0],))


def _figure(digits: str, unit: str) -> Iterator[SearchTerm]:
    """Yield a figure in the forms in which it is written, unless it is small and has no unit."""
    bare = digits.replace(",", "")
    if unit in PARTS:
        yield SearchTerm("figure", (f"{bare} {PARTS[unit]}",))
    elif unit:
        named = SCALES.get(unit, unit)
        exact, rest = divmod(int(bare.replace(".", "")) * 1_000, 10 ** len(bare.partition(".")[2]))
        is_whole = named == "thousand" and not rest
        ways = (f"{exact:,}", f"{bare}k") if is_whole else (f"{bare} {named}",)
        yield SearchTerm("figure", ways)
    elif "." not in bare and len(digits) == 4 and bare[:2] in ("19", "20"):
        yield SearchTerm("year", (bare,))
    elif float(bare) >= LEAST:
        whole = bare.partition(".")[0]
        ways = (f"{int(whole):,}", whole) if len(whole) > SHORTEST else (whole,)
        yield SearchTerm("figure", ways)


def keywords(question: str, most: int) -> tuple[str, ...]:
    """Return the telling words of a question in lower case, names first, each once.

    >>> keywords("Will rain fall on Lisbon in May?", 2)
    ('lisbon', 'rain')
    """
    long = filter(_LONG.fullmatch, words(question))
    telling = [word for word in long if not word.isdigit() and word.casefold() not in PLAIN]
    first = words(question)[:1]
    named = [word for word in telling if not word.islower() and [word] != first]
    return tuple(dict.fromkeys(map(str.casefold, (*named, *telling))))[:most]


def words(text: str) -> list[str]:
    """Return the words of a text as written.

    >>> words("Will it rain in São Paulo?")
    ['Will', 'it', 'rain', 'in', 'São', 'Paulo']
    >>> words("AC/DC and AT&T, Ether/Bitcoin, and/or C++, C# ... .NET")
    ['AC/DC', 'and', 'AT&T', 'Ether', 'Bitcoin', 'and', 'or', 'C++', 'C#', '.NET']
    """
    return _WORD.findall(text)
