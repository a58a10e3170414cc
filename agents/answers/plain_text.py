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
    as_percent_if_key_says,
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
_HARMLESS_WORDS = word_set(
    "i i'd i’d would say think believe put give estimate my the a an of is are at and to for has "
    "with that it its chance chances probability probabilities prob forecast forecasts prediction "
    "predictions likelihood likely about around approximately roughly yes resolving resolves being market "
    "markets id item f p answer answers final here these as follows percent table tr td th thead tbody ul "
    "li br div span p"
)
_NUMBERED = re.compile(r"^[ \t]*[0-9]{1,4}[.)][ \t]+", re.MULTILINE)
_NUMBERED_SHARE = re.compile(r"([0-9]{1,4})[.):]\s+([0-9]{1,3}(?:\.[0-9]{1,9})?\s*%|0?\.[0-9]{1,9})")
_MARKUP = re.compile(r"<(?=/?[a-z])|/?>", re.IGNORECASE)
_NO_ANSWER = re.compile(
    r"\d|\b(?:example|format|draft|template|schema|if|not|no|unless|otherwise|hypothe|prior|previous|initial"
    r"|price|odds|crowd|consensus|wrong|instead|would|was|were)",
    re.IGNORECASE,
)
"""Words around a fence that cast doubt on it as the answer."""
_YAML_LINE = re.compile(r"(?:-\s+)?([\w \"'()%-]{1,40}?)\s*:(?:\s+(.{1,500}))?")


def plain_forecasts(text: str, market_by_name: Mapping[str, Any], cut: bool) -> list[Any]:
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

    text = _content_of_only_fence(html.unescape(text).translate(PLAIN_SIGNS))
    for read_forecasts in (_from_table, _from_yaml, _from_words, _from_numbered_lines):
        items = read_forecasts(text, market_by_name)
        if items:
            return items

    return []


def _content_of_only_fence(text: str) -> str:
    """Return what stands within the only fence of a text; the text where words around it are in doubt."""
    parts = re.split(r"^[ \t]*(?:```|~~~)\w*[ \t]*$", text, flags=re.MULTILINE)
    if len(parts) != 3 or _NO_ANSWER.search(parts[0] + parts[2]):
        return text
    return parts[1].strip()


def _from_yaml(text: str, market_by_name: Mapping[str, Any]) -> list[Any]:
    """Return the forecasts of lines `key: value`, of which a market begins each; none if any is unclear."""
    items: list[Any] = []
    for line in map(str.strip, text.splitlines()):
        if line in ("", "---"):
            continue

        pair = _YAML_LINE.fullmatch(line)
        if pair is None:
            return []

        key = pair[1].strip("\"'")
        value = (pair[2] or "").strip("\"'")
        if _is_empty_list(key, value):
            continue

        if plain_key(key) in MARKET_KEYS and (not items or "market" in items[-1]):
            items.append({"market": value})
        elif is_chance_key(key) and items and "probability" not in items[-1]:
            items[-1]["probability"] = as_percent_if_key_says(key, value)
        elif plain_key(key) in REASON_KEYS and items and "reason" not in items[-1]:
            items[-1]["reason"] = value
        else:
            return []

    are_complete = all(
        "probability" in item and market_named(item["market"], market_by_name) for item in items
    )
    return items if are_complete else []


def _is_empty_list(key: str, value: str) -> bool:
    """Return whether a line opens the list of forecasts, or says that there are no orders."""
    name = plain_key(key)
    if name in ("forecasts", "predictions"):
        return value == ""
    return name in ("bets", "sales") and value == "[]"


def _from_words(text: str, market_by_name: Mapping[str, Any]) -> list[Any]:
    """Return the forecasts of a text in which markets and numbers take turns; none if any word is unclear."""
    items: list[Any] = []
    names_seen = set[str]()
    open_name = ""  # the market whose number is still to come
    words = _MARKUP.sub(" ", _NUMBERED.sub("", text))
    for token in _TOKEN.finditer(words):
        name = token["name"]
        figure = token["figure"]
        if name:
            if open_name or name in names_seen or market_named(name, market_by_name) is None:
                return []
            names_seen.add(name)
            open_name = name
        elif figure:
            if not open_name:
                return []
            is_percentage = figure[-1] in "%tT"
            items.append(
                {"market": open_name, "probability": figure if is_percentage else NumberText(figure)}
            )
            open_name = ""
        elif not token["word"] or token["word"].casefold() not in _HARMLESS_WORDS:
            return []

    return [] if open_name else items


def _from_numbered_lines(text: str, market_by_name: Mapping[str, Any]) -> list[Any]:
    """Return forecasts from lines that number all markets in order, each with nothing but a share."""
    items: list[Any] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        match = _NUMBERED_SHARE.fullmatch(line)
        next_number = str(len(items) + 1)
        if match is None or match[1] != next_number:
            return []
        items.append({"market": f"m{next_number}", "probability": match[2]})

    market_count = len(set(market_by_name.values()))
    if len(items) != market_count:
        return []
    return items


def _from_table(text: str, market_by_name: Mapping[str, Any]) -> list[Any]:
    """Return forecasts from a table whose header names a column of markets and one of probabilities."""
    lines = [line.strip().strip("|") for line in text.strip("`").splitlines()]
    lines = [line for line in lines if line.strip("-:|+= \t`")]  # without rules between rows
    delimiter = next((sign for sign in "|\t;," if lines and sign in lines[0]), None)
    if delimiter is None:
        return []

    header, *rows = (list(map(str.strip, row)) for row in csv.reader(lines, delimiter=delimiter))
    column_keys = list(map(plain_key, header))
    market_columns = [column for column, key in enumerate(column_keys) if key in MARKET_KEYS]
    chance_columns = list(filter(is_chance_key, header))
    has_repeated_key = len(set(column_keys)) < len(column_keys)
    if not market_columns or len(chance_columns) != 1 or has_repeated_key:
        return []

    items: list[Any] = []
    for row in rows:
        if len(row) != len(header):
            return []

        # a number and a question, say, may both stand for the market, if for the same one
        names = [row[column] for column in market_columns if market_named(row[column], market_by_name)]
        markets = {str(market_named(name, market_by_name)) for name in names}
        if len(markets) != 1:
            return []

        cells = dict(zip(header, row, strict=True))
        for column in market_columns:
            del cells[header[column]]
        items.append({"market": names[0], **cells})

    return items
