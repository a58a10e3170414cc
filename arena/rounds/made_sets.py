"""Question sets made from the record's markets and a published set, and kept in the record."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain
from typing import Any

from arena.errors import ArenaError
from arena.forms.bench.made_set import SetCandidate, SetPlan, make_set, plan_in
from arena.forms.bench.model import NOTHING, QuestionSet, is_day
from arena.forms.bench.reading import read_question_set, strictly
from arena.record.model.benchmark import FORECASTBENCH, BenchmarkFile, NewFile
from arena.record.queries.benchmark import newest_files
from arena.record.queries.markets import read_known_ids, read_markets
from arena.record.record import Record
from arena.record.schema.database import Connection
from arena.record.write.benchmark import keep_file
from arena.rounds.benchmark_rounds import QUESTIONS, FileSource
from markets.hashes import sha256
from markets.millionths import decimal
from markets.model import NEVER, Market, Quote
from markets.universe import Universe, passes
from markets.venue import venue_page

MARKET_INTRO = (
    "We would like you to predict the outcome of a prediction market. A prediction market, in this context, "
    "is the aggregate of predictions submitted by users on the website {}. You're going to predict the "
    "probability that the market will resolve as 'Yes'."
)
"""What published sets say of the markets of a site."""


def make_questions(
    record: Record, plan: SetPlan, universe: Universe, source: FileSource | None, at: datetime
) -> tuple[BenchmarkFile, bool]:
    """Make a set, keep it, and return it and whether it is new; one made by the same plan before is returned.

    Raise `ArenaError` if the record has another set of that day, or too little to make one from.
    """
    if not is_day(plan.due):
        raise ArenaError("bad_day", f"{plan.due!r} is not a day", "write it like 2026-03-01", status=64)

    for kept in record.read(newest_files, "questions", [plan.due]):
        if plan_in(kept.text) == plan:
            return kept, False
        if kept.name == plan.name:
            message = f"the record has {kept.name} already, which is another set"
            raise ArenaError("exists", message, "name another day with --due, or leave out --make")

    published = _published_set(record, plan, source)
    candidates = record.read(record_candidates, universe, plan.due, at)
    own_sources = {candidate.source for candidate in candidates}

    # A published set adds questions of the sources that the record knows nothing of.
    origin_hashes = {}
    if published is not None:
        name, text = published
        origin_hashes[name] = sha256(text)
        question_set: QuestionSet = strictly(read_question_set, name, text)
        for candidate in published_candidates(question_set, plan.due):
            if candidate.source not in own_sources:
                candidates.append(candidate)

    text = make_set(plan, candidates, origin_hashes)
    strictly(read_question_set, plan.name, text, combinations=True)  # raises for a set that can't be read
    return record.write(keep_file, NewFile("questions", plan.name, plan.due, text), at)


def _published_set(record: Record, plan: SetPlan, source: FileSource | None) -> tuple[str, str] | None:
    """Return the name and the text of the set from which questions are taken, if there is one.

    It is the one of the same day, else the newest.
    """
    if source is not None:
        for name in (plan.name, source.newest()):
            text = None if name is None else source.read(QUESTIONS, name)
            if name is not None and text is not None:
                return name, text
        raise ArenaError("no_questions", f"{source.place} has no question set", "name another with --from")

    stored_files = record.read(newest_files, "questions")
    published = [file for file in stored_files if plan_in(file.text) is None]  # not made here
    if not published:
        return None
    newest = published[-1]
    return newest.name, newest.text


def published_candidates(question_set: QuestionSet, due: str) -> Iterator[SetCandidate]:
    """Yield the questions of a set that can still be asked on a day: the dates of series move along with it.

    Markets that close by then are left out, and questions without a value when the set was frozen.
    """
    days_later = date.fromisoformat(due) - date.fromisoformat(question_set.due)
    for question in question_set.questions:
        item = dict(question.texts)
        if item["freeze_datetime_value"] == NOTHING:
            continue
        if question.is_market:
            is_open = str(item["market_info_close_datetime"])[:10] > due
            if is_open and question.freeze_probability(question.id) is not None:
                yield SetCandidate(item)
            continue

        moved_days = []
        for day in question.dates:
            moved_day = date.fromisoformat(day) + days_later
            moved_days.append(moved_day.isoformat())
        item["resolution_dates"] = moved_days
        yield SetCandidate(item)


# ── the record's markets ─────────────────────────────────────────────────────────────────────────────────


def record_candidates(
    connection: Connection, universe: Universe, due: str, at: datetime
) -> list[SetCandidate]:
    """Return the open markets of the record that the config's rule admits and that are decided after a day.

    Markets that are one question at several dates are one candidate; those have no price.
    """
    day_after = datetime.combine(date.fromisoformat(due), time(), UTC) + timedelta(days=1)
    candidates = []
    by_series: dict[str, list[Market]] = defaultdict(list)
    known_ids = list(filter(_is_venue_market, read_known_ids(connection, at)))

    for known in read_markets(connection, at, known_ids):
        market = known.listing.market
        if known.status != "open" or market.form:  # a set asks questions of yes or no
            continue
        if market.series:
            by_series[market.series].append(market)
        elif market.closes_at >= day_after and passes(known.listing, universe, at):
            quote = known.listing.quote
            if quote is not None and quote.mid is not None:
                candidates.append(SetCandidate(_market_item(market, quote, quote.mid), market.category))

    for series, markets in _series_of_newest_day(by_series).items():
        later_markets = [market for market in markets if _day_of(market) > due]
        if later_markets:
            item = _series_item(series, later_markets)
            candidates.append(SetCandidate(item, later_markets[0].category))
    return candidates


def _series_of_newest_day(by_series: Mapping[str, Sequence[Market]]) -> dict[str, Sequence[Market]]:
    """Return the questions of each series asked on the newest day, since each day repeats them."""
    all_markets = chain.from_iterable(by_series.values())
    newest = max((market.opens_at for market in all_markets), default=NEVER)
    return {series: markets for series, markets in sorted(by_series.items()) if markets[0].opens_at == newest}


def _is_venue_market(market_id: str) -> bool:
    """Tell whether a market is from a venue, not from a benchmark."""
    return not market_id.startswith(f"{FORECASTBENCH}:")


def _day_of(market: Market) -> str:
    """Return the date of one market of a question with several dates."""
    return market.id.rpartition("@")[2]


def _market_item(market: Market, quote: Quote, mid: int) -> dict[str, Any]:
    """Return a market in the published form, at its newest price."""
    item = _page_item(market, market.id)
    item["freeze_datetime"] = quote.at.isoformat()
    item["freeze_datetime_value"] = f"{decimal(mid):f}"
    item["freeze_datetime_value_explanation"] = "The market price."
    return item


def _series_item(series: str, dates: Sequence[Market]) -> dict[str, Any]:
    """Return a question at several dates in the published form, as a data question."""
    days = sorted(map(_day_of, dates))
    market = min(dates, key=_day_of)
    item = _page_item(market, series)
    item["question"] = market.question.replace(days[0], "{resolution_date}")
    item["resolution_criteria"] = f"So {days[0]} is decided, and the other dates alike. {market.rules}"
    item["market_info_resolution_criteria"] = NOTHING
    item["market_info_open_datetime"] = NOTHING
    item["market_info_close_datetime"] = NOTHING
    item["freeze_datetime"] = market.opens_at.isoformat()
    item["freeze_datetime_value_explanation"] = "The latest values stand in the resolution criteria."
    item["resolution_dates"] = days
    return item


def _page_item(market: Market, own_id: str) -> dict[str, Any]:
    """Return what a market's page says, in the published form."""
    venue, _, name = own_id.partition(":")
    page = venue_page(market.id, market.event_id, market.slug, market.event_slug)
    title = page[0] if page else venue.capitalize()
    address = page[1] if page else NOTHING
    closes = NOTHING if market.closes_at == NEVER else market.closes_at.isoformat()
    return {
        "id": name,
        "source": venue,
        "question": market.question,
        "resolution_criteria": f"Resolves to the outcome of the question found at {address}.",
        "background": NOTHING,
        "market_info_open_datetime": market.opens_at.isoformat(),
        "market_info_close_datetime": closes,
        "market_info_resolution_criteria": market.rules or NOTHING,
        "url": address,
        "freeze_datetime": NOTHING,
        "freeze_datetime_value": NOTHING,
        "freeze_datetime_value_explanation": NOTHING,
        "source_intro": MARKET_INTRO.format(title),
        "resolution_dates": NOTHING,
    }
