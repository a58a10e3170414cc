"""Articles on disk: one a file, with a few lines before the text that say what it is and of when.

`docs/news.md` describes the form of a file. A market gets the articles that name it under `markets`, and
of those that name none the ones that have at least two of its question's telling words. A search by words
goes over all of them, through an index that is kept while the process lives.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import Field

from agents.article_index import ArticleIndex
from agents.evidence import FoundArticle, ResearchError, ResearchSettings
from agents.guard import dated
from agents.search_terms import keywords, words
from markets.model import Market
from markets.registry import PYTHON_ONLY
from markets.venue import QuarantinedRecord, Report, ignore_report

SUFFIXES = (".md", ".txt")
KEYS = ("title", "published", "source", "url", "markets")
NEEDED = KEYS[:3]
DATE = "date"
"""What front matter calls `published`."""
FRONT_MATTER = re.compile(r"---[ \t]*\n((?:(?:\w[\w.-]*[ \t]*:.*|[ \t#-].*|)\n)*?)---[ \t]*(?:\n|\Z)")
"""Keys, lists and comments between two lines of dashes. A line of the text matches no more than one of the
alternatives, so that matching takes time in proportion to the length."""
FIELD = re.compile(r"^(\w[\w.-]*)[ \t]*:(.*(?:\n(?!\w).*)*)", re.MULTILINE)
"""A key of front matter, and its value to the line before the next key."""
SIGNS = re.compile(r"^[ \t]*(?:#.*|- )|(?<=:)[ \t]*[>|][+-]?[ \t]*$", re.MULTILINE)
"""Comments, the dashes of lists, and the signs of values that begin on the next line."""
SPACED_ZONE = re.compile(r" (?=[+-]\d\d:?\d\d$)")
MOST_BYTES = 1_000_000
MOST_FILES = 100_000
MOST_WORDS = 8
"""So many telling words of a question are looked for."""


class Settings(ResearchSettings):
    """The folder of articles.

    The path is not frozen with a cohort.
    """

    path: Path = Field(default=Path("news"), exclude=True)
    """The folder, relative to the config's."""
    words: int = Field(default=2, ge=1, le=MOST_WORDS, json_schema_extra=PYTHON_ONLY)
    """How many of a question's keywords an article must contain."""


class UnreadableArticle(ValueError):
    """A file that isn't a valid article."""


@dataclass(frozen=True, slots=True)
class ArticleFile:
    """An article with the markets that it names, and its words."""

    article: FoundArticle
    markets: frozenset[str]
    words: frozenset[str]

    def concerns(self, market: Market, question_words: Sequence[str], words_needed: int) -> bool:
        """Tell whether the article is about a market with these keywords."""
        if self.markets:
            return market.id in self.markets
        if not question_words:
            return False

        words_found = sum(word in self.words for word in question_words)
        return words_found >= min(words_needed, len(question_words))


