"""A budget of tokens for a prompt: long texts are cut to one common length, so that all of it fits.

No tokenizer is asked, since every model has its own. A token is taken to be 3 bytes of ASCII, or 2
bytes of anything else: English has more than 4 bytes a token, other scripts 2 to 4, so that a third
or so is to spare and figures, names and links have their room.
"""

from collections.abc import Callable, Iterable, Sequence

from agents.model import Message
from agents.text import tidy

ASCII, OTHER, TOKEN = 2, 3, 6
"""How much a byte of ASCII, a byte of other text, and a token weigh."""
MESSAGE_TOKENS = 32
"""More than any provider adds to a message for its role and its bounds."""
MARK = 50
"""Characters that the mark of a cut may take: a text that is longer by no more than this stays whole."""
TRIES = 6
_PARTS = 1_000

Make = Callable[[int | None], tuple[Message, ...]]


class TooLong(ValueError):
    """A prompt that has no room in its budget, even without its long texts."""

    def __init__(self, needed: int, allowed: int):
        super().__init__(
            f"the prompt takes about {needed:,} tokens with all long texts cut away, and {allowed:,} are "
            f"allowed: raise prompt_tokens, or ask in smaller batches"
        )
        self.needed, self.allowed = needed, allowed


def tokens_of(messages: Iterable[Message]) -> int:
    """About how many tokens these messages take, rather too many than too few.

    >>> tokens_of([Message("user", "Will it rain?")]), tokens_of([Message("user", "明日は雨か")])
    (37, 40)
    """
    return -(-_weight_of(messages) // TOKEN)


def cut(text: str, longest: int | None) -> str:
    """The text with tidy lines, cut to a length if it is longer; then it says so.

    >>> cut("a" * 8_400, 3)
    'aaa … [cut: 3 of 8,400 characters]'
    """
    text = tidy(text)
    if longest is None or len(text) <= longest + MARK:
        return text
    return f"{text[:longest].rstrip()} … [cut: {longest:,} of {len(text):,} characters]".lstrip()


def fitted(make: Make, texts: Sequence[str], tokens: int | None) -> tuple[Message, ...]:
    """The messages, made with the longest common length of these texts that keeps them within the tokens."""
    messages = make(None)
    if tokens is None:
        return messages
    longest, saved, tries = None, 0, 0
    while (excess := _weight_of(messages) - tokens * TOKEN) > 0:
        if longest == 0:
            raise TooLong(tokens_of(messages), tokens)
        saved, tries = saved + excess, tries + 1
        shorter = _common_length(texts, saved)
        if longest is not None:
            shorter = min(shorter, longest - 1 if tries < TRIES else longest // 2)
        longest = shorter
        messages = make(longest)
    return messages


def _common_length(texts: Sequence[str], excess: int) -> int:
    """The length to which the longest texts are cut to save a weight; 0 where it can't be saved."""
    tidied = filter(None, map(tidy, texts))
    sizes = sorted(((len(text), _weight(text) * _PARTS // len(text)) for text in tidied), reverse=True)
    spare = rate = 0
    for place, (length, weight) in enumerate(sizes):
        spare, rate = spare + (length - MARK) * weight, rate + weight
        longest = (spare - excess * _PARTS) // rate
        following = sizes[place + 1][0] if place + 1 < len(sizes) else 0
        if longest >= max(following - MARK, 0):
            return longest
    return 0


def _weight_of(messages: Iterable[Message]) -> int:
    return sum(_weight(message.content) + MESSAGE_TOKENS * TOKEN for message in messages)


def _weight(text: str) -> int:
    if text.isascii():
        return ASCII * len(text)
    plain = len(text.encode("ascii", "ignore"))
    return ASCII * plain + OTHER * (len(text.encode("utf-8", "replace")) - plain)
