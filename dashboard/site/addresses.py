"""The addresses of a site's pages: names that every file system and host accepts, one for each page."""

import re
from collections.abc import Mapping
from hashlib import sha256

from dashboard.pages import Address, Way

LONGEST = 60
"""The most letters of a name in that of its file."""
PLAIN = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*")
HASHED = re.compile(r"-[0-9a-f]{10}\Z")
RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
"""Names that Windows takes for devices, with any ending."""


def file_name(name: str) -> str:
    """Return the file name of an agent or a market: the same letters if that works, else with a hash.

    Names that differ have files that differ, also where upper and lower case are one.

    >>> file_name("gpt-5.6"), file_name("GPT-5.6"), file_name("../x"), file_name("nul.a")
    ('gpt-5.6', 'gpt-5-6-8ef19aafb1', 'x-d6b96a97d1', 'nul-a-9f3ae4edec')
    """
    is_plain = PLAIN.fullmatch(name) and len(name) <= LONGEST
    is_device = name.lower().partition(".")[0] in RESERVED
    if is_plain and not is_device and not HASHED.search(name):
        return name

    letters = re.sub(r"[^a-z0-9]+", "-", name.lower())[:LONGEST].strip("-")
    return f"{letters or 'x'}-{sha256(name.encode()).hexdigest()[:10]}"


FIXED = {
    "arena": "index.html",
    "leaderboard": "agents.html",
    "markets": "markets.html",
    "how": "how.html",
    "glossary": "glossary.html",
}
SHOWN = {"cohort": "cohorts", "agent": "agents", "market": "markets"}
"""Pages of which there are many, by what they show, with their folders."""


def event_file(event_id: str) -> str:
    """Return the file of the page with the markets of an event."""
    return f"markets/{file_name(event_id)}.html"


def file_of(destination: Way) -> str | None:
    """Return the file of a page, or None for those that a site does not have.

    >>> file_of(Way("cohort", {"cohort": 3})), file_of(Way("turn", {"cohort": 3}))
    ('cohorts/3.html', None)
    """
    if destination.to in SHOWN:
        return f"{SHOWN[destination.to]}/{file_name(str(destination.shown[destination.to]))}.html"
    return FIXED.get(destination.to)


def address_from(page: str, address_of_file: Mapping[str, str]) -> Address:
    """Return a function that gives the address of a destination, relative to a page of a site.

    It returns None for a destination that the site doesn't have. `address_of_file` maps each file name of
    `file_of` to the address of its content, since several markets share a page.
    """
    path_to_root = "../" * page.count("/")

    def address(destination: Way) -> str | None:
        file = file_of(destination) or ""
        file_address = address_of_file.get(file)
        if file_address is None:
            return None
        return path_to_root + file_address

    return address
