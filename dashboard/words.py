"""Foreign text made safe; figures, money, instants and frozen rules as people write them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import floor
from typing import Any

from markupsafe import Markup, escape

from agents.secrets import without_credentials
from arena.cohorts.diff import setting_text
from arena.errors import count_text, times_text
from arena.record.model.cohort import Cohort
from markets.millionths import ONE, decimal
from markets.universe import Universe
from portfolio.rules import Rules

MINUS = "−"
DEAR = 100_000
"""From this many dollars on, cents are left out."""
UNITS = ((1e9, "B"), (1e6, "M"), (1e3, "k"))
PATTERN = re.compile(r"%(\+?)(?:\.(\d+))?[fd](%?)")
"""A number with or without its sign, with some digits after the point, and in percent if that follows."""


def written(value: float, form: str) -> str:
    """Return a figure in a format: a pattern of `PATTERN`, or one of the names below.

    `dollar`, `gain` and, in whole dollars, `earned` are money, `short` money on an axis, `compact` and
    `localized` counts, `times` evidence, `power` evidence by its logarithm on an axis, and `p` a p-value,
    which is never 0.

    >>> written(-0.00001, "%+.4f"), written(0.0161, "%+.4f"), written(-12345.6, "%.1f"), written(7, "%d")
    ('0.0000', '+0.0161', '−12,345.6', '7')
    >>> written(1403.2, "gain"), written(-346816.01, "gain"), written(0, "gain"), written(-3.5, "dollar")
    ('▲ +$1,403.20', '▼ −$346,816', '$0.00', '−$3.50')
    >>> written(0.000013, "dollar"), written(1234567, "compact"), written(1234, "localized")
    ('$0.000013', '1.2M', '1,234')
    >>> written(14.26, "%+.1f%"), written(-0.04, "%+.1f%"), written(-53_319, "short"), written(2500, "short")
    ('+14.3%', '0.0%', '−$53k', '+$2.5k')
    >>> written(4, "power"), written(-1, "power"), written(0.0312, "p"), written(0.0004, "p")
    ('×10,000', '×0.1', '0.031', '< 0.001')
    """
    write = FORMS.get(form)
    if write is not None:
        return write(value)
    pattern = PATTERN.fullmatch(form)
    assert pattern is not None, form
    return digits(value, int(pattern[2] or 0), signed=bool(pattern[1])) + pattern[3]


def short_dollars(value: float) -> str:
    """Return money on an axis, as short as possible, with its sign."""
    size = compact(abs(value)).replace(".0", "")
    if size == "0":
        return "$0"
    return f"{sign_of(value, True)}${size}"


def compact(value: float) -> str:
    """Return a large number in short."""
    for size, unit in UNITS:
        if abs(value) >= size:
            return digits(value / size, int(abs(value) < 20 * size)) + unit
    return digits(value, 0)


def sign_of(value: float, signed: bool) -> str:
    """Return a true minus before a loss; before a gain a plus where signs are asked for."""
    if value < 0:
        return MINUS
    return "+" * signed


def digits(value: float, places: int, signed: bool = False) -> str:
    """Return a number with this many digits, thousands apart, a true minus, and no sign before zero."""
    size = f"{abs(value):,.{places}f}"
    if not re.search("[1-9]", size):
        return size
    return sign_of(value, signed) + size


def in_dollars(value: float, signed: bool = False) -> str:
    """Return money to the cent: large amounts without cents, small ones with two significant digits.

    >>> in_dollars(1.5), in_dollars(-1.5, signed=True), in_dollars(0.00001234), in_dollars(0)
    ('$1.50', '−$1.50', '$0.000012', '$0.00')
    """
    absolute = abs(value)
    amount = f"{absolute:,.2f}"
    if absolute >= DEAR:
        amount = f"{absolute:,.0f}"
    elif 0 < absolute < 0.005:
        power = int(f"{absolute:e}".partition("e")[2])
        amount = f"{absolute:.{min(1 - power, 9)}f}"
    if not re.search("[1-9]", amount):
        return "$0.00"
    return f"{sign_of(value, signed)}${amount}"


def earned_text(value: float) -> str:
    """Return a profit or loss, in whole dollars where cents say nothing.

    >>> earned_text(11_064.67), earned_text(-50.0), earned_text(0.0), earned_text(0.5)
    ('▲ +$11,065', '▼ −$50', '$0', '$0')
    """
    if abs(value) <= 0.5:
        return "$0"
    return f"{arrow_of(value)}{sign_of(value, True)}${abs(value):,.0f}"


def arrow_of(value: float) -> str:
    """Return the arrow that says gain or loss beside the colour."""
    if abs(value) < 0.005:
        return ""
    if value > 0:
        return "▲ "
    return "▼ "


FORMS: Mapping[str, Callable[[float], str]] = {
    "times": times_text,
    "dollar": in_dollars,
    "gain": lambda value: arrow_of(value) + in_dollars(value, signed=True),
    "earned": earned_text,
    "short": short_dollars,
    "power": lambda value: f"×{digits(10**value, max(-floor(value), 0))}",
    "p": lambda value: f"{value:.3f}" if value >= 0.0005 else "< 0.001",
    "compact": compact,
    "localized": lambda value: digits(value, int(value != int(value))),
}
"""How figures are written, by the name of their format."""


def with_true_minus(sentence: str) -> str:
    """Return a sentence made for a terminal with the true minus of pages before its figures.

    >>> with_true_minus("-0.0141 to +0.0003, of gpt-5.6 in -1-1")
    '−0.0141 to +0.0003, of gpt-5.6 in -1-1'
    """
    return re.sub(r"(?<![\w.-])-(?=\$?\d+[.,]\d)", MINUS, sentence)


SAFE = (int, float, Markup)
"""Text that needs no escaping."""


def filled(template: str, *values: object) -> Markup:
    """Fill a template of ours, which has `%s` for values, each escaped; fast, as thousands are filled.

    `Markup.format` says the same in ten times the time.
    """
    parts = tuple(value if type(value) in SAFE else escape(value) for value in values)
    return Markup(template % parts)  # noqa: S704 - our own, of escaped values


LENGTHS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
"""Units of time in seconds."""
JOINER = "\u2060"
"""A character of zero width, which prevents a line break and separates its neighbours."""
BROKEN = {
    f"{MINUS}$": f"{MINUS}{JOINER}$",
    "+$": f"+{JOINER}$",
    "▲ ": "▲\u00a0",
    "▼ ": "▼\u00a0",
    ", n = ": ", n\u00a0=\u00a0",
}
"""Where a browser would break a line, and how to prevent it."""


def unbroken(text: str) -> str:
    """Return text in which no line ends between the sign of an amount and its dollars.

    >>> unbroken("▼ −$5").replace(JOINER, "|").replace("\u00a0", "_")
    '▼_−|$5'
    """
    for apart, together in BROKEN.items():
        text = text.replace(apart, together)
    return text


def code(text: str) -> str:
    """Return foreign text as a code span, in which no Markdown, link, picture or emoji code has effect.

    >>> print(code("![x](http://a.b/c)"), code("a`b"))
    `![x](http://a.b/c)` ``a`b``
    """
    one_line = " ".join(text.split())
    backticks = "`" * (max(map(len, re.findall("`+", one_line)), default=0) + 1)
    padding = " " * (one_line.startswith("`") or one_line.endswith("`"))
    return f"{backticks}{padding}{one_line}{padding}{backticks}"


def flat(text: str) -> str:
    """Return foreign text on one line, without invisible characters."""
    return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())


def plain(text: str, most: int = 300) -> str:
    """Escape foreign text for a sentence or a label in Markdown, so that it is read literally.

    What starts an address, an emoji code or a coloured text is broken by a character that nobody sees, for
    a backslash alone does not keep them apart.

    >>> print(plain("**a** <b> $5"), plain("http://x.y :fire:").replace(JOINER, "|"))
    \\*\\*a\\*\\* \\<b\\> \\$5 http:|//x|.y :|fire:|
    """
    short = flat(text)
    if len(short) > most:
        short = f"{short[: most - 1]}…"
    broken_addresses = re.sub(r"(:|@|(?<=[A-Za-z])(?=\.\w))", rf"\1{JOINER}", unbroken(short))
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~$&-])", r"\\\1", broken_addresses)


def day(at: datetime) -> str:
    """Return a date as people write it, in UTC.

    >>> day(datetime(2026, 1, 4, tzinfo=UTC))
    '4 Jan 2026'
    """
    utc = at.astimezone(UTC)
    return f"{utc.day} {utc:%b %Y}"


def dollars(millionths: int) -> str:
    """Return an amount of money, cents only where there are any.

    >>> dollars(10_000_000_000), dollars(50_500_000)
    ('$10,000', '$50.50')
    """
    amount = decimal(millionths)
    if amount == int(amount):
        return f"${amount:,.0f}"
    return in_dollars(float(amount))


def usd(millionths: int) -> str:
    """Return an amount of money, to the cent.

    >>> usd(1_234_500_000), usd(0)
    ('$1,234.50', '$0.00')
    """
    return in_dollars(millionths / ONE)


def share(millionths: int) -> str:
    """Return a fraction in percent.

    >>> share(250_000), share(1_250)
    ('25%', '0.125%')
    """
    return f"{decimal(millionths * 100).normalize():f}%"


count = count_text
"""A number with its noun: one event, two events."""


def duration_text(time: timedelta) -> str:
    """Return a duration in its largest whole unit, or in several if it is many odd seconds.

    >>> [duration_text(timedelta(seconds=seconds)) for seconds in (604_800, 900, 90)]
    ['7 days', '15 minutes', '90 seconds']
    >>> duration_text(timedelta(seconds=10_000_000))
    '115 days 17 hours 46 minutes 40 seconds'
    """
    seconds = int(time.total_seconds())

    # An odd number of seconds reads well up to an hour only.
    in_one_unit = seconds % 60 == 0 or seconds < 3_600
    parts = []
    for unit, size in LENGTHS.items():
        if in_one_unit and seconds % size == 0:
            return count(seconds // size, unit)
        number = seconds // size
        if number and not in_one_unit:
            parts.append(count(number, unit))
            seconds -= number * size
    return " ".join(parts)


def cents(millionths: int) -> str:
    """Return a price in cents.

    >>> cents(30_000), cents(5_500)
    ('3¢', '0.55¢')
    """
    return f"{decimal(millionths * 100).normalize():f}¢"


def gained(millionths: float) -> str:
    """Return a profit or loss to the cent, with its sign before it.

    >>> gained(1_234_500_000), gained(-5_000_000), gained(0)
    ('+$1,234.50', '−$5.00', '$0.00')
    """
    return in_dollars(millionths / ONE, signed=True)


def escaped(text: str) -> str:
    """Escape our own words for Markdown, where a dollar starts a formula.

    >>> print(escaped("$5 of $10"))
    \\$5 of \\$10
    """
    return unbroken(text).replace("$", "\\$")


def moment(at: datetime | None) -> str:
    """Return an instant to the minute, in UTC.

    >>> moment(datetime(2026, 1, 4, 9, 30, tzinfo=UTC)), moment(None)
    ('4 Jan 2026, 09:30 UTC', '–')
    """
    if at is None:
        return "–"
    return f"{day(at)}, {at.astimezone(UTC):%H:%M} UTC"


def percent(millionths: int | None) -> float | None:
    """Return a price or a probability in percent.

    >>> percent(405_000), percent(None)
    (40.5, None)
    """
    if millionths is None:
        return None
    return 100 * millionths / ONE


def rounded_percent(millionths: int) -> str:
    """Return a probability in whole percent.

    >>> rounded_percent(405_000)
    '40%'
    """
    return f"{millionths / ONE:.0%}"


def money(millionths: int | None) -> float | None:
    """Return an amount in dollars.

    >>> money(1_500_000), money(None)
    (1.5, None)
    """
    if millionths is None:
        return None
    return millionths / ONE


def whole_number(text: str, most: int = 9) -> int:
    """Return the number in an address, of at most this many digits; 0 for anything else.

    >>> whole_number("12"), whole_number("-1"), whole_number("123456", 5)
    (12, 0, 0)
    """
    if text.isascii() and text.isdecimal() and len(text) <= most:
        return int(text)
    return 0


DONE = {"buy": "bought", "sell": "sold"}
"""What was done, by its action."""


def outcome(ended: bool, payout: int | None) -> str | None:
    """Say how a market ended, in a word or two, or None while it has not.

    >>> outcome(True, 1_000_000), outcome(True, 0), outcome(True, 500_000), outcome(True, None)
    ('YES', 'NO', '50¢', 'refund')
    """
    if not ended:
        return None
    if payout is None:
        return "refund"
    return {ONE: "YES", 0: "NO"}.get(payout) or cents(payout)


FILLS = {
    "book": "Orders walk the book, best price first, and go no further than {worst} from it.",
    "quote": "Purchases pay the ask and sales get the bid.",
    "mid": "Orders are filled at the middle of bid and ask.",
    "spread": "Orders pay half a spread around the middle.",
}


def rules(cohort: Cohort) -> list[str]:
    """Return the frozen rules of a cohort, a sentence each; without money there are no bets."""
    traded = [_bet_caps(cohort.rules), *_order_rules(cohort.rules)]
    if not cohort.rules.money:
        traded = ["Agents forecast alone: there is no money, and nothing can be bought."]
    return [
        _schedule(cohort),
        _shown_markets(cohort.universe),
        *_market_limits(cohort.universe),
        *_market_selection(cohort.universe),
        *_draw_rules(cohort.universe),
        *traded,
    ]


def _schedule(cohort: Cohort) -> str:
    """Say with how much money agents start, and when they decide."""
    often = f"every {duration_text(cohort.every)}"
    if cohort.offset is not None:
        often = f"at the start and then {cohort.cadence} UTC"
    money = f"starts with {dollars(cohort.bankroll)} and " * cohort.rules.money
    return f"Every agent {money}decides {count(cohort.rounds, 'time')}, {often}."


def _shown_markets(rule: Universe) -> str:
    """Say which markets a round shows."""
    whole = "an event or a story"
    if rule.per_story is None:
        whole = "an event"
    shown = f"A round shows up to {count(rule.show, 'market')}, at most {rule.per_event} of {whole}"
    soon = f"They close within {duration_text(timedelta(seconds=rule.closes_within))}"
    traded = f"have traded {dollars(rule.min_volume)} or more"
    return f"{shown}. {soon}, {traded}, and are quoted within {cents(rule.max_spread)}."


def _market_limits(rule: Universe) -> Iterator[str]:
    """Yield the rule's limits on the times, prices and books of markets, if it has any."""
    if rule.closes_after > 0:
        yield f"They stay open for {duration_text(timedelta(seconds=rule.closes_after))} at least."
    if rule.min_price > 0 or rule.max_price < ONE:
        yield f"Their prices lie from {cents(rule.min_price)} to {cents(rule.max_price)}."
    if rule.min_depth > 0:
        yield f"Their books offer {dollars(rule.min_depth)} or more on either side."


def _market_selection(rule: Universe) -> Iterator[str]:
    """Yield which markets the rule selects, if it selects any."""
    if rule.categories:
        yield f"They belong to {_name_list(rule.categories)}."
    if rule.not_categories:
        yield f"None belongs to {_name_list(rule.not_categories)}."
    if rule.names_markets:
        yield f"Only {_selection_text(rule.slugs, rule.events, rule.tags)} play."

    left_out = _selection_text(rule.not_slugs, rule.not_events, rule.not_tags)
    if left_out:
        yield f"None is among {left_out}."
    if rule.asks_figures:
        unknown = ", where that is known" * rule.unknown_figures
        yield f"They have {_figure_limits(rule)}{unknown}."


def _draw_rules(universe: Universe) -> Iterator[str]:
    """Yield how markets are drawn, unless that is by chance alone."""
    if universe.order == "soonest":
        yield "Those that close soonest come first."
    if universe.unpriced:
        yield "Questions without a price play too."
    elif universe.price_only:
        yield "Markets with a price alone, without bid and ask, play too."
    if universe.strata:
        yield f"The draw is spread by {', '.join(universe.strata)}."


def _selection_text(slugs: Sequence[str], events: Sequence[str], tags: Sequence[str]) -> str:
    """Return markets, events and tags by their names."""
    groups = {"the markets": slugs, "the events": events, "the tags": tags}
    return " and ".join(f"{what} {_name_list(names)}" for what, names in groups.items() if names)


def _figure_limits(rule: Universe) -> str:
    """Say how much must be known of a market."""
    least = {
        "traded in 24 hours": rule.min_volume_24h,
        "of liquidity": rule.min_liquidity,
        "of open interest": rule.min_open_interest,
    }
    return ", ".join(f"{dollars(amount)} or more {what}" for what, amount in least.items() if amount)


def _name_list(names: Sequence[str]) -> str:
    """Return foreign names in a list."""
    return ", ".join(map(flat, names))


def _bet_caps(frozen: Rules) -> str:
    """Say how large bets may be, and how larger ones are handled."""
    sentence_start = "The bets of a decision together are"
    consequence = "If they are more, all are refused"
    if frozen.cap == "bet":
        sentence_start = "A bet is"
        consequence = "A larger one is refused whole, not clipped"
    base_text = "at the time of the bet"
    if frozen.base == "start":
        base_text = "at the start of the decision"
    cap = f"{sentence_start} at most {share(frozen.max_bet)} of the cash {base_text}"
    return f"{cap}, and each is {dollars(frozen.min_bet)} or more. {consequence}."


def _order_rules(frozen: Rules) -> Iterator[str]:
    """Yield how orders are filled, and when they are refused."""
    if frozen.fill_at == "answer":
        yield "Orders are filled, and forecasts scored, at the prices of when an answer is in."

    fill = FILLS.get(frozen.fill, f"Orders are filled by the rule {flat(frozen.fill)}.")
    fees = "There is no fee."
    if frozen.fee == "venue":
        fees = "The venue's fee is paid."
    text = f"{fill.format(worst=cents(frozen.worst_price))} {fees}"
    if frozen.max_of_volume is not None and frozen.max_of_volume_cohort is not None:
        most = share(frozen.max_of_volume)
        cohort = share(frozen.max_of_volume_cohort)
        text += f" A decision trades at most {most} of a market's volume, and a cohort {cohort}."
    elif frozen.unlimited:
        text += " Fills are unlimited."
    yield text

    age = duration_text(timedelta(seconds=frozen.max_quote_age))
    gap = cents(frozen.max_spread)
    yield f"Orders are refused when the quote is over {age} old or the spread over {gap}."


def settings(frozen: Mapping[str, Any]) -> str:
    """Return the frozen settings of an agent, without empty ones.

    >>> settings({"model": "x/y", "reasoning": None, "price": {"input": 1.0}})
    'model x/y, price input 1'
    """
    parts = []
    for key, value in sorted(without_credentials(frozen).items(), key=lambda setting: setting[0] != "model"):
        text = ""
        if value is not None:
            text = setting_text(value)
        if text:
            parts.append(f"{key.replace('_', ' ')} {text}")
    return ", ".join(parts)
