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
    without_sides = _SIDES.sub("", question)
    terms = _unique_terms(without_sides)
    if len(terms) == 1 and terms[0].alone:
        only = terms[0]
        if TRADED.intersection(only.ways):
            terms.append(PRICE)
        else:
            other_names = [
                term for term in _unique_terms(rules[:500]) if term.kind == "name" and term != only
            ]
            terms += other_names[:1]
        if len(terms) == 1 and only.kind == "word":
            return ()

    return tuple(terms[:most])


def broader_terms(terms: Sequence[SearchTerm]) -> tuple[SearchTerm, ...]:
    """Return fewer terms for a search that found nothing; an empty tuple if they would match too much.

    >>> [term.ways[0] for term in broader_terms(search_terms("Will BTC reach $120k before March 31?", 4))]
    ['bitcoin', 'price']
    >>> [term.ways for term in broader_terms(search_terms("Will Xi Jinping be out in 2026?", 4))]
    [('Xi Jinping',)]
    """
    broader = [term for term in terms if term.kind in ("name", "word")][:ENOUGH]
    if len(broader) == 1 and TRADED.intersection(broader[0].ways):
        broader.append(PRICE)

    is_specific = len(broader) > 1 or (broader and not broader[0].alone)
    if not is_specific or set(broader) == set(terms):
        return ()
    return tuple(broader)


def _unique_terms(text: str) -> list[SearchTerm]:
    """Return every term of a text once, in the order of their kinds."""
    deadline_years = list(filter(None, chain.from_iterable(date.groups() for date in _DATE.finditer(text))))
    without_dates = _SEASON.sub(_two_years, _DATE.sub(" ; ", text))
    found = list(_terms_in_order(_OWNED.sub(" ;", without_dates)))

    # all years are one term
    years = tuple(dict.fromkeys(term.ways[0] for term in found if term.kind == "year"))
    found = [term for term in found if term.kind != "year"]
    if years:
        found.append(SearchTerm("year", years))

    terms: dict[str, SearchTerm] = {}
    for term in sorted(found, key=lambda term: _ORDER.index(term.kind)):
        key = term.ways[0].casefold()
        is_part_of_other = any(key == earlier or key in earlier.split() for earlier in terms)
        if not is_part_of_other:
            terms[key] = term

    if deadline_years and len(terms) < ENOUGH:
        first_year = deadline_years[0]
        terms[first_year] = SearchTerm("year", (first_year,))

    return list(terms.values())


def _two_years(season: re.Match[str]) -> str:
    return f" {season[1]} {int(season[1]) + 1} "


def _terms_in_order(text: str) -> Iterator[SearchTerm]:
    """Yield the terms of a text in order; the words of one name are one term."""
    name_words: list[str] = []
    tokens = [*_TOKEN.finditer(text), None]  # None ends the last name
    following_tokens = [*tokens[1:], None]
    for token, following in zip(tokens, following_tokens, strict=True):
        word = token and (token["signed"] or token["word"])
        joins_name = bool(name_words) and word in JOINING
        if word and (joins_name or _is_written_like_name(word)):
            name_words.append(word)
            continue
        if token and name_words and _belongs_to_name(token, following):
            name_words.append(token["figure"])
            continue

        yield from _name_terms(name_words)
        name_words = []
        if token is None:
            return

        if token["quoted"]:
            yield from _quoted_term(token["quoted"][1:-1])
        elif token["figure"]:
            yield from _figure_terms(token["digits"].rstrip(","), (token["unit"] or "").lower())
        elif word and _is_telling(word) and len(word) >= SHORTEST:
            yield SearchTerm("word", (word.casefold(),))


def _is_telling(word: str) -> bool:
    """Tell whether a word is neither a common one, nor a time of day, nor an ordinal."""
    return word.casefold() not in COMMON and not _COUNTED.fullmatch(word) and word not in ("I", "A")


def _is_written_like_name(word: str) -> bool:
    """Tell whether a word is written like a name."""
    cased = not word.islower() and any(map(str.isalpha, word))
    return _is_telling(word) and (cased or SIGNED.fullmatch(word) is not None)


