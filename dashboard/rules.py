"""What a cohort has frozen, in plain sentences."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from agents.secrets import without_credentials
from arena.record.model.cohort import Cohort, Entrant
from dashboard.words import cents, count, dollars, flat, share, span
from markets.millionths import ONE
from markets.universe import Universe
from portfolio.rules import Rules

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
    return f"{cap}. What is over the cap is refused, not clipped."


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
    said = (
        (key, _value(value)) for key, value in sorted(without_credentials(found).items(), key=_model_first)
    )
    return ", ".join(f"{key.replace('_', ' ')} {text}" for key, text in said if text)


def _model_first(setting: tuple[str, Any]) -> bool:
    return setting[0] != "model"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
