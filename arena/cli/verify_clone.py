"""`arena admin verify --published`: checks that forecasts were published before markets ended."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import typer

from arena.cli.options import Options
from arena.cli.output import minute_text, plain
from arena.cli.page import Fields, Page
from arena.errors import count_text
from arena.operations.published_season import PublishedSeason, verify_published
from arena.operations.season_branch import BRANCH
from portfolio.quotes import duration_text


def verify_clone(chosen: Options, clone: Path) -> None:
    """Verify a public season from a clone; raise `typer.Exit` with status 1 if anything is wrong."""
    season = verify_published(clone)
    data = asdict(season) | {
        "ok": not season.differences,
        "clone": clone,
        "closest": season.closest and season.closest.total_seconds(),
    }
    chosen.print_answer(data, published_page, clone, season)
    if season.differences:
        raise typer.Exit(1)


def published_page(clone: Path, season: PublishedSeason) -> Page:
    """Yield the differences of a season, or that there are none, its figures, and the check's limits."""
    for difference in season.differences:
        yield plain(difference)
    if season.differences:
        yield f"{count_text(len(season.differences), 'difference')} in {clone}."
    else:
        yield f"{clone} is right: every forecast was published before its market's end."
    yield Fields(dict(_figures(season)))
    for note in season.notes:
        yield f"Note: {note}."
    yield "Not told: whether dates of commits are true, or whether all was replaced before anyone cloned it."


def _figures(season: PublishedSeason) -> Iterator[tuple[str, str]]:
    """Yield the commits, heads, record and forecasts that were checked."""
    if season.first_at is not None and season.last_at is not None:
        period = f"from {minute_text(season.first_at)} to {minute_text(season.last_at)} UTC"
        yield BRANCH, f"{season.tip[:12]}, {count_text(season.commits, 'commit')} {period}"
    yield "log", f"{count_text(season.publications, 'commit')} of the branch, in the same order"
    yield "heads", f"{season.heads:,}; each commit's are a beginning of the next one's"
    if season.state_hash:
        yield "record", f"agrees with itself; state hash {season.state_hash}"

    how_early = "by the order of commits alone: no time passes in this season"
    if season.closest is not None:
        how_early = f"the closest {duration_text(season.closest)} before the end could be known"
    yield "forecasts", f"{season.ended_forecasts:,} of markets that have ended; {how_early}"
