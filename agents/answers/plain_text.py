"""Forecasts out of an answer without JSON: a table with a header, or words each of which is understood.

A market and a number take turns, no market is named twice, and nothing else stands there that could have a
meaning.
"""

import csv
import re
from collections.abc import Mapping
from typing import Any

from agents.answers.grammar import NumberText
from agents.answers.json_text import after_thoughts
from agents.answers.keys import CHANCE_KEYS, MARKET_KEYS, PERCENT_KEYS, market_named, plain_key, word_set

MOST_PLAIN = 20_000
_TOKEN = re.compile(
    r"(?P<name>(?<![\w.])(?:market\s*)?#?m\s?[0-9]{1,5}(?![\w.]*[0-9]))"
    r"|(?P<figure>(?<![\w.,/])(?:[0-9]{1,3}(?:\.[0-9]{1,9})?\s*(?:%|percent\b)|[01]?\.[0-9]{1,9}|[01](?![\w.]))(?![\w%/]))"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)|(?P<digit>\d)|(?P<doubt>[<>≤≥±–—]|(?<=[\s(:=|])-(?=[\d.]))",
    re.IGNORECASE,
)
_UNDERSTOOD = word_set(
    "i i'd i’d would say think believe put give estimate my the a an of is are at and to for has have "
    "with that it its chance chances probability probabilities prob forecast forecasts prediction "
    "predictions likelihood likely about around approximately roughly yes resolving resolves being market "
    "markets id item f p answer answers final here these as follows percent table tr td th thead tbody ul "
    "li br div span p"
)
_NUMBERED = re.compile(r"^[ \t]*[0-9]{1,4}[.)][ \t]+", re.MULTILINE)
_PLACE = re.compile(r"([0-9]{1,4})[.):]\s+([0-9]{1,3}(?:\.[0-9]{1,9})?\s*%|0?\.[0-9]{1,9})")
_TAG = re.compile(r"<(?=/?[a-z])|/?>", re.IGNORECASE)


def plain_forecasts(text: str, names: Mapping[str, Any]) -> list[Any]:
    """An item for each market; none where anything is in doubt."""
    text = after_thoughts(text).strip()
    if not 0 < len(text) <= MOST_PLAIN:
        return []
    return _from_table(text, names) or _from_words(text, names) or _from_places(text, names)


def _from_words(text: str, names: Mapping[str, Any]) -> list[Any]:
    items: list[Any] = []
    market: Any = None
    for token in _TOKEN.finditer(_TAG.sub(" ", _NUMBERED.sub("", text))):
        if token["name"]:
            named = market_named(token["name"], names)
            if market is not None or named is None or any(item["market"] == token["name"] for item in items):
                return []
            market = token["name"]
        elif token["figure"]:
            if market is None:
                return []
            figure = token["figure"]
            items.append(
                {"market": market, "probability": figure if figure[-1] in "%tT" else NumberText(figure)}
            )
            market = None
        elif not token["word"] or token["word"].casefold() not in _UNDERSTOOD:
            return []
    return [] if market is not None else items


def _from_places(text: str, names: Mapping[str, Any]) -> list[Any]:
    """Lines that number the markets from the first to the last, and say nothing but a share of each."""
    lines = [_PLACE.fullmatch(line.strip()) for line in text.splitlines() if line.strip()]
    places = [line[1] if line else "" for line in lines]
    if places != [str(place) for place in range(1, len(names) + 1)]:
        return []
    return [{"market": f"m{line[1]}", "probability": line[2]} for line in lines if line]


def _from_table(text: str, names: Mapping[str, Any]) -> list[Any]:
    """The rows of a table whose first line names a column of markets and one of probabilities."""
    lines = [line.strip().strip("|") for line in text.strip("`").splitlines()]
    lines = [line for line in lines if line.strip("-:|+= \t`")]
    mark = next((mark for mark in "|\t;," if lines and mark in lines[0]), None)
    if mark is None:
        return []
    header, *rows = ([cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark))
    columns = [plain_key(cell) for cell in header]
    market = [n for n, name in enumerate(columns) if name in MARKET_KEYS]
    chance = [n for n, name in enumerate(columns) if name in CHANCE_KEYS]
    if not market or len(chance) != 1:
        return []
    items: list[Any] = []
    for row in rows:
        found = {str(names_) for n in market if n < len(row) and (names_ := market_named(row[n], names))}
        if len(row) != len(columns) or len(found) != 1:
            return []
        name = next(row[n] for n in market if market_named(row[n], names))
        figure = row[chance[0]]
        marked = f"{figure}%" if columns[chance[0]] in PERCENT_KEYS and "%" not in figure else figure
        items.append({"market": name, "probability": marked})
    return items
