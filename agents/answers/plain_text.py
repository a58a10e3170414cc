"""Forecasts out of an answer without JSON: a table, flat YAML, or words each of which is understood.

Nothing is read where anything is in doubt, and orders are never read here.
"""

import csv
import html
import re
from collections.abc import Mapping
from typing import Any

from agents.answers.figures import PLAIN_SIGNS
from agents.answers.grammar import NumberText
from agents.answers.json_text import after_thoughts
from agents.answers.keys import (
    MARKET_KEYS,
    REASON_KEYS,
    as_said,
    is_chance_key,
    market_named,
    plain_key,
    word_set,
)

MOST_PLAIN = 20_000
_TOKEN = re.compile(
    r"(?P<name>(?<![\w.])(?:market\s*)?#?m\s?[0-9]{1,5}(?![\w.]*[0-9]))"
    r"|(?P<figure>(?<![\w.,/])(?:[0-9]{1,3}(?:\.[0-9]{1,9})?\s*(?:%|percent\b)|[01]?\.[0-9]{1,9}|[01](?![\w.]))(?![\w%/]))"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)|(?P<digit>\d)|(?P<doubt>[<>≤≥±–—]|(?<=[\s(:=|])-(?=[\d.]))",
    re.IGNORECASE,
)
_UNDERSTOOD = word_set(
    "i i'd i’d would say think believe put give estimate my the a an of is are at and to for has "
    "with that it its chance chances probability probabilities prob forecast forecasts prediction "
    "predictions likelihood likely about around approximately roughly yes resolving resolves being market "
    "markets id item f p answer answers final here these as follows percent table tr td th thead tbody ul "
    "li br div span p"
)
_NUMBERED = re.compile(r"^[ \t]*[0-9]{1,4}[.)][ \t]+", re.MULTILINE)
_PLACE = re.compile(r"([0-9]{1,4})[.):]\s+([0-9]{1,3}(?:\.[0-9]{1,9})?\s*%|0?\.[0-9]{1,9})")
_MARKUP = re.compile(r"<(?=/?[a-z])|/?>", re.IGNORECASE)
_NO_ANSWER = re.compile(
    r"\d|\b(?:example|format|draft|template|schema|if|not|no|unless|otherwise|hypothe|prior|previous|initial"
    r"|price|odds|crowd|consensus|wrong|instead|would|was|were)",
    re.IGNORECASE,
)
"""Words around a fence that cast doubt on it as the answer."""
_YAML_LINE = re.compile(r"(?:-\s+)?([\w \"'()%-]{1,40}?)\s*:(?:\s+(.{1,500}))?")


def plain_forecasts(text: str, names: Mapping[str, Any], cut: bool) -> list[Any]:
    """Return the forecasts of a text without JSON, as items; an empty list if anything is in doubt.

    Of a text that was `cut` off the last line is left out, whose number may lack its end.

    In words, a market and a number take turns, no market is named twice, and nothing else stands there that
    could have a meaning.
    """
    text = after_thoughts(text).strip()
    if cut:
        text = text.rpartition("\n")[0]

    if not 0 < len(text) <= MOST_PLAIN:
        return []

    text = _fenced(html.unescape(text).translate(PLAIN_SIGNS))
    for read in (_from_table, _from_yaml, _from_words, _from_places):
        items = read(text, names)
        if items:
            return items

    return []


def _fenced(text: str) -> str:
    """Return what stands within the only fence of a text; the text where words around it are in doubt."""
    parts = re.split(r"^[ \t]*(?:```|~~~)\w*[ \t]*$", text, flags=re.MULTILINE)
    if len(parts) != 3 or _NO_ANSWER.search(parts[0] + parts[2]):
        return text
    return parts[1].strip()


def _from_yaml(text: str, names: Mapping[str, Any]) -> list[Any]:
    """Return the forecasts of lines `key: value`, of which a market begins each."""
    items: list[Any] = []
    for line in text.splitlines():
        pair = _YAML_LINE.fullmatch(line.strip())
        if line.strip() in ("", "---"):
            continue
        if pair is None:
            return []

        key = pair[1].strip("\"'")
        value = (pair[2] or "").strip("\"'")
        if _is_empty_list(key, value):
            continue

        if plain_key(key) in MARKET_KEYS and (not items or "market" in items[-1]):
            items.append({"market": value})
        elif is_chance_key(key) and items and "probability" not in items[-1]:
            items[-1]["probability"] = as_said(key, value)
        elif plain_key(key) in REASON_KEYS and items and "reason" not in items[-1]:
            items[-1]["reason"] = value
        else:
            return []

    is_whole = all("probability" in item and market_named(item["market"], names) for item in items)
    return items if is_whole else []


def _is_empty_list(key: str, value: str) -> bool:
    """Return whether a line opens the list of forecasts, or says that there are no orders."""
    name = plain_key(key)
    if name in ("forecasts", "predictions"):
        return value == ""
    return name in ("bets", "sales") and value == "[]"


def _from_words(text: str, names: Mapping[str, Any]) -> list[Any]:
    items: list[Any] = []
    market: Any = None
    for token in _TOKEN.finditer(_MARKUP.sub(" ", _NUMBERED.sub("", text))):
        if token["name"]:
            named = market_named(token["name"], names)
            if market is not None or named is None or any(item["market"] == token["name"] for item in items):
                return []
            market = token["name"]
        elif token["figure"]:
            if market is None:
                return []
            figure = token["figure"]
            if figure[-1] not in "%tT":
                figure = NumberText(figure)
            items.append({"market": market, "probability": figure})
            market = None
        elif not token["word"] or token["word"].casefold() not in _UNDERSTOOD:
            return []

    return [] if market is not None else items


def _from_places(text: str, names: Mapping[str, Any]) -> list[Any]:
    """Return forecasts from lines that number all markets in order, each with nothing but a share."""
    items: list[Any] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        stated = _PLACE.fullmatch(line)
        if stated is None or stated[1] != str(len(items) + 1):
            return []
        items.append({"market": f"m{stated[1]}", "probability": stated[2]})

    if len(items) != len(set(names.values())):
        return []
    return items


def _from_table(text: str, names: Mapping[str, Any]) -> list[Any]:
    """Return forecasts from a table whose header names a column of markets and one of probabilities."""
    lines = [line.strip().strip("|") for line in text.strip("`").splitlines()]
    lines = [line for line in lines if line.strip("-:|+= \t`")]
    mark = next((mark for mark in "|\t;," if lines and mark in lines[0]), None)
    if mark is None:
        return []

    header, *rows = (list(map(str.strip, row)) for row in csv.reader(lines, delimiter=mark))
    columns = list(map(plain_key, header))
    market_places = [place for place, name in enumerate(columns) if name in MARKET_KEYS]
    chance_keys = list(filter(is_chance_key, header))
    if not market_places or len(chance_keys) != 1 or len(set(columns)) < len(columns):
        return []

    items: list[Any] = []
    for row in rows:
        cells = dict(zip(header, row, strict=False))
        if len(row) != len(columns):
            return []

        names_of_row = [row[place] for place in market_places if market_named(row[place], names)]
        markets = {str(market_named(name, names)) for name in names_of_row}
        if len(markets) != 1:
            return []

        for place in market_places:
            del cells[header[place]]
        items.append({"market": names_of_row[0], **cells})
    return items
