"""`arena study bundle`: a venue's past as a bundle, for a replay."""

from dataclasses import asdict
from datetime import UTC, datetime
from inspect import signature
from pathlib import Path
from typing import Any

import typer

from arena.cli.market_files import say_rejected
from arena.cli.options import DAY, DEFAULT, Options, argument, command, option
from arena.cli.output import attributes, interruptible, prints_aside, program, run_async, stages
from arena.clock import now
from arena.errors import ArenaError, count_text
from arena.rounds.adapters import unfrozen_settings
from arena.rounds.settlement import venue_error
from markets.history import Open, PastSummary, collect
from markets.past import PastRequest
from markets.registry import UnknownExtension, load
from markets.venue import QuarantinedRecord, VenueError
from markets.venues.wire.fields import is_name

Names = list[str] | None


@command("config", "json")
def history(
    chosen: Options,
    venue: str = argument("VENUE", "polymarket, kalshi or manifold."),
    folder: Path = argument("DIR", "The bundle's folder; a new one is made."),
    since: datetime = option("Prices from this day on.", default=..., formats=DAY),
    until: datetime | None = option("Prices before this day. [default: until now]", formats=DAY),
    top: int = option("Only the N markets with the most volume.", default=1_000, min=1),
    slug: Names = option("This market, by slug (Kalshi: ticker); repeatable.", "NAME"),
    event: Names = option("The markets of this event (not Manifold); repeatable.", "NAME"),
    tag: Names = option("The markets of this tag, series or topic; repeatable.", "NAME"),
    hours: int = option("One price every N hours, the last.", default=6, min=1),
) -> None:
    """Read a venue's past into a bundle: markets that were open at some time between two days, with
    prices, fees and how they ended. No key is needed.

    Thousands of markets take hours; if it stops, the same command continues. Market pages have today's text,
    and choosing markets by volume is hindsight.

    Example: arena study bundle polymarket recordings/spring --since 2026-01-01 --until 2026-05-01 --top 500

    Next: arena study replay recordings/spring
    """
    names = [checked(each or []) for each in (slug, event, tag)]
    at = now()
    last = at if until is None else min(at, until.replace(tzinfo=UTC))
    request = PastRequest(since.replace(tzinfo=UTC), last, at, hours, top, *names)
    if request.since >= last:
        hint = "--since is a day before --until, and both are past"
        raise ArenaError("no_time", f"{since:%Y-%m-%d} to {last:%Y-%m-%d} is an empty period", hint)
    quarantined: list[QuarantinedRecord] = []
    opened = past_of(chosen, venue, quarantined)
    hint = "the same command continues it"
    try:
        with prints_aside(), interruptible("stopped; what was read is kept", hint), stages() as moved:
            found = run_async(collect(venue, opened, request, folder, moved, quarantined.append))
    except VenueError as error:
        raise venue_error(error) from error
    rejected = [attributes(x, "venue", "record", "kind", "code", "reason") for x in quarantined]
    about = {"bundle": str(folder), "venue": venue, "since": request.since, "until": request.until}
    chosen.answer(
        about | asdict(found) | {"left_out": dict(found.left_out), "rejected": rejected},
        _say,
        folder,
        found,
        quarantined,
    )
    if quarantined:
        raise typer.Exit(2)


def checked(names: list[str]) -> tuple[str, ...]:
    """The names, if a venue may have such: they become parts of addresses."""
    for name in names:
        if not is_name(name):
            hint = "a name has only letters, digits, . _ and -; it is the last part of the market's address"
            raise ArenaError("bad_name", f"{name[:80]!r} is no market, event or tag name", hint)
    return tuple(dict.fromkeys(names))


def past_of(chosen: Options, venue: str, quarantined: list[QuarantinedRecord]) -> Open:
    """How to open a venue's past, with the settings of the config where it names this venue."""
    config = chosen.load_if_trusted() if chosen.config is not None or DEFAULT.exists() else None
    try:
        module = load("markets.venues", venue, config.extensions("venues") if config else ())
    except UnknownExtension as error:
        hint = "polymarket, kalshi and manifold have one"
        raise ArenaError("no_venue", f"there is no venue {venue!r}", hint) from error
    if "answers" not in signature(module.venue).parameters:
        hint = "polymarket, kalshi and manifold do"
        raise ArenaError("no_history", f"{venue} has no readable history", hint)
    own = config is not None and config.markets.venue == venue
    values: dict[str, Any] = unfrozen_settings(config.venue_settings, config.folder) if config and own else {}
    settings = module.Settings.model_validate(values)
    return lambda answers: module.venue(settings, quarantined.append, answers=answers)


def _say(folder: Path, found: PastSummary, quarantined: list[QuarantinedRecord]) -> None:
    counts = f"{found.prices:,} prices, {found.resolutions:,} resolutions"
    whole = " It was already complete; nothing was requested." if found.whole_before else ""
    print(f"{folder}: {count_text(found.markets, 'market')}, {counts}.{whole}")
    if not found.whole_before:
        kept = f", {found.answers_on_disk:,} were on disk" if found.answers_on_disk else ""
        print(f"  {count_text(found.asked, 'request')}{kept}")
    if found.left_out:
        reasons = ", ".join(f"{count:,} {why}" for why, count in sorted(found.left_out.items()))
        print(f"  left out: {reasons}")
    say_rejected(quarantined)
    print(f"Next: {program()} replay {folder}")
