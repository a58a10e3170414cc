"""Which articles may be shown: only what could be known, and nothing that gives the answer away. Pure.

The rule is that of the forecasting competition in whose way the arena simulates forecasting: nothing counts
that was published after the end of the day before a market closes. A time that is not whole is read as
the latest instant that it can mean, which is somewhere at UTC-12. Forecasting sites and markets are no
sources: what they publish is a forecast itself, and so is an article that passes on their odds. Of what is
left the articles that fit a question best are kept. Dates can be wrong, so `agents.audit` judges the words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from itertools import chain
from typing import Any, Literal
from urllib.parse import unquote

from pydantic import Field

from agents.audit import CLEAN, RULES, AuditFinding, Place, Verdict, audit, tells_odds
from agents.evidence import FoundArticle
from agents.model import Article, ConfigBlock, is_none
from agents.search_terms import COMMON, search_terms, words
from agents.text import one_line, printable
from markets.hashes import digest
from markets.millionths import ONE
from markets.model import Market, MarketId
from markets.odds import log_odds

DropReason = (
    Literal["restricted", "undated", "later", "cutoff", "empty"]
    | Verdict
    | Literal["duplicate", "too_many", "judged"]
)
"""Why an article is dropped, in the order of the checks."""
Suspects = Literal["withheld", "flagged"]
AUDIT = "audit"
"""The key of the verdicts among the reasons."""
SITES = (
    "metaculus", "goodjudgment", "gjopen", "cset", "hypermind", "predictit",
    "infer-pub.com", "insightprediction", "kalshi", "manifold.markets", "manifoldmarkets", "polymarket",
)  # fmt: skip
"""Forecasting sites and markets: what they publish is a forecast itself, or the price."""
ANYWHERE = timezone(timedelta(hours=-12))
"""Anywhere on Earth: the zone where a day ends last."""
LAST_SECOND = time(23, 59, 59)
LONGEST = 300
"""The most characters kept of a source, an address and a title each."""
SATURATION, LENGTH_WEIGHT = 1.2, 0.75
"""The parameters k1 and b of BM25: the saturation of repeated words, and the penalty on long texts."""
MOST_TERMS = 12
_ADDRESS = re.compile(r"//[^/?#\s]+")
_DAY = re.compile(r"\d{4}-\d\d-\d\d|\d{8}", re.ASCII)
_TIME = re.compile(
    r"(?:\d{4}-\d\d-\d\d|\d{8})[T ](?:[01]\d|2[0-3]):?[0-5]\d(?::?[0-5]\d(?:\.\d{1,6})?)?"
    r"(Z|[+-]\d\d:?\d\d)?",
    re.ASCII,
)


class Guard(ConfigBlock):
    """How much evidence a market gets, which sources are restricted beside the known ones, and odds."""

    per_market: int = Field(default=5, ge=1)
    characters: int = Field(default=1_000, ge=1)
    restricted: tuple[str, ...] = ()
    odds: Literal["withheld", "shown"] = Field(default="withheld", exclude_if=lambda odds: odds == "withheld")
    suspects: Suspects | None = Field(default=None, exclude_if=is_none)
    judge: str | None = Field(default=None, exclude_if=is_none)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A text whose words say that it was written too late, or that it tells a price: which words, and where.

    `hash` is that of title and text as they were found, and `market` that whose answer it tells, if it does.
    """

    verdict: Verdict | Literal["judged"]
    words: str
    place: Place
    market: MarketId
    url: str
    title: str
    published: str
    hash: str
    shown: bool


@dataclass(frozen=True, slots=True)
class Audit:
    """How many texts got a verdict, by which version of the rules, and those that are suspect.

    Whether `prices` of bets made one so is the cohort's to say.
    """

    rules: int
    prices: bool
    texts: int
    suspects: tuple[Suspect, ...] = ()


@dataclass(frozen=True, slots=True)
class GuardedArticles:
    """The articles that may be shown, newest first, and how many others were dropped for which reason."""

    articles: tuple[Article, ...]
    dropped: Mapping[DropReason, int]
    audit: Audit | None = None

    @property
    def counts(self) -> dict[str, Any]:
        """Return the reasons, and under `audit` the verdicts, in the form of the record."""
        counts: dict[str, Any] = {str(why): count for why, count in self.dropped.items()}
        if self.audit is not None:
            counts[AUDIT] = asdict(self.audit)
        return counts


def guard_articles(
    offered: Iterable[FoundArticle], market: Market, at: datetime, fetched_at: datetime, rule: Guard
) -> GuardedArticles:
    """Return which of the articles found may be shown for a market in a round at an instant."""
    asked = {market.id: market.question}
    return guard_found(offered, market.question, asked, market.closes_at, at, fetched_at, rule)


