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

    closing: str
    items: list[Any] = field(default_factory=list)
    key: str | None = None
    value: Any = None
    has_value: bool = False
    is_bare: bool = False
    in_double_braces: bool = False

    def set_value(self, value: Any, is_bare: bool = False) -> None:
        self.value = value
        self.has_value = True
        self.is_bare = is_bare

    def store_value(self) -> None:
        """Store the current value, which is complete."""
        if self.has_value:
            is_list = self.closing in "])"
            self.items.append(self.value if is_list else (self.key, self.value))

        self.key = None
        self.value = None
        self.has_value = False
        self.is_bare = False

    def result_so_far(self, is_complete: bool = True) -> Any:
        if self.closing in "])":
            return self.items
        pairs = object_of(self.items)
        if not is_complete:
            return OpenObject(pairs)
        return pairs


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; a key repeated with another value becomes a `RepeatedKey`."""
    result = dict(pairs)
    if len(result) == len(pairs):
        return result

    first_values: dict[str, Any] = {}
    for key, value in pairs:
        if first_values.setdefault(key, value) != value:
            result[key] = RepeatedKey(key)
    return result


class RelaxedReader:
    """A reader of the values in one text, with a limit on its steps."""

    def __init__(self, text: str):
        self.text = text
        self.steps = 0
        self.position = 0
        self.repairs: dict[str, None] = {}
        self.frames: list[_Frame] = []

    def read(self, at: int) -> FoundValue:
        """Return the object or list that starts here."""
        self.repairs = {}
        self.position = at
        outer = _Frame("")
        self.frames = [outer]
        self.steps += 1

        try:
            self._read_value()
            while len(self.frames) > 1:
                self._read_token()
            return FoundValue(at, self.position, outer.value, self.repairs)
        except _Broken as fault:
            return FoundValue(at, self.position, self._parts_read_so_far(), self.repairs, str(fault))

    def _parts_read_so_far(self) -> Any:
        """Return what was complete when the text ended or broke, built from the inside out."""
        inner: Any = None
        open_frames = self.frames[1:]  # the first stands for the text itself
        for frame in reversed(open_frames):
            if inner is not None:
                frame.set_value(inner)
            # Stores nothing if the text broke off before a value.
            frame.store_value()
            inner = frame.result_so_far(is_complete=False)

        return inner

    def _skip_space_and_comments(self) -> None:
        """Go on to what is neither space nor comment."""
        text = self.text
        while True:
            match = _SPACE.match(text, self.position)
            if match:
                self.position = match.end()

            if text.startswith(("#", "//"), self.position):
                end = text.find("\n", self.position)
            elif text.startswith("/*", self.position):
                end = text.find("*/", self.position)
                end = end + 2 if end >= 0 else end
            else:
                break

            self.repairs["comment"] = None
            self.position = end if end >= 0 else len(text)

        if self.position >= len(text):
            raise _Broken(ENDS_EARLY)

    def _read_token(self) -> None:
        """Read one more token."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooTangled("the answer is too tangled to be read")

        top = self.frames[-1]
        if top.is_bare and self.position >= len(self.text):
            top.has_value = False  # its end may be missing

        self._skip_space_and_comments()
        char = self.text[self.position]
        if self.text.startswith("```", self.position):  # the fence around it is closed
            raise _Broken(ENDS_EARLY)

        if char == top.closing:
            self._read_closing()
        elif char in ",，":
            self._read_comma(top)
        else:
            if top.has_value:
                self._accept_missing_comma(top)
            if top.closing == "}" and top.key is None:
                self._read_key(top)
            else:
                self._read_value()

    def _read_comma(self, top: _Frame) -> None:
        if not top.has_value:
            if top.key is not None:
                raise _Broken("a value is missing")
            self.repairs["comma"] = None

        if self.text[self.position] != ",":
            self.repairs["punctuation"] = None

        top.store_value()
        self.position += 1

    def _accept_missing_comma(self, top: _Frame) -> None:
        """Begin the next item without a comma, after an object or on a new line."""
        text = self.text
        position = self.position
        line_start = text.rfind("\n", max(0, position - 200), position)
        begins_line = line_start >= 0 and text[line_start:position].isspace()
        is_next_key = begins_line and top.closing == "}" and text[position] in _QUOTES
        is_next_object = isinstance(top.value, dict | list) and text[position] in "{[("

        if not is_next_key and not is_next_object:
            raise _Broken("a comma or the end is missing")

        self.repairs["comma"] = None
        top.store_value()

    def _read_closing(self) -> None:
        frame = self.frames[-1]
        if frame.key is not None and not frame.has_value:
            raise _Broken("a value is missing")
        if frame.in_double_braces and not self.text.startswith("}}", self.position):
            raise _Broken("a brace is missing")

        if not frame.has_value and frame.items:
            self.repairs["comma"] = None

        frame.store_value()
        self.frames.pop()
        self.frames[-1].set_value(frame.result_so_far())
        self.position += 1 + frame.in_double_braces

    def _read_key(self, frame: _Frame) -> None:
        text = self.text
        position = self.position
        is_first = not frame.items and not frame.in_double_braces
        if is_first and text.startswith("{{", position - 1):
            frame.in_double_braces = True
            self.repairs["braces"] = None
            self.position += 1
            return

        if text[position] in _QUOTES:
            key = self._read_string()
        else:
            unquoted = _BARE.match(text, position)
            if unquoted is None or not (unquoted[0].replace("_", "a").replace("-", "a").isalnum()):
                raise _Broken("a key is missing")
            key = unquoted[0]
            self.position = unquoted.end()
            self.repairs["quotes"] = None

        self._skip_space_and_comments()
        if text[self.position] not in ":：":
            raise _Broken("a colon is missing")

        if text[self.position] != ":":
            self.repairs["punctuation"] = None

        frame.key = key
        self.position += 1

    def _read_value(self) -> None:
        char = self.text[self.position]
        top = self.frames[-1]
        if char in "{[(":
            if len(self.frames) > MOST_DEPTH:
                raise TooTangled("the JSON is nested too deeply")
            if char == "(":
                self.repairs["python"] = None
            self.frames.append(_Frame({"{": "}", "[": "]", "(": ")"}[char]))
            self.position += 1
        elif char in _QUOTES:
            top.set_value(self._read_string())
        elif call := _CALL.match(self.text, self.position):
            top.set_value(NumberText(call[2].strip()))
            self.repairs["python"] = None
            self.position = call.end()
        elif unquoted := _BARE.match(self.text, self.position):
            self.position = unquoted.end()
            top.set_value(self._scalar_of(unquoted[0]), is_bare=True)
        else:
            raise _Broken("a value is missing")

    def _scalar_of(self, word: str) -> Any:
        """Return a number, a constant, or one unquoted word."""
        if _NUMBER.fullmatch(word):
            percent = _PERCENT.match(self.text, self.position)
            if percent:
                self.repairs["quotes"] = None
                self.position = percent.end()
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

    def _read_string(self) -> str:
        """Return a quoted text."""
        text = self.text
        content_start = self.position + 1
        closing_quote = _QUOTES[text[self.position]]

        if closing_quote != '"':
            self.repairs["quotes"] = None

        content = _CONTENT[closing_quote].match(text, content_start)
        content_end = content.end() if content else content_start
        if not text.startswith(closing_quote, content_end):
            self.position = len(text)
            raise _Broken(ENDS_EARLY)

        self.position = content_end + 1
        raw = text[content_start:content_end]
        return raw if "\\" not in raw or raw.count("\\") > MOST_ESCAPES else unescaped(raw, self.repairs)


def unescaped(raw: str, repairs: dict[str, None]) -> str:
    """Return the text without its escapes; one that JSON doesn't know stands for its character.

    Notes in `repairs` that there was such an escape.
    """

    def character(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) == 5:  # u and four hexadecimal digits
            return chr(int(escape[1:], 16))

        if escape not in '"\\/bfnrt':
            repairs["escape"] = None
        if escape in _ESCAPED:
            return _ESCAPED[escape]

        # an unknown escape of a letter or a digit, as in a formula, keeps its backslash
        return f"\\{escape}" if escape.isalnum() else escape

    text = _ESCAPE.sub(character, raw)
    if any("\ud800" <= char <= "\udfff" for char in text):
        # two halves of a character become one, and a half without the other a replacement character
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
