"""Foreign text made safe; figures, money, instants and frozen rules as people write them."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from markupsafe import Markup, escape

from agents.secrets import without_credentials
from arena.cohorts.diff import setting_text
from arena.errors import count_text, times_text
from arena.record.model.cohort import Cohort, Entrant
from markets.millionths import ONE, decimal
from markets.universe import Universe
from portfolio.rules import Rules

MINUS = "−"
DEAR = 100_000
"""From so many dollars on nobody reads the cents."""
UNITS = ((1e9, "B"), (1e6, "M"), (1e3, "k"))
PATTERN = re.compile(r"%(\+?)(?:\.(\d+))?[fd](%?)")
"""A number with or without its sign, with so many digits after the point, and in percent if that follows."""


def written(value: float, form: str) -> str:
    """A figure in a format: a pattern of `PATTERN`, or one of the names below.

    `dollar` and `gain` are money, `short` money on an axis, `compact` and `localized` counts, `times`
    evidence, `power` evidence by its logarithm on an axis, and `p` a p-value, which is never 0.

    >>> written(-0.00001, "%+.4f"), written(0.0161, "%+.4f"), written(-12345.6, "%.1f"), written(7, "%d")
    ('0.0000', '+0.0161', '−12,345.6', '7')
    >>> written(1403.2, "gain"), written(-346816.01, "gain"), written(0, "gain"), written(-3.5, "dollar")
    ('▲ +$1,403.20', '▼ −$346,816', '$0.00', '−$3.50')
    >>> written(0.000013, "dollar"), written(1234567, "compact"), written(1234, "localized")
    ('$0.000013', '1.2M', '1,234')
    >>> written(14.26, "%+.1f%"), written(-0.04, "%+.1f%"), written(-53_319, "short"), written(2500, "short")
    ('+14.3%', '0.0%', '−$53k', '+$2.5k')
    >>> written(4.2, "power"), written(1.2, "power"), written(0.0312, "p"), written(0.0004, "p")
    ('×10k+', '×15', '0.031', '< 0.001')
    """
    if form == "times":
        return times_text(value)
    if form in ("dollar", "gain"):
        return ("" if form == "dollar" else arrow_of(value)) + in_dollars(value, form == "gain")
    if form == "short":
        size = compact(abs(value)).replace(".0", "")
        return f"{'' if size == '0' else MINUS if value < 0 else '+'}${size}"
    if form == "power":
        return times_text(10**value).replace(",000+", "k+")
    if form == "p":
        return f"{value:.3f}" if value >= 0.0005 else "< 0.001"
    if form == "compact":
        return compact(value)
    if form == "localized":
        return digits(value, 0 if value == int(value) else 1)
    found = PATTERN.fullmatch(form)
    assert found is not None, form
    return digits(value, int(found[2] or 0), signed=bool(found[1])) + found[3]


def compact(value: float) -> str:
    """A large number in short."""
    size, unit = next(((size, unit) for size, unit in UNITS if abs(value) >= size), (1.0, ""))
    return digits(value / size, 1 if unit and abs(value) < 20 * size else 0) + unit


def digits(value: float, places: int, signed: bool = False) -> str:
    """A number with so many places, thousands apart, a true minus, and no sign before nothing."""
    size = f"{abs(value):,.{places}f}"
    if not re.search("[1-9]", size):
        return size
    return f"{MINUS if value < 0 else '+' if signed else ''}{size}"


def in_dollars(value: float, signed: bool = False) -> str:
    """Money: to the cent; without cents where there is much, with two digits where there is little.

    >>> in_dollars(1.5), in_dollars(-1.5, signed=True), in_dollars(0.00001234), in_dollars(0)
    ('$1.50', '−$1.50', '$0.000012', '$0.00')
    """
    size = abs(value)
    amount = f"{size:,.0f}" if size >= DEAR else f"{size:,.2f}"
    if 0 < size < 0.005:
        power = int(f"{size:e}".partition("e")[2])
        amount = f"{size:.{min(1 - power, 9)}f}"
    if not re.search("[1-9]", amount):
        return "$0.00"
    return f"{MINUS if value < 0 else '+' if signed else ''}${amount}"


def whole(value: float) -> str:
    """Money in a heading: without cents where nobody needs them.

    >>> whole(6138.33), whole(61.5)
    ('$6,138', '$61.50')
    """
    return f"${value:,.0f}" if value >= 100 else in_dollars(value)


def arrow_of(value: float) -> str:
    """What says gain or loss beside the colour."""
    return "" if abs(value) < 0.005 else "▲ " if value > 0 else "▼ "


def with_true_minus(sentence: str) -> str:
    """A sentence that was made for a terminal, whose negative figures get the sign that a page has.

    >>> with_true_minus("-0.0141 to +0.0003, of gpt-5.6 in -1-1")
    '−0.0141 to +0.0003, of gpt-5.6 in -1-1'
    """
    return re.sub(r"(?<![\w.-])-(?=\$?\d+[.,]\d)", MINUS, sentence)


SAFE = (int, float, Markup)
"""What holds nothing that would have to be escaped."""


def filled(template: str, *values: object) -> Markup:
    """A template of ours with `%s` for values, each escaped: for what is made by the thousand.

    `Markup.format` says the same in ten times the time.
    """
    parts = tuple(value if type(value) in SAFE else escape(value) for value in values)
    return Markup(template % parts)  # noqa: S704 - our own, of escaped values


SECONDS_A_DAY = 86_400
JOINER = "\u2060"
"""A character of no width: no line ends there, and what stands on its sides is not read as one."""
BROKEN = {
    f"{MINUS}$": f"{MINUS}{JOINER}$",
    "+$": f"+{JOINER}$",
    "▲ ": "▲\u00a0",
    "▼ ": "▼\u00a0",
    ", n = ": ", n\u00a0=\u00a0",
}
"""Where a browser would end a line, and how it does not."""


def unbroken(text: str) -> str:
    """Text in which no line ends between the sign of an amount and its dollars.

    >>> unbroken("▼ −$5").replace(JOINER, "|").replace("\u00a0", "_")
    '▼_−|$5'
    """
    for apart, together in BROKEN.items():
        text = text.replace(apart, together)
    return text


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
    joined = re.sub(r"(:|@|(?<=[A-Za-z])(?=\.\w))", rf"\1{JOINER}", unbroken(short))
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


count = count_text
"""A number with its noun: one event, two events."""


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
    return unbroken(text).replace("$", "\\$")


def moment(at: datetime | None) -> str:
    """An instant to the minute, in UTC.

    >>> moment(datetime(2026, 1, 4, 9, 30, tzinfo=UTC)), moment(None)
    ('4 Jan 2026, 09:30 UTC', '–')
    """
    return "–" if at is None else f"{day(at)}, {at.astimezone(UTC):%H:%M} UTC"


def percent(millionths: int | None) -> float | None:
    """A price or a probability in percent.

    >>> percent(405_000), percent(None)
    (40.5, None)
    """
    return None if millionths is None else 100 * millionths / ONE


def money(millionths: int | None) -> float | None:
    """An amount in dollars.

    >>> money(1_500_000), money(None)
    (1.5, None)
    """
    return None if millionths is None else millionths / ONE


def outcome(ended: bool, payout: int | None) -> str | None:
    """How a market ended, in a word or two; None while it has not.

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
    """The frozen rules of a cohort, a sentence each."""
    drawn = [_universe(cohort.universe), *_narrower(cohort.universe)]
    return [_schedule(cohort), *drawn, _caps(cohort.rules), *_orders(cohort.rules)]