def guard_found(
    offered: Iterable[FoundArticle],
    query: str,
    asked: Mapping[MarketId, str],
    closes_at: datetime,
    at: datetime,
    fetched_at: datetime,
    rule: Guard,
) -> GuardedArticles:
    """Return which articles found for a query may be shown to an agent asked these questions.

    Of articles at one address, or with one title, the newest is kept, and of too many those that fit the
    query best; the order they come in says nothing.
    """
    dropped: Counter[DropReason] = Counter()
    allowed: list[Article] = []
    suspects: list[Suspect] = []
    flagged: dict[Article, Suspect] = {}  # suspect, and shown all the same

    for found in offered:
        article = _shown_article(found, closes_at, at, fetched_at, rule)
        if isinstance(article, str):
            dropped[article] += 1
            continue

        suspect = audited_text(article, found.text, asked, at, rule)
        if suspect is None or suspect.shown:
            allowed.append(article)
            if suspect is not None:
                flagged[article] = suspect
        else:
            dropped[suspect.verdict] += 1
            suspects.append(suspect)

    distinct: list[Article] = []
    keys_seen: set[tuple[str, str]] = set()
    for article in sorted(allowed, key=_newest_first):
        keys = _duplicate_keys(article)
        if not keys_seen.intersection(keys):
            distinct.append(article)
        keys_seen.update(keys)

    shown = _best_articles(distinct, query, rule.per_market)
    dropped += Counter({"duplicate": len(allowed) - len(distinct), "too_many": len(distinct) - len(shown)})

    audit_of_texts = None
    if rule.suspects:
        texts = len(allowed) + len(suspects)
        suspects += [flagged[article] for article in shown if article in flagged]
        in_order = tuple(sorted(suspects, key=repr))
        audit_of_texts = Audit(RULES, rule.odds == "withheld", texts, in_order)

    return GuardedArticles(shown, dict(sorted(dropped.items())), audit_of_texts)


def audited_text(
    article: Article, whole_text: str, asked: Mapping[MarketId, str], at: datetime, rule: Guard
) -> Suspect | None:
    """Return what is suspect in an article as shown, or in the whole text that it is cut from.

    Where a rule has no word on suspects, only odds are looked for.
    """
    finding = CLEAN
    if rule.suspects is not None:
        for text in dict.fromkeys((printable(whole_text), article.text)):
            finding = audit(
                article.title, text, article.url, tuple(asked.values()), at, rule.odds == "withheld"
            )
            if finding.verdict != "clean":
                break
    elif rule.odds == "withheld" and tells_odds(f"{article.title}\n{whole_text}"):
        finding = AuditFinding("odds")

    if finding.verdict == "clean":
        return None

    markets = (market for market, question in asked.items() if question == finding.question)
    return Suspect(
        finding.verdict,
        finding.words,
        finding.place,
        next(markets, MarketId("")),
        article.url,
        article.title,
        article.dated,
        digest([article.title, whole_text]),
        shown=finding.verdict != "odds" and rule.suspects == "flagged",
    )


def _best_articles(articles: Sequence[Article], query: str, most: int) -> tuple[Article, ...]:
    """Return the articles most relevant to a query in their order; of equal ones, the newer."""
    if len(articles) <= most:
        return tuple(articles)

    scores = relevance(query, [f"{article.title} {article.text}" for article in articles])
    by_score = sorted(range(len(articles)), key=lambda index: -scores[index])
    best = sorted(by_score[:most])
    return tuple(articles[index] for index in best)


