"""`arena study bundle`: market data as a folder of plain files."""

from datetime import UTC, datetime
from pathlib import Path

from arena.cli.commands.shared import Names
from arena.cli.options import DAY, Options, argument, command, flag, option
from arena.errors import ArenaError

TOP = 1_000
HOURS = 6
EARLIEST = datetime.min.replace(tzinfo=UTC)


@command()
def bundle(
    chosen: Options,
    folder: Path = argument("DIR", "The bundle's folder; a new one is made."),
    venue: str | None = argument("VENUE", "polymarket, kalshi or manifold, for its past.", default=None),
    since: datetime | None = option("From this day on; a venue needs it.", formats=DAY),
    until: datetime | None = option("Before this day.", formats=DAY),
    fresh: bool = flag("Read the config's venue first, as run --sync does."),
    top: int | None = option(f"Only the N markets with the most volume. [default: {TOP}]", min=1),
    slug: Names = option("This market, by slug (Kalshi: ticker); repeatable.", "NAME", default=[]),
    event: Names = option("The markets of this event (not Manifold); repeatable.", "NAME", default=[]),
    tag: Names = option("The markets of this tag, series or topic; repeatable.", "NAME", default=[]),
    hours: int | None = option(f"One price every N hours, the last. [default: {HOURS}]", min=1),
) -> None:
    """Write market data to a bundle: the record's or a venue's past.

    A bundle is a folder of plain files that anyone can replay: pages, prices, books, resolutions. Without
    VENUE it is what the record has seen, and running it again adds what is new. With VENUE it is the markets
    that were open between two days; no key is needed, thousands of markets take hours, and the same command
    continues one that stopped. Market pages then have today's text, and choosing by volume is hindsight.

    Exit status 2: some records could not be used, and are listed.

    Example: arena study bundle spring --since 2026-01-01

        spring: 2,767 pages, 2,813 prices, 600 resolutions added

    Next: arena check DIR, then arena study replay DIR
    """
    from arena.cli import bundles
    from arena.clock import now
    from markets.past import PastRequest

    first = since and since.replace(tzinfo=UTC)
    last = until and until.replace(tzinfo=UTC)
    if venue is None:
        options_of_past = ("--top", "--slug", "--event", "--tag", "--hours")
        chosen.refuse_if_given(*options_of_past, because="needs a VENUE, whose past it chooses from")
        bundles.write_recorded(chosen, folder, first or EARLIEST, last, fresh)
        return

    chosen.refuse_if_given(
        "--fresh", because="reads the config's venue for the record: it can't go with VENUE"
    )
    if first is None:
        raise ArenaError("no_since", "VENUE needs --since", "name the first day of its past", status=64)
    names = [bundles.checked_names(given) for given in (slug, event, tag)]
    at = now()
    request = PastRequest(first, min(at, last or at), at, hours or HOURS, top or TOP, *names)
    bundles.write_past(chosen, folder, venue, request)