def _schedule(cohort: Cohort) -> str:
    money, times = dollars(cohort.bankroll), count(cohort.rounds, "time")
    often = f"every {span(cohort.every)}"
    if cohort.offset is not None:
        often = f"at the start and then {cohort.cadence} UTC"
    return f"Every agent starts with {money} and decides {times}, {often}."


def _universe(rule: Universe) -> str:
    whole = "an event" if rule.per_story is None else "an event or a story"
    shown = f"A round shows up to {count(rule.show, 'market')}, at most {rule.per_event} of {whole}"
    soon = span(timedelta(seconds=rule.closes_within))
    traded, apart = dollars(rule.min_volume), cents(rule.max_spread)
    return f"{shown}. They close within {soon}, have traded {traded} or more, and are quoted within {apart}."


def _narrower(rule: Universe) -> list[str]:
    """What the rule asks for besides, where it does; and by what the draw is spread."""
    unknown = ", where that is known" if rule.unknown_figures else ""
    said = {
        f"They stay open for {span(timedelta(seconds=rule.closes_after))} at least.": rule.closes_after > 0,
        f"Their prices lie from {cents(rule.min_price)} to {cents(rule.max_price)}.": (
            rule.min_price > 0 or rule.max_price < ONE
        ),
        f"Their books offer {dollars(rule.min_depth)} or more on either side.": rule.min_depth > 0,
        f"They belong to {_named(rule.categories)}.": bool(rule.categories),
        f"None belongs to {_named(rule.not_categories)}.": bool(rule.not_categories),
        f"Only {_chosen(rule.slugs, rule.events, rule.tags)} play.": rule.names_markets,
        f"None is among {_chosen(rule.not_slugs, rule.not_events, rule.not_tags)}.": bool(
            rule.not_slugs or rule.not_events or rule.not_tags
        ),
        f"They have {_figures(rule)}{unknown}.": rule.asks_figures,
        "Those that close soonest come first.": rule.order == "soonest",
        "Markets with a price alone, without bid and ask, play too.": rule.price_only,
        f"The draw is spread by {', '.join(rule.strata)}.": bool(rule.strata),
    }
    return [sentence for sentence, holds in said.items() if holds]


