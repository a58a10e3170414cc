"""Sources that may not be used: what they say is a forecast itself."""

import re
from collections.abc import Iterable
from urllib.parse import unquote

from agents.keywords import letters

SITES = (
    "metaculus", "goodjudgment", "gjopen", "cset", "hypermind", "predictit",
    "infer-pub.com", "insightprediction", "kalshi", "manifold.markets", "manifoldmarkets", "polymarket",
)  # fmt: skip
"""Forecasting sites and markets: what they publish is a forecast itself, or the price."""

_ADDRESS = re.compile(r"//[^/?#\s]+")


def is_restricted(source: str, url: str, more: Iterable[str] = ()) -> bool:
    """Whether an article is from a forecasting site, or from one of those named beside them.

    A name with a dot is a domain, with all below it; one without stands for every source whose name,
    or a part of whose address, begins so. An address inside another one counts too.

    >>> is_restricted("Good Judgment Open", ""), is_restricted("", "https://www.metaculus.com/questions/1/")
    (True, True)
    >>> is_restricted("", "https://archive.example/2026/https://manifold.markets/x")
    True
    >>> is_restricted("Example", "https://news.example.com/metaculus", ["example.org"])
    False
    """
    hosts = [_host(part) for part in (*_ADDRESS.findall(unquote(url)), url) if part]
    if "." in source and " " not in source.strip():
        hosts.append(_host(source))
    names = [letters(part) for host in hosts for part in (*host.split("."), *re.split("[.-]", host))]
    return any(_is_at(site, hosts, [letters(source), *names]) for site in (*SITES, *more))


def _is_at(site: str, hosts: Iterable[str], names: Iterable[str]) -> bool:
    place, wanted = _host(site), letters(site)
    if "." in place:
        return any(f".{host}".endswith(f".{place}") for host in hosts)
    return bool(wanted) and any(name.startswith(wanted) for name in names)


def _host(address: str) -> str:
    """The name of a host in an address, without user, port, a last dot and www."""
    host = re.split("[/?#]", address.strip().casefold().rpartition("//")[2])[0]
    return host.rpartition("@")[2].partition(":")[0].rstrip(".").removeprefix("www.")
