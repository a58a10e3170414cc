"""A relaxed grammar for what was meant as JSON: the slips that have one meaning are read, and named.

Comments, commas too many or too few between objects, other quotes or none, what Python writes, bad escapes
and doubled braces. It is read in one pass, without recursion, and each character is looked at once. Where the
text ends or breaks, what was whole until there stands; an object whose end is missing is an `OpenObject`.
"""

import re
from dataclasses import dataclass, field
from typing import Any

ENDS_EARLY = "it ends in the middle"
MOST_STEPS = 40_000
MOST_DEPTH = 200
MOST_ESCAPES = 20_000
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "”": "”"}
_CONTENT = {
    end: re.compile(rf"[^{end}\\]*+(?:\\.[^{end}\\]*+)*+", re.DOTALL) for end in set(_QUOTES.values())
}
_SPACE = re.compile(r"[\s\ufeff]*+")
_BARE = re.compile(r"(?:[^\s,:{}\[\]()\"'`“”‘’/#，：]|/(?![/*]))++")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PERCENT = re.compile(r"[ \t]*(?:[%％]|percent\b|pct\b)", re.IGNORECASE)
_CALL = re.compile(r"(?:np\.|numpy\.|decimal\.)?(?:float\d*|Decimal)\(\s*([\"']?)([^\"'()]{1,60})\1\s*\)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None, "undefined": None, "nil": None}
_NOT_NUMBERS = ("nan", "infinity", "inf")


class NumberText(str):
    """A number as it was written: 0.40, 1e999 or NaN."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class RepeatedKey:
    """Stands for the values of a key that occurs twice in an object: which is meant can't be told."""

    key: str


class OpenObject(dict[str, Any]):
    """An object whose end is missing: its pairs are whole, it is not."""


class TooTangled(ValueError):
    """More slips, or deeper ones, than any answer has."""


@dataclass(slots=True)
class Reading:
    """What starts at a place: the value, where it ends or breaks, and by which repairs it was read."""

    value: Any
    end: int
    repairs: dict[str, None]
    fault: str = ""
    """Why it isn't whole."""


@dataclass(slots=True)
class _Frame:
    """A list or an object under way, and what closes it. `value` is the last one, not yet put away."""

    close: str
    items: list[Any] = field(default_factory=list)
    key: str | None = None
    value: Any = None
    filled: bool = False
    bare: bool = False
    doubled: bool = False

    def put(self) -> None:
        """The value is whole: it is kept."""
        if self.filled:
            self.items.append(self.value if self.close in "])" else (self.key, self.value))
        self.key, self.value, self.filled, self.bare = None, None, False, False

    def built(self, whole: bool = True) -> Any:
        if self.close in "])":
            return self.items
        pairs = object_of(self.items)
        return pairs if whole else OpenObject(pairs)


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a key that occurs again with another value has none that could be told."""
    result = dict(pairs)
    if len(result) < len(pairs):
        first: dict[str, Any] = {}
        for key, value in pairs:
            if first.setdefault(key, value) != value:
                result[key] = RepeatedKey(key)
    return result


class RelaxedReader:
    """Reads values out of one text, in all of it at most so many steps."""

    def __init__(self, text: str):
        self.text, self.steps = text, 0
        self.repairs: dict[str, None] = {}

    def read(self, at: int) -> Reading:
        """The object or the list that starts here."""
        self.repairs = {}
        frames: list[_Frame] = []
        place, fault = at, ""
        while True:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise TooTangled("the answer is too tangled to be read")
            start = place
            place = self._skip(place)
            if place >= len(self.text):
                fault = ENDS_EARLY
                if frames and frames[-1].bare and place == start:
                    frames[-1].filled = False  # its end may be missing
                break
            fault, place = self._step(frames, place)
            if fault:
                break
            if len(frames) == 1 and frames[0].close == "":
                return Reading(frames[0].value, place, self.repairs)
        return Reading(self._rest(frames), place, self.repairs, fault)

    def _rest(self, frames: list[_Frame]) -> Any:
        """What was whole when the text ended or broke, from the inside out."""
        inner: Any = None
        while frames:
            frame = frames.pop()
            if inner is not None:
                frame.value, frame.filled = inner, True
            if frame.close:
                frame.put()
                inner = frame.built(whole=False)
        return inner

    def _skip(self, place: int) -> int:
        """The next place that is neither space nor comment."""
        text = self.text
        while True:
            if match := _SPACE.match(text, place):
                place = match.end()
            if text.startswith("#", place) or text.startswith("//", place):
                end = text.find("\n", place)
            elif text.startswith("/*", place):
                end = text.find("*/", place)
                end = end + 2 if end >= 0 else end
            else:
                return place
            self.repairs["comment"] = None
            if end < 0:
                return len(text)
            place = end

    def _step(self, frames: list[_Frame], place: int) -> tuple[str, int]:
        """One token more. A fault says what can't be read there."""
        if not frames:
            frames.append(_Frame(""))
            return self._value(frames, place)
        if self.text.startswith("```", place):  # the fence around it is closed
            return ENDS_EARLY, place
        top, char = frames[-1], self.text[place]
        if top.close and char == top.close:
            return self._close(frames, place)
        if char in ",，":
            return self._comma(top, place)
        if top.filled and not self._begins_another(top, place):
            return "a comma or the end is missing", place
        if top.close == "}" and top.key is None:
            return self._key(top, place)
        return self._value(frames, place)

    def _comma(self, top: _Frame, place: int) -> tuple[str, int]:
        if not top.filled and top.key is not None:
            return "a value is missing", place
        if not top.filled:
            self.repairs["comma"] = None
        if self.text[place] != ",":
            self.repairs["punctuation"] = None
        top.put()
        return "", place + 1

    def _begins_another(self, top: _Frame, place: int) -> bool:
        """Whether the next item begins here though no comma is there: after an object, or on a new line."""
        char = self.text[place]
        line = self.text.rfind("\n", max(0, place - 200), place)
        new_line = top.close == "}" and char in _QUOTES and line >= 0 and self.text[line:place].isspace()
        if not new_line and not (isinstance(top.value, dict | list) and char in "{[("):
            return False
        self.repairs["comma"] = None
        top.put()
        return True

    def _close(self, frames: list[_Frame], place: int) -> tuple[str, int]:
        frame = frames[-1]
        if frame.key is not None and not frame.filled:
            return "a value is missing", place
        if frame.doubled and not self.text.startswith("}}", place):
            return "a brace is missing", place
        if not frame.filled and frame.items:
            self.repairs["comma"] = None
        frame.put()
        frames.pop()
        frames[-1].value, frames[-1].filled, frames[-1].bare = frame.built(), True, False
        return "", place + 1 + frame.doubled

    def _key(self, frame: _Frame, place: int) -> tuple[str, int]:
        text = self.text
        if text[place] == "{" and not frame.items and not frame.doubled and text[place - 1] == "{":
            frame.doubled = True
            self.repairs["braces"] = None
            return "", place + 1
        if text[place] in _QUOTES:
            word, place = self._string(place)
            if word is None:
                return ENDS_EARLY, place
        else:
            bare = _BARE.match(text, place)
            if bare is None or not (bare[0].replace("_", "a").replace("-", "a").isalnum()):
                return "a key is missing", place
            word, place = bare[0], bare.end()
            self.repairs["quotes"] = None
        place = self._skip(place)
        if place >= len(text):
            return ENDS_EARLY, place
        if text[place] not in ":：":
            return "a colon is missing", place
        if text[place] != ":":
            self.repairs["punctuation"] = None
        frame.key = word
        return "", place + 1

    def _value(self, frames: list[_Frame], place: int) -> tuple[str, int]:
        char, top = self.text[place], frames[-1]
        if char in "{[(":
            if len(frames) > MOST_DEPTH:
                raise TooTangled("the JSON is nested too deeply")
            if char == "(":
                self.repairs["python"] = None
            frames.append(_Frame({"{": "}", "[": "]", "(": ")"}[char]))
            return "", place + 1
        if char in _QUOTES:
            word, place = self._string(place)
            if word is None:
                return ENDS_EARLY, place
            top.value, top.filled = word, True
            return "", place
        if call := _CALL.match(self.text, place):
            top.value, top.filled = NumberText(call[2].strip()), True
            self.repairs["python"] = None
            return "", call.end()
        bare = _BARE.match(self.text, place)
        if bare is None:
            return "a value is missing", place
        top.value, place = self._scalar(bare[0], bare.end())
        top.filled = top.bare = True
        return "", place

    def _scalar(self, word: str, place: int) -> tuple[Any, int]:
        """A number, a constant, or one word without quotes."""
        if _NUMBER.fullmatch(word):
            if percent := _PERCENT.match(self.text, place):
                self.repairs["quotes"] = None
                return f"{word}%", percent.end()
            if not re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", word):
                self.repairs["number"] = None
            return NumberText(word), place
        lower = word.lower()
        if lower in _CONSTANTS:
            if word not in ("true", "false", "null"):
                self.repairs["python"] = None
            return _CONSTANTS[lower], place
        if lower.lstrip("+-") in _NOT_NUMBERS:
            return NumberText(word), place
        self.repairs["quotes"] = None
        return word, place

    def _string(self, place: int) -> tuple[str | None, int]:
        """A text in quotes; None where its end is missing."""
        text, end = self.text, _QUOTES[self.text[place]]
        if text[place] != '"':
            self.repairs["quotes"] = None
        content = _CONTENT[end].match(text, place + 1)
        stop = content.end() if content else place + 1
        if not text.startswith(end, stop):
            return None, len(text)
        return self._unescaped(text[place + 1 : stop]), stop + 1

    def _unescaped(self, raw: str) -> str:
        if "\\" not in raw or raw.count("\\") > MOST_ESCAPES:
            return raw
        return unescaped(raw, self.repairs)


def unescaped(raw: str, repairs: dict[str, None]) -> str:
    """The text that an escaped one stands for. An escape that JSON doesn't know stands for its character."""

    def character(match: re.Match[str]) -> str:
        mark = match[1]
        if len(mark) == 5:
            return chr(int(mark[1:], 16))
        if mark not in '"\\/bfnrt':
            repairs["escape"] = None
        return _ESCAPED.get(mark) or (f"\\{mark}" if mark.isalnum() else mark)

    text = _ESCAPE.sub(character, raw)
    if any("\ud800" <= char <= "\udfff" for char in text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
