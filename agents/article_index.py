"""An in-memory full-text index of articles: ranked, in milliseconds among a hundred thousand.

A row's number begins with the second at which its article was out, so that a search reads nothing of others.
"""

import re
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from itertools import starmap

from agents.evidence import FoundArticle
from agents.guard import dated
from agents.search_terms import PLAIN, SIGNED

MOST_FOUND = 20
MOST_WORDS = 12
MOST_PLACES = 15_000
"""Common words are left out of a search once rarer ones stand in so many articles; where all are common, it
goes over the newest articles only, and over so few of what came later."""
COLUMNS = "title, text, source UNINDEXED, url UNINDEXED, published UNINDEXED"
TABLES = (
    f"CREATE VIRTUAL TABLE article USING fts5({COLUMNS})",
    "CREATE VIRTUAL TABLE word USING fts5vocab(article, 'row')",
    "CREATE TABLE place (name TEXT PRIMARY KEY, url TEXT NOT NULL, number INTEGER NOT NULL) STRICT",
    "CREATE INDEX place_url ON place (url)",
    "CREATE INDEX place_number ON place (number)",
)
ADD = "INSERT INTO article (rowid, title, text, source, url, published) VALUES (?, ?, ?, ?, ?, ?)"
BEST = "SELECT rowid FROM article WHERE article MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rank LIMIT ?"
BACK = "SELECT number FROM place WHERE number < ? ORDER BY number DESC LIMIT 1 OFFSET ?"
AHEAD = "SELECT number FROM place WHERE number >= ? ORDER BY number LIMIT 1 OFFSET ?"
"""Queries for the article this many places before a time, or after it."""
READ = "SELECT source, url, title, text, published FROM article WHERE rowid = ?"
WORD = re.compile(r"\w+")
A_SECOND = 2**24
"""The most articles of one second."""
NEVER = 2**38
"""The second of articles without a date."""


class ArticleIndex:
    """Articles by file name, which is the address of an article without one."""

    def __init__(self, most_articles: int = MOST_PLACES) -> None:
        self._most_articles = most_articles
        self._rows = sqlite3.connect(":memory:", check_same_thread=False)
        for text in TABLES:
            self._rows.execute(text)
        self._stamps: dict[str, int] = {}
        self._added = self._count = 0

    def outdated(self, stamps: Mapping[str, int]) -> Iterator[str]:
        """Yield the files that are new or changed since they were indexed; forget removed ones."""
        for name in [name for name, stamp in self._stamps.items() if stamps.get(name) != stamp]:
            query = "DELETE FROM place WHERE name = ? RETURNING number"
            removed = self._rows.execute(query, (name,)).fetchall()
            self._rows.executemany("DELETE FROM article WHERE rowid = ?", removed)
            self._count -= len(removed)

        new = [name for name, stamp in stamps.items() if self._stamps.get(name) != stamp]
        self._stamps = dict(stamps)
        yield from new

    def add(self, name: str, article: FoundArticle) -> None:
        """Add an article to the index."""
        when = dated(article.published)
        url = article.url or name
        second = NEVER
        if when is not None:
            second = int(when[0].timestamp())
        self._added += 1
        self._count += 1
        number = second * A_SECOND + self._added
        row = (number, article.title, article.text, article.source, url, article.published)
        self._rows.execute(ADD, row)
        self._rows.execute("INSERT INTO place VALUES (?, ?, ?)", (name, url, number))

    def search(self, query: str, at: datetime) -> list[FoundArticle]:
        """Return the articles that match best, of those out at an instant and of later ones."""
        names_with_signs = SIGNED.findall(query)
        without_signs = SIGNED.sub(" ", query.replace("'s", " ").replace("’s", " "))
        query_words = {*map(str.casefold, names_with_signs), *WORD.findall(without_signs.casefold())} - PLAIN
        words, article_count = self._rarest_words(query_words)
        if not words:
            return []

        any_word = " OR ".join(f'"{word}"' for word in words)
        first_later_number = (int(at.timestamp()) + 1) * A_SECOND
        first, end = self._range_to_search(first_later_number, article_count)

        # each range has a limit of its own, so that later articles displace none that were out
        articles = list[FoundArticle]()
        for begin, stop in ((first, first_later_number), (first_later_number, end)):
            for (number,) in self._rows.execute(BEST, (any_word, begin, stop, MOST_FOUND)).fetchall():
                articles += self._articles(number)

        return articles

    def _rarest_words(self, words: Collection[str]) -> tuple[list[str], int]:
        """Return the rarest of some words, within the limits of a search, and their article count."""
        counts = sorted((self._count_of_articles_with(word), word) for word in words)
        present = [(count, word) for count, word in counts if count]
        chosen = list[str]()
        total = 0
        for count, word in present[:MOST_WORDS]:
            if chosen and total + count > self._most_articles:
                break
            total += count
            chosen.append(word)

        return chosen, total

    def _count_of_articles_with(self, word: str) -> int:
        """Return how many articles contain a word; for a name with punctuation, an upper bound."""
        query = "SELECT coalesce(max(doc), 0) FROM word WHERE term = ?"
        counts = [self._rows.execute(query, (part,)).fetchone()[0] for part in WORD.findall(word)]
        return int(min(counts))

    def _range_to_search(self, first_later_number: int, article_count: int) -> tuple[int, int]:
        """Return the range of numbers to search, for words in this many articles."""
        if article_count <= self._most_articles:
            return 0, 2**63 - 1

        # common words: only so many of the newest articles that the matches among them stay within the limit
        newest = self._most_articles * self._count // article_count
        first = self._rows.execute(BACK, (first_later_number, newest - 1)).fetchone()
        end = self._rows.execute(AHEAD, (first_later_number, MOST_FOUND)).fetchone()
        return first[0] if first else 0, end[0] if end else 2**63 - 1

    def find(self, url: str) -> FoundArticle | None:
        """Return the newest article at an address."""
        newest = "SELECT number FROM place WHERE url = ? ORDER BY number DESC LIMIT 1"
        row = self._rows.execute(newest, (url,)).fetchone()
        if row is None:
            return None
        return self._articles(*row)[0]

    def _articles(self, number: int) -> list[FoundArticle]:
        return list(starmap(FoundArticle, self._rows.execute(READ, (number,))))

    def close(self) -> None:
        """Close the index and free its memory."""
        self._rows.close()
