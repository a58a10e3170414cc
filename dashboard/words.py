"""Foreign text made safe, and figures as people write them."""

import re
from datetime import UTC, datetime, timedelta

from dashboard.numbers import in_dollars
from markets.millionths import ONE, decimal

SECONDS_A_DAY = 86_400
JOINER = "\u2060"
"""A character of no width that keeps what stands on its sides apart."""


def code(text: str) -> str:
    """Foreign text as a code span, where no Markdown, link, picture or emoji code means anything.

    >>> print(code("![x](http://a.b/c)"), code("a`b"))
    `![x](http://a.b/c)` ``a`b``
    """
    flat = " ".join(text.split())
    fence = "`" * (max(map(len, re.findall("`+", flat)), default=0) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def flat(text: str) -> str:
    """Foreign text on one line, without what can't be seen."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def plain(text: str, most: int = 300) -> str:
    """Foreign text for a sentence or a label in Markdown, all of which it means literally.

    What starts an address, an emoji code or a coloured text is broken by a character that nobody sees, for
    a backslash alone does not keep them apart.

    >>> print(plain("**a** <b> $5"), plain("http://x.y :fire:").replace(JOINER, "|"))
    \\*\\*a\\*\\* \\<b\\> \\$5 http:|//x|.y :|fire:|
    """
    whole = flat(text)
    short = whole if len(whole) <= most else f"{whole[: most - 1]}…"
    joined = re.sub(r"(:|@|(?<=[A-Za-z])(?=\.\w))", rf"\1{JOINER}", short)
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~$&-])", r"\\\1", joined)


def day(at: datetime) -> str:
    """A date as people write it, in UTC.

    >>> day(datetime(2026, 1, 4, tzinfo=UTC))
    '4 Jan 2026'
    """
    utc = at.astimezone(UTC)
    return f"{utc.day} {utc:%b %Y}"


def dollars(millionths: int) -> str:
    """An amount of money, cents only where there are any.

    >>> dollars(10_000_000_000), dollars(50_500_000)
    ('$10,000', '$50.50')
    """
    amount = decimal(millionths)
    return f"${amount:,.0f}" if amount == int(amount) else in_dollars(float(amount))


def usd(millionths: int) -> str:
    """An amount of money, to the cent.

    >>> usd(1_234_500_000), usd(0)
    ('$1,234.50', '$0.00')
    """
    return in_dollars(millionths / ONE)


def share(millionths: int) -> str:
    """A fraction in percent.

    >>> share(250_000), share(1_250)
    ('25%', '0.125%')
    """
    return f"{decimal(millionths * 100).normalize():f}%"


def count(number: int, noun: str) -> str:
    """A number with its noun: one event, two events.

    >>> count(1, "event"), count(2803, "event")
    ('1 event', '2,803 events')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def span(time: timedelta) -> str:
    """A length of time in its largest whole unit; in several, where that is the second and they are many.

    >>> span(timedelta(days=7)), span(timedelta(minutes=15)), span(timedelta(seconds=90))
    ('7 days', '15 minutes', '90 seconds')
    >>> span(timedelta(seconds=10_000_000))
    '115 days 17 hours 46 minutes 40 seconds'
    """
    seconds = int(time.total_seconds())
    units = ((SECONDS_A_DAY, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
    whole = next(count(seconds // size, unit) for size, unit in units if seconds % size == 0)
    if seconds % 60 == 0 or seconds < 3_600:
        return whole
    parts = list[str]()
    for size, unit in units:
        number, seconds = divmod(seconds, size)
        parts += [count(number, unit)] if number else []
    return " ".join(parts)


def cents(millionths: int) -> str:
    """A price in cents.

    >>> cents(30_000), cents(5_500)
    ('3¢', '0.55¢')
    """
    return f"{decimal(millionths * 100).normalize():f}¢"


def gained(millionths: float) -> str:
    """Money made or lost, to the cent, its sign before it.

    >>> gained(1_234_500_000), gained(-5_000_000), gained(0)
    ('+$1,234.50', '−$5.00', '$0.00')
    """
    return in_dollars(millionths / ONE, signed=True)


def escaped(text: str) -> str:
    """Our own words for Markdown: a dollar there starts a formula.

    >>> print(escaped("$5 of $10"))
    \\$5 of \\$10
    """
    return text.replace("$", "\\$")
