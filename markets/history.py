"""A venue's past as a bundle: each answer is stored on disk first, the bundle is written at the end.

Whatever kills it, the same request goes on where it was: what is in `.answers.db` is not asked again. The
file `history.json` says what was asked for, and, once the bundle is whole, what is in it.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from markets.bundle.files import ENDS, MARKETS, MOST_BYTES, NAMES, PRICES, add_all, locked_folder
from markets.bundle.model import BadBundleValue
from markets.bundle.write import TABLES, end_line, page_line, quarantine
from markets.hashes import timestamp_text
from markets.millionths import decimal
from markets.model import MarketId, Quote
from markets.past import PastMarket, PastRequest, PastVenue, page_versions, thinned
from markets.venue import QuarantinedRecord, Report, VenueError
from markets.venues.wire.fields import instant
from markets.venues.wire.http import AnswerStore, KeptAnswers
from markets.venues.wire.paging import gather_all

MANIFEST = "history.json"
ANSWERS = ".answers.db"
AT_ONCE = 40
"""How many markets' prices are requested concurrently."""
A_ROW = 75
"""The approximate bytes of a price in a bundle."""
OF_ONE_MARKET = frozenset({"missing", "refused", "bad_page", "too_large", "incomplete"})
"""Errors of a single market: the venue did answer."""
POINTLESS = frozenset({"no_markets", "too_much", "no_events"})
"""Errors that no retry can fix: the folder may be used for another request."""
DONE = frozenset({"markets", "prices", "resolutions", "left_out"})
"""The keys of a manifest's result, once the bundle is complete."""
Open = Callable[[KeptAnswers], PastVenue]
Moved = Callable[[str, int, int | None], None]


@dataclass(slots=True)
class PastSummary:
    """The result of a history: what is in the bundle, what was left out, and how much was asked."""

    markets: int = 0
    prices: int = 0
    resolutions: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    answers_on_disk: int = 0
    whole_before: bool = False


@dataclass(slots=True)
class _Lines:
    """The lines of a bundle while they are gathered, grouped by market."""

    pages: list[str] = field(default_factory=list)
    prices: list[str] = field(default_factory=lambda: [_table(PRICES).getvalue()])
    ends: io.StringIO = field(default_factory=lambda: _table(ENDS))


def _table(name: str) -> io.StringIO:
    """Return a table with its header; markets of venues are all yes or no, so it has no answer column."""
    text = io.StringIO()
    header = [column for column in TABLES[name] if column != "answer"]
    csv.writer(text, lineterminator="\n").writerow(header)
    return text


async def collect(
    venue: str, open_past: Open, request: PastRequest, folder: Path, report_progress: Moved, report: Report
) -> PastSummary:
    """Fetch a venue's past into a folder as a bundle; report what could not be used, and keep the rest.

    VenueError where the venue or the folder fails: nothing is lost, and the same request goes on from there.
    """
    with locked_folder(folder):
        first_request, earlier_result = _begin_or_resume(folder, venue, request)
        if earlier_result is not None:
            return PastSummary(
                **(earlier_result | {"left_out": Counter(earlier_result["left_out"])}), whole_before=True
            )

        answers = AnswerStore(folder / ANSWERS)
        source = open_past(answers)
        try:
            lines, summary = await _gather_bundle_lines(source, first_request, report_progress, report)
        except VenueError as error:
            if error.code in POINTLESS:
                _forget(folder, MANIFEST)
            raise
        finally:
            await source.close()
            answers.close()

        _finish_bundle(folder, venue, first_request, lines, summary)
        return replace(summary, asked=answers.asked, answers_on_disk=answers.kept)


def _begin_or_resume(
    folder: Path, venue: str, request: PastRequest
) -> tuple[PastRequest, dict[str, Any] | None]:
    """Return the request as first made, and its result if done; write the manifest of a new one."""
    manifest = folder / MANIFEST
    request_json = _request_as_json(venue, request)
    if manifest.exists():
        manifest_data = _read_manifest(manifest)
        first_at = instant(manifest_data.get("at"))
        first_until = instant(manifest_data.get("until"))
        first_request = replace(request, at=first_at, until=first_until)

        # A request "until now" is the same as an earlier one "until now", whatever the time.
        comparable_request = first_request
        are_both_until_now = request.until == request.at and first_until == first_at
        if not are_both_until_now:
            comparable_request = replace(first_request, until=request.until)

        stored_json = {key: manifest_data.get(key) for key in request_json}
        if _request_as_json(venue, comparable_request) != stored_json:
            what = f"{manifest_data.get('venue')} from {manifest_data.get('since')} on"
            message = f"{folder} holds another history, of {what}"
            raise VenueError("other_history", message, "name a new folder, or ask for the same again")
        return first_request, manifest_data.get("done")

    if any((folder / name).exists() or (folder / f"{name}.gz").exists() for name in NAMES):
        raise VenueError("not_empty", f"{folder} holds a bundle already", "name a new folder")

    _write_manifest(manifest, request_json)
    return request, None


def _request_as_json(venue: str, request: PastRequest) -> dict[str, Any]:
    fields: dict[str, Any] = {"venue": venue}
    for name, value in asdict(request).items():
        if isinstance(value, datetime):
            fields[name] = timestamp_text(value)
        elif isinstance(value, tuple):
            fields[name] = list(value)
        else:
            fields[name] = value

    return fields


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_text("utf-8"))
        if not isinstance(manifest, dict) or set(manifest.get("done") or DONE) != DONE:
            raise ValueError("not what is written here")
        for key in ("at", "until"):
            instant(manifest.get(key))
        return manifest
    except (ValueError, TypeError) as error:
        raise VenueError("other_history", f"{path} has no history", "name a new folder") from error


