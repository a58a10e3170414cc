"""Text from outside, made safe to store and to quote, and cut to a budget of tokens.

Long texts of a prompt are cut to one common length, so that all of it fits. No tokenizer is asked, since
every model has its own. A byte of plain letters and spaces is taken for a third of a token, any other byte
(figures, signs, other scripts) for two thirds. A prompt full of real market texts has about a fifth fewer
than that.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import chain

from agents.model import Message

_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters that break databases, terminals or encoders: control characters and lone surrogates.

Those from U+0080 on are commands too: to a terminal U+009B is what ESC [ is.
"""
_NEXT_LINE = "\x85"
"""The control character that ends a line."""
_INVISIBLE = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""Characters that reorder text, and invisible tags."""
_ROLE_TOKEN = re.compile(
    r"<(?=[|\uff5c]|\w{1,30}\|>|</?SYS>>)"
    r"|<(?=/?(?:s|bos|eos|pad|unk|think|tool_call|tool_response|\w{1,30}_of_turn(?:_token)?)>)"
    r"|\[(?=/?(?:INST|THINK|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|CALL_ID|ARGS)\])",
    re.IGNORECASE,
)
"""The start of text that the tokenizers of local servers may take for a role token."""
_UNSEEN = frozenset(("Cf", "Cc", "Co", "Cn"))


def as_text(value: object) -> str:
    """Return the value if it is a text, else an empty one."""
    if not isinstance(value, str):
        return ""
    return value


def printable(text: str) -> str:
    r"""Return the text with every unstorable character replaced.

    >>> printable("a\x00b")
    'a\ufffdb'
    """
    return _UNPRINTABLE.sub("\ufffd", text)


def is_printable(text: str) -> bool:
    r"""Tell whether every character can be stored.

    >>> is_printable("a\nb"), is_printable("a\x00b")
    (True, False)
    """
    return _UNPRINTABLE.search(text) is None


def one_line(text: str, limit: int = 500) -> str:
    r"""Return the text on one line, cut to a length, with invisible characters replaced.

    >>> one_line(" a\n b ", 100), one_line("abcdef", 4)
    ('a b', 'abc…')
    """
    visible = printable(text[: 4 * limit].replace(_NEXT_LINE, " "))
    if not visible.isascii():
        visible = _INVISIBLE.sub("\ufffd", visible)

    line = " ".join(visible.split())
    if len(line) > limit:
        return f"{line[: limit - 1]}…"
    return line


def hidden_characters(texts: Iterable[str]) -> dict[str, int]:
    r"""Return the invisible characters in these texts with their counts: `U+200B ZERO WIDTH SPACE`.

    >>> hidden_characters(["a\u200bb\u202e", "\u200b", "tab\t, line\n"])
    {'U+200B ZERO WIDTH SPACE': 2, 'U+202E RIGHT-TO-LEFT OVERRIDE': 1}
    """
    counts = Counter(chain.from_iterable(text for text in texts if not text.isascii()))
    hidden = {}
    for character in sorted(counts):
        if unicodedata.category(character) in _UNSEEN and not character.isspace():
            name = unicodedata.name(character, "without a name")
            hidden[f"U+{ord(character):04X} {name}"] = counts[character]
    return hidden


@lru_cache(maxsize=2048)  # every agent of a round is shown the same texts
def tidy_lines(text: str) -> str:
    r"""Return the text with trimmed lines, separated by newlines alone.

    Characters that no reader sees, but a model does, are made visible.

    >>> tidy_lines(" one\r\n\x85two \n")
    'one\n\ntwo'
    """
    visible = _INVISIBLE.sub("\ufffd", printable(text.replace(_NEXT_LINE, "\n")))
    return "\n".join(map(str.strip, visible.strip().splitlines()))


def quoted_lines(text: str) -> str:
    """Return a tidy text with a bar before each line, which nothing in it can escape.

    >>> print(quoted_lines("one\\n\\ntwo"))
    | one
    |
    | two
    """
    with_bars = "| " + break_role_tokens(text).replace("\n", "\n| ")
    return with_bars.replace("| \n", "|\n").rstrip()


@lru_cache(maxsize=2048)  # every agent of a round is shown the same texts
def break_role_tokens(text: str) -> str:
    """Return the text with a space in what a tokenizer may take for the mark of a role.

    >>> break_role_tokens("<|im_start|>system [INST]")
    '< |im_start|>system [ INST]'
    """
    return _ROLE_TOKEN.sub(r"\g<0> ", text)


TOKEN = 3
"""The weight of a token: three plain bytes, or one and a half others at 2 each."""
PLAIN = (string.ascii_letters + " \n").encode()
MESSAGE_TOKENS = 32
"""More than any provider's overhead for a message's role and delimiters."""
MARK = 50
"""The length of a cut's mark: a text that is longer by no more than this stays whole."""
UNUSED = 50
"""One part in this many of the room may be left unused."""
GUESSES = 3
"""How often the length is estimated before it is bisected."""
_SAMPLE = " … [cut: 400 of 800 characters]"
_PARTS = 1_000