def relevance(question: str, texts: Sequence[str]) -> list[float]:
    """Return each text's relevance to a question among the others: BM25 over its words.

    It is the same to the last bit everywhere.

    >>> relevance("Will BTC reach $120k?", ["Bitcoin nears $120,000", "Ether falls", "Bitcoin slips"])
    [1.88..., 0.0, 0.49...]
    """
    spellings = chain.from_iterable(term.ways for term in search_terms(question, MOST_TERMS))
    term_words = _telling_words(" ".join(spellings))
    words_sought = tuple(dict.fromkeys([*term_words, *_telling_words(question)]))
    counts = list(map(Counter, map(_telling_words, texts)))

    lengths = [sum(count.values()) for count in counts]
    mean = sum(lengths) / len(texts) if any(lengths) else 1.0
    norms = [SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean) for length in lengths]

    scores = [0.0] * len(texts)
    for word in words_sought:
        texts_with_word = sum(word in count for count in counts)
        # ln(1 + (N - n + 0.5) / (n + 0.5)), the higher the fewer texts have it
        weight = log_odds(ONE * (2 * len(texts) + 2) // (2 * len(texts) + 2 * texts_with_word + 3))
        for index, (count, norm) in enumerate(zip(counts, norms, strict=True)):
            times = count[word]
            if times:
                scores[index] += weight * times * (SATURATION + 1) / (times + norm)

    return scores


def _telling_words(text: str) -> list[str]:
    """Return the words of a text in small letters that aren't too common for a search."""
    return [word for word in map(str.casefold, words(text)) if word not in COMMON]


def _shown_article(
    found: FoundArticle, closes_at: datetime, at: datetime, fetched_at: datetime, rule: Guard
) -> Article | DropReason:
    """Return the article as it may be shown, or why it may not."""
    if is_restricted(found.source, found.url, rule.restricted):
        return "restricted"

    publication = dated(found.published)
    if publication is None:
        return "undated"

    published_at, date_text = publication
    if published_at > at:
        return "later"
    if published_at > cutoff(closes_at):
        return "cutoff"

    title = one_line(found.title, LONGEST)
    text = printable(found.text).strip()
    if len(text) > rule.characters:
        text = f"{text[: rule.characters - 1].rstrip()}…"
    if not title and not text:
        return "empty"

    source = one_line(found.source, LONGEST)
    url = one_line(found.url, LONGEST)
    return Article(source, url, title, text, published_at, fetched_at, date_text)


def _newest_first(article: Article) -> tuple[object, ...]:
    age = datetime.max.replace(tzinfo=UTC) - article.published_at
    return age, article.source, article.title, article.url, article.text


def _duplicate_keys(article: Article) -> list[tuple[str, str]]:
    """Return what two copies of an article have in common: an address, a title, or without it the text."""
    without_fragment = article.url.partition("#")[0].casefold()
    address = re.sub(r"^https?://(www\.)?", "", without_fragment).rstrip("/")
    heading = letters(article.title) or letters(article.text)

    return [(kind, key) for kind, key in (("url", address), ("title", heading)) if key]


def cutoff(closes_at: datetime) -> datetime:
    """Return the last instant that counts: 23:59:59 UTC of the day before a market closes."""
    day = closes_at.astimezone(UTC).date()
    if day > date.min:
        day -= timedelta(days=1)
    return datetime.combine(day, LAST_SECOND, UTC)


def dated(published: str) -> tuple[datetime, str] | None:
    """Return the latest instant that a date or time can mean, and its text; None if it is neither.

    >>> dated("2022-03-21 14:30")
    (datetime.datetime(2022, 3, 22, 2, 30, tzinfo=datetime.timezone.utc), '2022-03-21 14:30')
    """
    text = published.strip()
    try:
        if _DAY.fullmatch(text):
            day = date.fromisoformat(text)
            return datetime.combine(day, LAST_SECOND, ANYWHERE).astimezone(UTC), day.isoformat()

        if not _TIME.fullmatch(text):
            return None

        time_read = datetime.fromisoformat(text)
        if time_read.tzinfo is None:
            latest = time_read.replace(tzinfo=ANYWHERE).astimezone(UTC)
            return latest, f"{time_read.date()} {time_read:%H:%M}"

        exact = time_read.astimezone(UTC)
        return exact, f"{exact.date()} {exact:%H:%M} UTC"
    except (ValueError, OverflowError):
        return None  # the 31st of February, or a day beyond the calendar


def is_restricted(source: str, url: str, more: Iterable[str] = ()) -> bool:
    """Return whether an article is from a forecasting site or another restricted source.

    A name with a dot is a domain, with all below it; one without stands for every source whose name,
    or a part of whose address, begins so. An address inside another one counts too.
    """
    addresses = [*_ADDRESS.findall(unquote(url)), url]
    hosts = [_host(address) for address in addresses if address]
    if "." in source and " " not in source.strip():
        hosts.append(_host(source))

    names = [letters(source)]
    for host in hosts:
        names += map(letters, (*host.split("."), *re.split("[.-]", host)))
    return any(_is_from_site(site, hosts, names) for site in (*SITES, *more))


def _is_from_site(site: str, hosts: Iterable[str], names: Iterable[str]) -> bool:
    """Return whether one of the hosts is at a domain, or one of the names begins like a site's."""
    domain = _host(site)
    if "." in domain:
        return any(f".{host}".endswith(f".{domain}") for host in hosts)

    site_name = letters(site)
    return bool(site_name) and any(name.startswith(site_name) for name in names)


def _host(address: str) -> str:
    """Return the host of an address, without user, port, trailing dot and www."""
    without_scheme = address.strip().casefold().rpartition("//")[2]
    authority = re.split("[/?#]", without_scheme)[0]
    host = authority.rpartition("@")[2].partition(":")[0]
    return host.rstrip(".").removeprefix("www.")


def letters(text: str) -> str:
    """Return a name or title in lower case, letters and digits only."""
    return "".join(filter(str.isalnum, text)).casefold()