class ArticleFolder:
    """A folder of articles, read anew at each decision time."""

    def __init__(self, settings: Settings, report: Report):
        self._settings = settings
        self._report = report
        self._read_at: datetime | None = None
        self._articles_read: list[ArticleFile] = []
        self._index: ArticleIndex | None = None

    async def articles(self, market: Market, at: datetime) -> list[FoundArticle]:
        """Return the articles about a market, in the order of their file names."""
        if at != self._read_at:
            folder = self._settings.path
            self._articles_read = _read_articles(_article_paths(folder), folder, self._report)
            self._read_at = at
        question_words = keywords(market.question, MOST_WORDS)
        words_needed = self._settings.words
        return [
            file.article
            for file in self._articles_read
            if file.concerns(market, question_words, words_needed)
        ]

    async def search(self, query: str, at: datetime) -> list[FoundArticle]:
        """Return the best matches by BM25, of articles out at an instant and of later ones."""
        return self._updated_index().search(query, at)

    async def read(self, url: str) -> FoundArticle | None:
        """Return the whole article at an address."""
        return self._updated_index().find(url)

    def _updated_index(self) -> ArticleIndex:
        """Return an up-to-date index of the folder; unchanged files are not read again."""
        folder = self._settings.path
        stamps = {
            path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in _article_paths(folder)
        }
        if self._index is None:
            self._index = ArticleIndex()

        for name in self._index.outdated(stamps):
            for filed in _read_articles([folder / name], folder, self._report):
                self._index.add(name, filed.article)

        return self._index

    async def close(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()
        self._index = None


def _read_articles(paths: Sequence[Path], folder: Path, report: Report) -> list[ArticleFile]:
    """Return the articles of these files; report those that are none."""
    articles = []
    for path in paths:
        try:
            articles.append(_parsed_article(_file_text(path)))
        except UnreadableArticle as error:
            name = path.relative_to(folder).as_posix()
            report(QuarantinedRecord("folder", name, "article", "malformed", str(error)))

    return articles


def research(settings: Settings, report: Report = ignore_report) -> ArticleFolder:
    """Return a folder of articles as a source."""
    return ArticleFolder(settings, report)


@dataclass(frozen=True, slots=True)
class ArticleCount:
    """How many files a folder has, and how many are articles with a date; `fault` says why not all are."""

    files: int
    articles: int
    fault: str


def count_articles(settings: Settings) -> ArticleCount:
    """Read a folder as rounds do, and count what they can use."""
    faults: list[QuarantinedRecord] = []
    files = _article_paths(settings.path)
    articles = _read_articles(files, settings.path, faults.append)

    fault = ""
    if faults:
        fault = f"{faults[0].record}: {faults[0].reason}"
    elif not files:
        fault = "it has no .md or .txt file"
    return ArticleCount(len(files), len(articles), fault)


def _article_paths(folder: Path) -> list[Path]:
    """Return every file that may be an article, in the folder and its subfolders, without links."""
    if not folder.is_dir():
        raise ResearchError("no_folder", f"there is no folder {folder}", "check evidence.folder.path")

    try:
        paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)
    except OSError as error:
        raise ResearchError("unreadable", f"{folder} can't be read: {error.strerror}") from error

    if len(paths) > MOST_FILES:
        hint = "leave older articles out, or write a source of your own"
        raise ResearchError("too_many", f"{folder} holds more than {MOST_FILES:,} articles", hint)
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def _file_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise UnreadableArticle(f"it is longer than {MOST_BYTES:,} bytes")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UnreadableArticle(f"it can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableArticle("it is not UTF-8 text") from error


def _parsed_article(text: str) -> ArticleFile:
    """Return the article of a file: keys and values as front matter or before an empty line, and a text."""
    text = "\n".join(text.splitlines())
    front_matter = FRONT_MATTER.match(text)
    if front_matter is not None:
        head = _front_matter(front_matter[1])
        body = text[front_matter.end() :].strip()
    else:
        lines = iter(text.splitlines())
        head = dict(_head_lines(lines))
        body = "\n".join(lines).strip()

    # Site generators have a key `published` too, which is true or false.
    if DATE in head and dated(head.get("published", "")) is None:
        head["published"] = SPACED_ZONE.sub("", head[DATE])
    if not head.get("source"):
        address = head.get("url", "").partition("//")[2]
        head["source"] = address.partition("/")[0].removeprefix("www.")

    missing = [key for key in NEEDED if not head.get(key)]
    if missing:
        raise UnreadableArticle(f"the line `{missing[0]}:` is missing before the text")
    if dated(head["published"]) is None:
        raise UnreadableArticle(f"{ascii(head['published'])[:60]} is neither a day nor a time")

    names = [name.strip(" []'\"") for name in re.split("[,\n]", head.get("markets", ""))]
    title = " ".join(head["title"].split())
    article = FoundArticle(head["source"], head.get("url", ""), title, body, head["published"])
    article_words = frozenset(map(str.casefold, words(f"{title} {body}")))
    return ArticleFile(article, frozenset(filter(None, names)), article_words)


def _front_matter(text: str) -> dict[str, str]:
    """Return the values of front matter as texts; of a list, each item on a line."""
    fields = FIELD.findall(SIGNS.sub(" ", text))
    return {key.casefold(): value.strip().strip("\"'") for key, value in fields}


def _head_lines(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yield the keys and values before the first empty line; lines of dashes around them don't matter."""
    keys_seen = set[str]()
    for line in lines:
        if not line.strip():
            return
        if line.strip("- ") == "":
            continue

        key, colon, value = line.partition(":")
        key = key.strip().casefold()
        if not colon or key not in (*KEYS, DATE):
            raise UnreadableArticle(
                f"{ascii(line)[:60]} is none of {', '.join(KEYS)} with a colon and a value"
            )
        if key in keys_seen:
            raise UnreadableArticle(f"`{key}:` appears twice")

        keys_seen.add(key)
        yield key, value.strip().strip("\"'")