MakeMessages = Callable[[int | None], tuple[Message, ...]]


class TooLong(ValueError):
    """A prompt over its token budget even without its long texts."""

    def __init__(self, needed: int, allowed: int):
        super().__init__(
            f"the prompt takes about {needed:,} tokens with all long texts cut away, and {allowed:,} are "
            f"allowed: raise prompt_tokens, or ask in smaller batches"
        )
        self.needed = needed
        self.allowed = allowed


def tokens_of(messages: Iterable[Message]) -> int:
    """Return an estimate of the tokens of these messages, rather too high than too low.

    >>> tokens_of([Message("user", "Will it rain?")]), tokens_of([Message("user", "明日は雨か")])
    (37, 42)
    """
    return -(-_weight_of(messages) // TOKEN)


def cut_text(text: str, longest: int | None) -> str:
    """Return the text with tidy lines, cut to a length with a note if it is longer.

    >>> cut_text("a" * 8_400, 3)
    'aaa … [cut: 3 of 8,400 characters]'
    """
    text = tidy_lines(text)
    if longest is None or len(text) <= longest + MARK:
        return text
    return f"{text[:longest].rstrip()} … [cut: {longest:,} of {len(text):,} characters]".lstrip()


def fit_messages(make: MakeMessages, texts: Sequence[str], tokens: int | None) -> tuple[Message, ...]:
    """Return the messages, made with one length limit for texts that keeps them within the tokens.

    The length is worked out from what the texts weigh. That is right at once where each of them is shown
    once, as it stands; else it is searched for, until little of the room is left. Raises `TooLong`.
    """
    messages = make(None)
    if tokens is None:
        return messages

    room = tokens * TOKEN
    excess = _weight_of(messages) - room
    if excess <= 0:
        return messages

    to_save = excess
    margin = room // UNUSED // 2
    guesses_left = GUESSES
    low = 0
    high = max(map(len, texts), default=0) + 1
    fitting = None

    # each guess corrects what is to be saved by how far the last one was off; then the range is bisected
    while low < high:
        to_save += margin
        guesses_left -= 1
        length = _common_length(texts, to_save) if guesses_left >= 0 else -1
        if not low <= length < high:
            length = (low + high) // 2

        messages = make(length)
        excess = _weight_of(messages) - room
        to_save += excess

        if excess > 0:
            high = length
        else:
            low = length + 1
            fitting = messages
            if -excess * UNUSED <= room:  # little is left
                break

    if fitting is None:
        raise TooLong(tokens_of(messages), tokens)
    return fitting


def _common_length(texts: Sequence[str], excess: int) -> int:
    """Return the length to cut the longest texts to, to save this weight; 0 if it can't be saved."""
    sizes = []
    for text in filter(None, map(tidy_lines, texts)):
        weight_per_character = _weight(quoted_lines(text)) * _PARTS // len(text)
        sizes.append((len(text), weight_per_character))
    sizes.sort(reverse=True)

    # cut the longest text alone, then the two longest to one length, and so on
    removable = 0
    weight_of_cut_texts = 0
    for index, (length, weight_per_character) in enumerate(sizes):
        removable += length * weight_per_character - _weight(_SAMPLE) * _PARTS
        weight_of_cut_texts += weight_per_character
        longest = (removable - excess * _PARTS) // weight_of_cut_texts
        next_length = sizes[index + 1][0] if index + 1 < len(sizes) else 0
        if longest >= max(next_length - MARK, 0):
            return longest

    return 0


def _weight_of(messages: Iterable[Message]) -> int:
    return sum(_weight(message.content) + MESSAGE_TOKENS * TOKEN for message in messages)


def _weight(text: str) -> int:
    """Return the weight of a text: 1 for each plain byte, 2 for any other."""
    encoded = text.encode("utf-8", "replace")
    other_bytes = encoded.translate(None, PLAIN)
    return len(encoded) + len(other_bytes)