def _belongs_to_name(token: re.Match[str], following: re.Match[str] | None) -> bool:
    """Return whether a figure is part of the name before it, as in S&P 500: small, bare, and not a count."""
    figure = token["figure"]
    is_bare = figure and figure.isdigit() and not token["unit"]
    if not is_bare or int(token["digits"]) >= 1_000:
        return False

    # in "Tesla 5 models", five models are counted
    next_word = following and following["word"]
    return not next_word or next_word.casefold() in COMMON or not next_word.endswith("s")


def _name_terms(words: Sequence[str]) -> Iterator[SearchTerm]:
    """Yield the term of a name, or one for each word of a long name; known ones in all their spellings."""
    words = list(words)
    while words and words[-1] in JOINING:
        words.pop()

    names = [" ".join(words)]
    if len(words) > LONGEST_NAME:
        names = [word for word in words if word not in JOINING]

    for name in names:
        ticker = name.upper() if len(name) == SHORTEST else ""
        ways = WRITTEN.get(name.replace(".", "")) or WRITTEN.get(ticker)
        if not ways:
            ways = next((ways for ways in _WRITTEN if name.casefold() in map(str.casefold, ways)), None)

        is_telling = _LONG.fullmatch(name) and name.casefold() not in ("new", *COMMON)
        if ways or is_telling:
            yield SearchTerm("name", ways or (name.replace("’", "'"),))


def _quoted_term(text: str) -> Iterator[SearchTerm]:
    """Yield the name that stands in quotation marks, unless it is too long or one common word."""
    words = list(filter(None, (token["signed"] or token["word"] for token in _TOKEN.finditer(text))))
    if 1 < len(words) <= LONGEST_NAME + 1:
        yield SearchTerm("name", (" ".join(words),))
    elif words and words[0].casefold() not in COMMON and _LONG.fullmatch(words[0]):
        yield SearchTerm("name", (words[0],))


def _figure_terms(digits: str, unit: str) -> Iterator[SearchTerm]:
    """Yield a figure in the forms in which it is written, unless it is small and has no unit."""
    figure = digits.replace(",", "")
    whole, _, decimals = figure.partition(".")
    if unit in PARTS:
        yield SearchTerm("figure", (f"{figure} {PARTS[unit]}",))
    elif unit:
        scale = SCALES.get(unit, unit)
        thousandfold, remainder = divmod(int(f"{whole}{decimals}") * 1_000, 10 ** len(decimals))
        is_whole_number = scale == "thousand" and not remainder
        # 120k is written 120,000 too
        ways = (f"{thousandfold:,}", f"{figure}k") if is_whole_number else (f"{figure} {scale}",)
        yield SearchTerm("figure", ways)
    elif "." not in figure and len(digits) == 4 and figure[:2] in ("19", "20"):
        yield SearchTerm("year", (figure,))
    elif float(figure) >= LEAST:
        ways = (f"{int(whole):,}", whole) if len(whole) > SHORTEST else (whole,)
        yield SearchTerm("figure", ways)


def keywords(question: str, most: int) -> tuple[str, ...]:
    """Return the telling words of a question in lower case, names first, each once.

    >>> keywords("Will rain fall on Lisbon in May?", 2)
    ('lisbon', 'rain')
    """
    all_words = words(question)
    long_words = filter(_LONG.fullmatch, all_words)
    telling = [word for word in long_words if not word.isdigit() and word.casefold() not in PLAIN]

    # the first word has a capital letter in any case
    names = [word for word in telling if not word.islower() and word != all_words[0]]
    unique = dict.fromkeys(map(str.casefold, (*names, *telling)))
    return tuple(unique)[:most]


def words(text: str) -> list[str]:
    """Return the words of a text as written.

    >>> words("Will it rain in São Paulo?")
    ['Will', 'it', 'rain', 'in', 'São', 'Paulo']
    >>> words("AC/DC and AT&T, Ether/Bitcoin, and/or C++, C# ... .NET")
    ['AC/DC', 'and', 'AT&T', 'Ether', 'Bitcoin', 'and', 'or', 'C++', 'C#', '.NET']
    """
    return _WORD.findall(text)
