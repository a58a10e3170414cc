"""A site that was published, as somebody walks through it: every page, every link, every file."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from dashboard.site.folder import Told
from dashboard.site.write import publish_site
from tests.dashboard.hostile import hostile
from tests.once import made_once
from tests.rows import read_only

LEADING = {"href", "src", "srcset", "action", "poster", "data", "background", "xlink:href", "formaction"}
VENUES = (
    "https://gamma-api.polymarket.com/",
    "https://external-api.kalshi.com/",
    "https://api.manifold.markets/",
)
"""Where a link may lead out of a site: to a market's own venue, and only by a click."""


class PageParts(HTMLParser):
    """The elements of a page, what leads or loads from it, and the names in it that a link may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.leads: list[tuple[str, str]] = []
        self.ids: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.append((name, value or ""))
            if name in LEADING:
                self.leads.append((tag, value or ""))
            if name == "id":
                self.ids.add(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


@cache
def parts_of(text: str) -> PageParts:
    """Parse a page once, however many tests look at it."""
    return PageParts(text)


@dataclass(frozen=True)
class PublishedSite:
    """A folder with a site in it."""

    folder: Path

    def publish(
        self,
        record: Path,
        prompts: bool = False,
        told: Told = lambda done, of: None,
        address: str = "",
    ) -> dict[str, Any]:
        """Bring it up to a record, as the program does that `arena share site` starts."""
        with read_only(record) as connection:
            return publish_site(connection, self.folder, prompts, told, address)

    def pages(self) -> dict[str, PageParts]:
        """Return all pages by path."""
        files = sorted(self.folder.rglob("*.html"))
        return {str(file.relative_to(self.folder)): parts_of(file.read_text("utf-8")) for file in files}

    def files(self) -> dict[str, bytes]:
        """Return all files by path, without the hidden ones."""
        found = (file for file in self.folder.rglob("*") if file.is_file() and not file.name.startswith("."))
        return {str(file.relative_to(self.folder)): file.read_bytes() for file in found}

    def broken(self) -> tuple[int, list[str]]:
        """Return how many links and files were looked for, and those that lead nowhere or out of the site."""
        files = set(self.files())
        pages = self.pages()
        looked = 0
        wrong = list[str]()
        for path, page in pages.items():
            for tag, address in page.leads:
                looked += 1
                target = self._target(path, address)
                parts = urlsplit(address)
                there = pages.get(target)
                named = not parts.fragment or (there is not None and parts.fragment in there.ids)
                if parts.scheme or parts.netloc or target not in files or not named:
                    wrong += [f"{path}: {address}"] * (not (tag == "a" and address.startswith(VENUES)))
        return looked, wrong

    def reached(self) -> set[str]:
        """Return every page that clicks lead to from the first one."""
        pages = self.pages()
        found = set[str]()
        left = ["index.html"]
        while left:
            path = left.pop()
            if path not in found:
                found.add(path)
                left += [one for one in self._ways(path, pages[path]) if one in pages]
        return found

    def _ways(self, path: str, page: PageParts) -> Iterator[str]:
        for tag, address in page.leads:
            if tag == "a" and not urlsplit(address).scheme:
                yield self._target(path, address)

    def _target(self, path: str, address: str) -> str:
        """Return the file in the site that an address on one of its pages names."""
        where = unquote(urlsplit(address).path)
        return normpath(join(dirname(path), where)) if where else path


def hostile_site(folders: pytest.TempPathFactory) -> PublishedSite:
    """Return the site of a season in which every text from outside is hostile, only to be read."""
    record = hostile(folders)
    made = made_once("hostile site", folders, lambda folder: PublishedSite(folder / "site").publish(record))
    return PublishedSite(made / "site")
