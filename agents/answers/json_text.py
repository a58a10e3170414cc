"""The values in the text of an answer, with whatever is wrapped around them.

Each value is read as JSON first, then by the relaxed grammar; numbers stay as they were written. A thought
may lack its beginning, never its end.
"""

import html
import json
import re
from bisect import bisect_right
from typing import Any

from agents.answers.grammar import FoundValue, NumberText, RelaxedReader, TooTangled, object_of, unescaped

MOST_TEXT = 1_000_000
MOST_VALUES = 10_000
MOST_MARKS = 100_000
STRICT_TRIES = 3
"""How many values may fail as JSON before only the relaxed grammar is tried."""
_THOUGHT = re.compile(
    r"think|thought|reason|reflect|scratch|analy[sz]|monolog|ponder|deliberat|brainstorm|rumin|contempl|draft|details"
    r"|inner|internal|hidden|\bcot\b",
    re.IGNORECASE,
)
_TAG = (
    r"<(?P<tag>/?[\w:|-]{1,60})(?:\s[^<>]{0,500})?>(?P<channel>final|analysis|commentary)?"
    r"|\[(?P<think>/?THINK)\]|◁(?P<moon>/?think)▷"
)
_START = r"\{(?=\s{0,1000}(?:[\"'`“”‘}{/#\\]|[^\W\d]))|\[(?=\s{0,1000}[\[{(])"
_MARK = re.compile(f"{_TAG}|(?P<value>{_START})")
_VALUE = re.compile(f"(?P<value>{_START})")
_TAGS = re.compile(_TAG)
_AT_ONCE = re.compile(r"[\s\ufeff]*(?:```\w*\s*)?(?:\{|\[(?!/?THINK))")
"""An answer that starts right away has no thoughts before it; marks of thinking in it are quotations."""
_ESCAPED = re.compile(r"[\[{]\s*(?:\\+[nt]\s*)*(?:\{\s*(?:\\+[nt]\s*)*)?\\\"")
_ENTITIES = re.compile(r"[\[{]\s*(?:\{\s*)?&(?:quot|#34|#x22);", re.IGNORECASE)
_ANNOUNCED = re.compile(
    r"(?:^|[.!?]\s+|\n\s*)(?:(?:so|wait)[,.…]*\s+)?"
    r"(?:(?:my|the|here is(?: my)?|here['’]s(?: my)?)\s+)?"
    r"(?:(?:final|revised|corrected|actual)\s+(?:answer|output|json|forecasts?|response|decision)"
    r"|my\s+answer)(?:\s+is)?\s*:\s*(?:```\w*\s*)?$",
    re.IGNORECASE,
)
"""The end of a text by which a sentence of its own announces the answer that follows."""
_QUOTED = re.compile(
    r"(?:"
    r"(?P<source>\b(?:articles?|source|page|text|snippet|document|headline|post|it|they)\s+"
    r"(?:says?|said|asks?|asked|tells?|told|instructs?|instructed|wants?|wanted|reads?)\b)"
    r"|\b(?:an?|one)\s+(?:(?:short|possible|minimal)\s+)?(?:example|illustration|placeholder|mock-?up)\b"
    r"|\bfor\s+(?:example|illustration|instance)\b"
    r")[^.!?\n{}\[\]]*\n?\s*(?:```\w*\s*)?$",
    re.IGNORECASE,
)
"""The end of a text by which its last sentence makes what follows a quotation, or an example."""
_OWN = re.compile(r"\b(?:my|mine|our|I)\b|\bhere(?:['’]s|\s+(?:is|are))\b", re.IGNORECASE)
"""Words of a sentence that gives the writer's own answer, whatever a source says."""
_TAKEN_BACK = re.compile(
    r"^\W*(?:(?:(?:wait|oops|sorry|actually)\b|no\b\s*[,.:!–—])[^.\n]{0,40})?"
    r"\b(?:correction|erratum|mistake|wrong(?!-)|misread)\b"
    r"|\b(?:disregard|ignore|scratch|discard|forget)\s+(?:all\s+)?(?:the\s+|my\s+)?"
    r"(?:above|previous|first|that|this|json|answer|forecasts?)\b"
    r"|(?<!\bif )\bI\s+(?:made\s+a\s+mistake|misread|take\s+(?:it|that|this)\s+back|withdraw)\b"
    r"|\bI\s+meant\s+(?!to\s+be\b)",
    re.IGNORECASE,
)
"""Words by which what follows an answer takes it back."""
MOST_AROUND = 2_000
"""Characters before and after an answer that are looked at for what they say of it."""
_HEADING = re.compile(
    r"^[^\w\n{}\[\]]*(?:(?:my|the|here is my|here's my|final|revised|corrected|json)\s+){0,3}"
    r"(?:final|answer|output|json|forecasts?|response|decision)s?[^\w\n{}\[\]]*$",
    re.MULTILINE | re.IGNORECASE,
)


class NotOneObject(ValueError):
    """A text without a JSON object that could be an answer; the message is written for the model."""


def find_values(text: str) -> list[FoundValue]:
    """Return the objects and lists of an answer in order, without those in its thoughts."""
    if len(text) > MOST_TEXT:
        raise NotOneObject(f"the answer has {len(text):,} characters, and {MOST_TEXT:,} are allowed")
    if max(map(text.count, ",:{[<")) > MOST_MARKS:
        raise NotOneObject("the answer is too long a list to be read")

    try:
        values = _Finder(text).find()
        if not all(value.fault for value in values):
            return values

        if _ESCAPED.search(text):
            values = _Finder(unescaped(text, {})).find()
        elif _ENTITIES.search(text):
            values = _Finder(html.unescape(text)).find()
        else:
            return values
    except TooTangled as error:
        raise NotOneObject(str(error)) from error

    for value in values:
        value.repairs["escape"] = None
    return values


