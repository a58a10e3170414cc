"""Text from outside, made safe to store and to quote."""

import re
from functools import lru_cache

_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
"""What a database or an encoder may choke on: control characters and lone surrogates."""
_IN_ASCII = {code: "\ufffd" for code in range(128) if _UNPRINTABLE.match(chr(code))}


def printable(text: str) -> str:
    r"""The text with every character that can't be stored replaced.

    >>> printable("a\x00b")
    'a\ufffdb'
    """
    if text.isascii():
        return text.translate(_IN_ASCII)  # the same, several times faster
    return _UNPRINTABLE.sub("\ufffd", text)


def is_printable(text: str) -> bool:
    r"""Whether every character can be stored.

    >>> is_printable("a\nb"), is_printable("a\x00b")
    (True, False)
    """
    return _UNPRINTABLE.search(text) is None


def one_line(text: str, limit: int = 500) -> str:
    r"""The text as one line, cut at a length.

    >>> one_line(" a\n b ", 100), one_line("abcdef", 4)
    ('a b', 'abc…')
    """
    line = " ".join(printable(text[: 4 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


@lru_cache(maxsize=2048)  # every agent of a round is shown the same texts
def tidy(text: str) -> str:
    r"""The text with its lines parted by nothing but a newline, whatever it counts as a line, and trimmed.

    >>> tidy(" one\r\n\x85two \n")
    'one\n\ntwo'
    """
    return "\n".join([line.strip() for line in printable(text).strip().splitlines()])


def barred(text: str) -> str:
    """A tidy text with a bar before each of its lines: nothing escapes.

    >>> print(barred("one\\n\\ntwo"))
    | one
    |
    | two
    """
    return ("| " + text.replace("\n", "\n| ")).replace("| \n", "|\n").rstrip()