def _chosen(slugs: Sequence[str], events: Sequence[str], tags: Sequence[str]) -> str:
    groups = {"the markets": slugs, "the events": events, "the tags": tags}
    return " and ".join(f"{what} {_named(names)}" for what, names in groups.items() if names)


def _figures(rule: Universe) -> str:
    said = {
        f"{dollars(rule.min_volume_24h)} or more traded in 24 hours": rule.min_volume_24h,
        f"{dollars(rule.min_liquidity)} or more of liquidity": rule.min_liquidity,
        f"{dollars(rule.min_open_interest)} or more of open interest": rule.min_open_interest,
    }
    return ", ".join(words for words, least in said.items() if least)


def _named(categories: Sequence[str]) -> str:
    return ", ".join(map(flat, categories))


def _caps(frozen: Rules) -> str:
    base = "at the start of the decision" if frozen.base == "start" else "at the time of the bet"
    subject = "A bet is" if frozen.cap == "bet" else "The bets of a decision together are"
    largest, least = share(frozen.max_bet), dollars(frozen.min_bet)
    cap = f"{subject} at most {largest} of the cash {base}, and each is {least} or more"
    together = "If they are more, all are refused"
    over = "A larger one is refused whole, not clipped" if frozen.cap == "bet" else together
    return f"{cap}. {over}."


def _orders(frozen: Rules) -> list[str]:
    fill = FILLS.get(frozen.fill, f"Orders are filled by the rule {flat(frozen.fill)}.")
    fee = "The venue's fee is paid." if frozen.fee == "venue" else "There is no fee."
    age, gap = span(timedelta(seconds=frozen.max_quote_age)), cents(frozen.max_spread)
    stale = f"Orders are refused when the quote is over {age} old or the spread over {gap}."
    depth = "Fills are unlimited." if frozen.unlimited else ""
    if frozen.max_of_volume is not None and frozen.max_of_volume_cohort is not None:
        parts = share(frozen.max_of_volume), share(frozen.max_of_volume_cohort)
        depth = "A decision trades at most {} of a market's volume, and a cohort {}.".format(*parts)
    late = "Orders are filled, and forecasts scored, at the prices of when an answer is in."
    return [
        *([late] if frozen.fill_at == "answer" else []),
        f"{fill.format(worst=cents(frozen.worst_price))} {fee} {depth}".rstrip(),
        stale,
    ]


def settings(entrant: Entrant) -> str:
    """The frozen settings of an agent, those that say something.

    >>> settings(Entrant(0, "ann", "llm", {"model": "x/y", "reasoning": None, "price": {"input": 1.0}}))
    'model x/y, price input 1'
    """
    return settings_of(entrant.settings)


def settings_of(found: Mapping[str, Any]) -> str:
    """The same of settings by themselves."""
    model_first = sorted(without_credentials(found).items(), key=lambda setting: setting[0] != "model")
    said = ((key.replace("_", " "), setting_text(value)) for key, value in model_first if value is not None)
    return ", ".join(f"{key} {text}" for key, text in said if text)