def bare_object(text: str) -> dict[str, Any]:
    """Return the object that a text consists of."""
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotOneObject(f"invalid JSON: {error.msg} at character {error.pos + 1:,}") from error
    except RecursionError as error:
        raise NotOneObject("the JSON is nested too deeply") from error

    if not isinstance(value, dict):
        raise NotOneObject("it is not a JSON object")
    return value


def last_heading(text: str, start: int, end: int) -> int:
    """Return where the last heading that announces the answer ends, in a part of a text; else -1."""
    return max((match.end() for match in _HEADING.finditer(text, start, end)), default=-1)


def announced_at(text: str, start: int, end: int) -> int:
    """Return where the last answer of a text starts if a sentence before it announces it; else -1.

    Nothing may follow the answer, which could take it back.
    """
    has_text_after = text[end:].strip(" \t\r\n`")
    if has_text_after or not _ANNOUNCED.search(text[max(0, start - 200) : start]):
        return -1
    return start


def is_quoted(text: str, start: int) -> bool:
    """Return whether the sentence before a value makes it a quotation or an example.

    A sentence that names a source and then gives the writer's own answer makes it neither.
    """
    before = text[max(0, start - MOST_AROUND) : start].rpartition(">")[2]
    introduction = _QUOTED.search(before)
    if introduction is None or introduction["source"] is None:
        return introduction is not None

    sentence_start = max(before.rfind(sign, 0, introduction.start()) for sign in ".!?\n") + 1
    return _OWN.search(before, sentence_start) is None


def is_taken_back(text: str, end: int) -> bool:
    """Return whether the words after an answer take it back."""
    return _TAKEN_BACK.search(text[end : end + MOST_AROUND].replace("`", " ")) is not None


def _is_thought_start(mark: re.Match[str]) -> bool | None:
    """Return True for a mark that begins a thought, False for one that ends one, None for other marks."""
    name = mark["think"] or mark["moon"] or mark["tag"] or ""
    if name == "|channel|":
        channel = mark["channel"]
        return None if channel is None else channel != "final"

    if not _THOUGHT.search(name):
        return None
    return not name.strip("|").startswith(("/", "end_of"))


class _Finder:
    """A single pass through a text that finds its values."""

    def __init__(self, text: str):
        self.text = text
        self.relaxed = RelaxedReader(text)
        self.strict_tries_left = STRICT_TRIES
        self.values_read = 0
        starts_at_once = _AT_ONCE.match(text)
        tags = () if starts_at_once else _TAGS.finditer(text)
        self.thought_ends = [tag.end() for tag in tags if _is_thought_start(tag) is False]
        self.mark_pattern = _VALUE if starts_at_once else _MARK

    def find(self) -> list[FoundValue]:
        """Return the values of the text that stand outside thoughts and aren't empty."""
        values: list[FoundValue] = []
        position = 0
        while mark := self.mark_pattern.search(self.text, position):
            position = mark.end()
            if mark["value"]:
                value = self._read(mark.start())
                position = max(value.end, position)
                thought_ends_later = self.thought_ends and mark.start() < self.thought_ends[-1]
                if value.fault and thought_ends_later:
                    # only a thought may hold a broken value: start again after the last thought
                    values = []
                    position = self.thought_ends[-1]
                elif value.value:
                    values.append(value)
                continue

            is_start = _is_thought_start(mark)
            if is_start is False:
                # the end of a thought whose beginning is missing: all before it was thought
                values = []
            elif is_start:
                following = bisect_right(self.thought_ends, position)
                if following == len(self.thought_ends):
                    raise NotOneObject("the answer ends in the middle of its reasoning")
                position = self.thought_ends[following]

        return values

    def _read(self, start: int) -> FoundValue:
        self.values_read += 1
        if self.values_read > MOST_VALUES:
            raise NotOneObject(f"the answer contains more than {MOST_VALUES:,} JSON objects")

        if self.strict_tries_left:
            try:
                value, end = _DECODER.raw_decode(self.text, start)
                return FoundValue(start, end, value)
            except json.JSONDecodeError as error:
                self.strict_tries_left -= 1
                fault = f"invalid JSON at line {error.lineno:,}, column {error.colno:,}"
            except RecursionError as error:
                raise NotOneObject("the JSON is nested too deeply") from error
        else:
            fault = "invalid JSON"

        value_found = self.relaxed.read(start)
        if value_found.fault:
            value_found.fault = f"{fault}: {value_found.fault}"

        return value_found


_DECODER = json.JSONDecoder(
    object_pairs_hook=object_of,
    parse_float=NumberText,
    parse_int=NumberText,
    parse_constant=NumberText,
    strict=False,
)


def after_thoughts(text: str) -> str:
    """Return the text after the last thought, or "" if a thought has no end."""
    last_end = 0
    is_thinking = False
    for tag in _TAGS.finditer(text):
        is_start = _is_thought_start(tag)
        if is_start is None:
            continue

        is_thinking = is_start
        if not is_start:
            last_end = tag.end()

    if is_thinking:
        return ""
    return text[last_end:]