def _write_manifest(path: Path, values: Mapping[str, Any]) -> None:
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", "utf-8")
    draft.replace(path)


async def _gather_bundle_lines(
    source: PastVenue, request: PastRequest, report_progress: Moved, report: Report
) -> tuple[_Lines, PastSummary]:
    report_progress("reading the list", 0, None)
    selection = await source.past_markets(request)
    chosen = sorted(selection.markets.values(), key=lambda past: past.market.id)
    spans = (past.in_time(request) for past in chosen)
    hours = sum((end - start).total_seconds() for start, end in spans) / 3_600
    most_prices = int(hours / request.hours) + len(chosen)

    if most_prices * A_ROW > MOST_BYTES:
        message = f"{len(chosen):,} markets have up to {most_prices:,} prices, more than a bundle holds"
        hint = f"take a price for every {int(hours * A_ROW / MOST_BYTES) + 1} hours, or fewer markets or days"
        raise VenueError("too_much", message, hint)

    lines = _Lines()
    summary = PastSummary(left_out=selection.left_out)
    for batch_start in range(0, len(chosen), AT_ONCE):
        wanted_batch = chosen[batch_start : batch_start + AT_ONCE]
        batch = await source.completed(wanted_batch, request)
        summary.left_out["gone"] += len(wanted_batch) - len(batch)
        histories = await gather_all(_read_prices(source, past, request, report) for past in batch)
        for past, quotes in zip(batch, histories, strict=True):
            _add_market_lines(past, quotes, request, lines, summary, report)
        report_progress("reading prices", min(batch_start + AT_ONCE, len(chosen)), len(chosen))

    summary.left_out = +summary.left_out
    if not summary.markets:
        reasons = [f"{count:,} {reason}" for reason, count in summary.left_out.items()]
        why = ", ".join(reasons) or "none is listed"
        raise VenueError(
            "no_markets", f"no market is left: {why}", "ask for other days, or for other markets"
        )
    return lines, summary


async def _read_prices(
    source: PastVenue, past: PastMarket, request: PastRequest, report: Report
) -> list[Quote]:
    """Return a market's prices until it stopped; report a refusal by the venue, and return none."""
    first, last = past.in_time(request)
    try:
        quotes = await source.history(past.market.id, first, last, request.hours)
    except VenueError as error:
        if error.code not in OF_ONE_MARKET:
            raise
        venue, _, own_id = past.market.id.partition(":")
        report(QuarantinedRecord(venue, own_id, "quote", error.code, error.message))
        return []

    with_price = [quote for quote in quotes if quote.price is not None or quote.bid or quote.ask]
    return thinned((quote for quote in with_price if quote.at < last), request.hours)


def _add_market_lines(
    past: PastMarket,
    quotes: Sequence[Quote],
    request: PastRequest,
    lines: _Lines,
    summary: PastSummary,
    report: Report,
) -> None:
    """Add the lines of a market; all of them are built before any is kept."""
    if not quotes:
        summary.left_out["without prices"] += 1
        return

    try:
        pages = [page_line(market, seen or request.at) for seen, market in page_versions(past, request)]
        pages[0].pop("seen")
        end = [] if past.end is None else [list(end_line(past.end).values())]
    except BadBundleValue as error:
        report(quarantine("market", past.market.id, error))
        summary.left_out["not recordable"] += 1
        return

    lines.pages += [json.dumps(page, ensure_ascii=False) for page in pages]
    lines.prices.append("".join(_price_lines(past.market.id, quotes)))
    csv.writer(lines.ends, lineterminator="\n").writerows(end)
    summary.markets += 1
    summary.prices += len(quotes)
    summary.resolutions += len(end)


def _price_lines(market: MarketId, quotes: Iterable[Quote]) -> Iterable[str]:
    """Yield the lines of `prices.csv` for quotes without a book; a venue's names need no CSV quoting."""
    venue, _, own = market.partition(":")
    for quote in quotes:
        sides = f"{_figure(quote.bid)},{_figure(quote.ask)},{_figure(quote.last)},{_figure(quote.volume)}"
        yield f"{venue},{own},{timestamp_text(quote.at)},{_figure(quote.mid)},history,{sides}\n"


@lru_cache(maxsize=65_536)
def _figure(value: int | None) -> str:
    if value is None:
        return ""
    return str(decimal(value))


def _finish_bundle(
    folder: Path, venue: str, request: PastRequest, lines: _Lines, summary: PastSummary
) -> None:
    """Write the bundle, mark it as whole, and remove the stored answers."""
    pages = "".join(f"{line}\n" for line in lines.pages)
    texts = {MARKETS: pages, PRICES: "".join(lines.prices), ENDS: lines.ends.getvalue()}
    new_content = {}
    for name, text in texts.items():
        path = folder / name
        path.unlink(missing_ok=True)  # left by a run that was killed here; its answers are all on disk
        new_content[path] = text.encode()

    add_all(folder, new_content)
    counts = {"markets": summary.markets, "prices": summary.prices, "resolutions": summary.resolutions}
    done = counts | {"left_out": dict(sorted(summary.left_out.items()))}
    _write_manifest(folder / MANIFEST, _request_as_json(venue, request) | {"done": done})
    _forget(folder)


def _forget(folder: Path, *names: str) -> None:
    """Remove the stored answers and these files."""
    for path in (*folder.glob(f"{ANSWERS}*"), *map(folder.joinpath, names)):
        path.unlink()
