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
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
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
    """A text with more slips, or deeper nesting, than any answer has."""


class _Broken(Exception):
    """A point from which reading can't go on, and why."""


@dataclass(slots=True)
class FoundValue:
    """A value of a text: where it stands, by which repairs it was read, and why it isn't whole."""

    start: int
    end: int
    value: Any
    repairs: dict[str, None] = field(default_factory=dict)
    fault: str = ""


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

    def hold(self, value: Any, bare: bool = False) -> None:
        self.value = value
        self.filled = True
        self.bare = bare

    def put(self) -> None:
        """Store the current value, which is complete."""
        if self.filled:
            self.items.append(self.value if self.close in "])" else (self.key, self.value))
        self.key = None
        self.value = None
        self.filled = False
        self.bare = False

    def built(self, whole: bool = True) -> Any:
        if self.close in "])":
            return self.items
        pairs = object_of(self.items)
        if not whole:
            return OpenObject(pairs)
        return pairs


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; a key repeated with another value becomes a `RepeatedKey`."""
    result = dict(pairs)
    if len(result) < len(pairs):
        first: dict[str, Any] = {}
        for key, value in pairs:
            if first.setdefault(key, value) != value:
                result[key] = RepeatedKey(key)
    return result


class RelaxedReader:
    """A reader of the values in one text, with a limit on its steps."""

    def __init__(self, text: str):
        self.text = text
        self.steps = 0
        self.place = 0
        self.repairs: dict[str, None] = {}
        self.frames: list[_Frame] = []

    def read(self, at: int) -> FoundValue:
        """Return the object or list that starts here."""
        self.repairs = {}
        self.place = at
        outer = _Frame("")
        self.frames = [outer]
        self.steps += 1

        try:
            self._value()
            while len(self.frames) > 1:
                self._step()
            return FoundValue(at, self.place, outer.value, self.repairs)
        except _Broken as fault:
            return FoundValue(at, self.place, self._rest(), self.repairs, str(fault))

    def _rest(self) -> Any:
        """Return what was complete when the text ended or broke, built from the inside out."""
        inner: Any = None
        for frame in self.frames[:0:-1]:
            if inner is not None:
                frame.hold(inner)
            frame.put()
            inner = frame.built(whole=False)
        return inner

    def _skip(self) -> None:
        """Go on to what is neither space nor comment."""
        text = self.text
        while True:
            match = _SPACE.match(text, self.place)
            if match:
                self.place = match.end()

            if text.startswith(("#", "//"), self.place):
                end = text.find("\n", self.place)
            elif text.startswith("/*", self.place):
                end = text.find("*/", self.place)
                end = end + 2 if end >= 0 else end
            else:
                break

            self.repairs["comment"] = None
            self.place = end if end >= 0 else len(text)

        if self.place >= len(text):
            raise _Broken(ENDS_EARLY)

    def _step(self) -> None:
        """Read one more token."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooTangled("the answer is too tangled to be read")

        top = self.frames[-1]
        if top.bare and self.place >= len(self.text):
            top.filled = False  # its end may be missing

        self._skip()
        char = self.text[self.place]
        if self.text.startswith("```", self.place):  # the fence around it is closed
            raise _Broken(ENDS_EARLY)

        if char == top.close:
            self._close()
        elif char in ",，":
            self._comma(top)
        else:
            if top.filled:
                self._begin_another(top)
            if top.close == "}" and top.key is None:
                self._key(top)
            else:
                self._value()

    def _comma(self, top: _Frame) -> None:
        if not top.filled:
            if top.key is not None:
                raise _Broken("a value is missing")
            self.repairs["comma"] = None

        if self.text[self.place] != ",":
            self.repairs["punctuation"] = None

        top.put()
        self.place += 1

    def _begin_another(self, top: _Frame) -> None:
        """Begin the next item without a comma, after an object or on a new line."""
        text = self.text
        place = self.place
        line = text.rfind("\n", max(0, place - 200), place)
        begins_line = line >= 0 and text[line:place].isspace()
        is_next_key = begins_line and top.close == "}" and text[place] in _QUOTES
        is_next_object = isinstance(top.value, dict | list) and text[place] in "{[("

        if not is_next_key and not is_next_object:
            raise _Broken("a comma or the end is missing")

        self.repairs["comma"] = None
        top.put()

    def _close(self) -> None:
        frame = self.frames[-1]
        if frame.key is not None and not frame.filled:
            raise _Broken("a value is missing")
        if frame.doubled and not self.text.startswith("}}", self.place):
            raise _Broken("a brace is missing")

        if not frame.filled and frame.items:
            self.repairs["comma"] = None

        frame.put()
        self.frames.pop()
        self.frames[-1].hold(frame.built())
        self.place += 1 + frame.doubled

    def _key(self, frame: _Frame) -> None:
        text = self.text
        place = self.place
        is_first = not frame.items and not frame.doubled
        if is_first and text.startswith("{{", place - 1):
            frame.doubled = True
            self.repairs["braces"] = None
            self.place += 1
            return

        if text[place] in _QUOTES:
            word = self._string()
        else:
            bare = _BARE.match(text, place)
            if bare is None or not (bare[0].replace("_", "a").replace("-", "a").isalnum()):
                raise _Broken("a key is missing")
            word = bare[0]
            self.place = bare.end()
            self.repairs["quotes"] = None

        self._skip()
        if text[self.place] not in ":：":
            raise _Broken("a colon is missing")

        if text[self.place] != ":":
            self.repairs["punctuation"] = None

        frame.key = word
        self.place += 1

    def _value(self) -> None:
        char = self.text[self.place]
        top = self.frames[-1]
        if char in "{[(":
            if len(self.frames) > MOST_DEPTH:
                raise TooTangled("the JSON is nested too deeply")
            if char == "(":
                self.repairs["python"] = None
            self.frames.append(_Frame({"{": "}", "[": "]", "(": ")"}[char]))
            self.place += 1
        elif char in _QUOTES:
            top.hold(self._string())
        elif call := _CALL.match(self.text, self.place):
            top.hold(NumberText(call[2].strip()))
            self.repairs["python"] = None
            self.place = call.end()
        elif bare := _BARE.match(self.text, self.place):
            self.place = bare.end()
            top.hold(self._scalar(bare[0]), bare=True)
        else:
            raise _Broken("a value is missing")

    def _scalar(self, word: str) -> Any:
        """Return a number, a constant, or one unquoted word."""
        if _NUMBER.fullmatch(word):
            percent = _PERCENT.match(self.text, self.place)
            if percent:
                self.repairs["quotes"] = None
                self.place = percent.end()
                return f"{word}%"
            if not _JSON_NUMBER.fullmatch(word):
                self.repairs["number"] = None
            return NumberText(word)

        lower = word.lower()
        if lower in _CONSTANTS:
            if word not in ("true", "false", "null"):
                self.repairs["python"] = None
            return _CONSTANTS[lower]
        if lower.lstrip("+-") in _NOT_NUMBERS:
            return NumberText(word)

        self.repairs["quotes"] = None
        return word

    def _string(self) -> str:
        """Return a quoted text."""
        text = self.text
        start = self.place + 1
        end = _QUOTES[text[self.place]]

        if end != '"':
            self.repairs["quotes"] = None

        content = _CONTENT[end].match(text, start)
        stop = content.end() if content else start
        if not text.startswith(end, stop):
            self.place = len(text)
            raise _Broken(ENDS_EARLY)

        self.place = stop + 1
        raw = text[start:stop]
        return raw if "\\" not in raw or raw.count("\\") > MOST_ESCAPES else unescaped(raw, self.repairs)


def unescaped(raw: str, repairs: dict[str, None]) -> str:
    """Return the text without its escapes; one that JSON doesn't know stands for its character."""

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
