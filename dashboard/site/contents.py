"""All files of a site: their paths, a hash of their sources, and how to make them when that changes."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from math import ceil
from operator import attrgetter
from typing import Any

from markupsafe import escape

from arena.record.queries.progress import season_version
from arena.record.write.rollups import read_rollup_text
from arena.scores.badge import GREY, badge_json, badge_words
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import LEADERBOARD, leaderboard_data
from arena.scores.profiles.calibrations import CALIBRATIONS
from arena.scores.verdict import Verdict
from dashboard.board import over_all_cohorts
from dashboard.html import NOTHING, badge
from dashboard.record import PAGE_ROWS, LeaderboardLine
from dashboard.site import pages
from dashboard.site.addresses import FIXED, address_from, event_file, file_name
from dashboard.site.card import FONT, card
from dashboard.site.market_states import read_valued_snapshots
from dashboard.site.pages import SeasonSite
from dashboard.site.shell import (
    ASSETS,
    CARD,
    ICON,
    NOT_FOUND,
    SiteFrame,
    drawn_by,
    look_files,
    site_page,
)
from dashboard.site.standings import no_cohort
from dashboard.views.agent import line_of_agent
from dashboard.views.markets import PILLS
from dashboard.words import filled
from markets.hashes import digest

FONT_LICENCE = "arena-sans.txt"
COHORT = ("number", "starts_at", "ended_at", "rounds", "played", "stamp", "venue")
"""The facts about a cohort in data.json."""


@dataclass(frozen=True, slots=True)
class SiteFile:
    """A file of a site: its path, a hash of its sources, and how it is made."""

    path: str
    state: str
    make: Callable[[], str | bytes]


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of a site: its path, a hash of its sources, and how it is drawn."""

    path: str
    state: str
    draw: pages.Draw


def site_files(season: SeasonSite) -> list[SiteFile]:
    """Return all files, the first page last, as its links exist by then."""
    if not season.overview.cohorts:
        raise no_cohort()
    newest = season.overview.cohorts[-1]
    frame = SiteFrame(badge(newest.stamp, newest.venue), season.address)
    version = digest([drawn_by(), season.with_prompts, season_version(season.connection)])
    drawn = list(_site_pages(season, version))
    places = {page.path: page.path for page in drawn} | season.market_places

    def make(page: SitePage) -> str:
        title, *parts = page.draw(address_from(page.path, places))
        return site_page(frame, page.path, title, map(escape, parts))

    files = list(_style_files())
    files += _data_files(season, version)
    if season.address:
        text = _sitemap(season.address, [page.path for page in drawn if page.path != NOT_FOUND])
        files.append(SiteFile("sitemap.xml", digest(text), partial(str, text)))
    for page in drawn:
        files.append(SiteFile(page.path, digest([page.state, asdict(frame)]), partial(make, page)))
    return files


def _style_files() -> Iterator[SiteFile]:
    """Yield the style and the script, with the icon, the font and its licence."""
    for name, text in look_files().items():
        yield SiteFile(name, digest(text), partial(str, text))
    for name in (ICON, FONT, FONT_LICENCE):
        yield SiteFile(name, drawn_by(), (ASSETS / name).read_bytes)


def _sitemap(address: str, paths: Iterable[str]) -> str:
    """Return the addresses of all pages, as search engines read them."""
    lines = NOTHING.join(filled("<url><loc>%s/%s</loc></url>\n", address, path) for path in paths)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{SITEMAP}">\n{lines}</urlset>\n'


SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


def _site_pages(season: SeasonSite, version: str) -> Iterator[SitePage]:
    """Yield all pages."""
    code_version = drawn_by()
    how_version = digest([code_version, len(season.overview.cohorts)])
    yield SitePage(FIXED["leaderboard"], version, partial(pages.all_agents, season))
    yield SitePage(FIXED["how"], how_version, partial(pages.how_it_works, season))
    yield SitePage(FIXED["glossary"], code_version, partial(pages.all_words, season))
    yield SitePage("cohorts.html", version, partial(pages.one_cohort, season, None))
    yield from _cohort_pages(season, code_version)

    for name in season.overview.kinds:
        yield SitePage(f"agents/{file_name(name)}.html", version, partial(pages.one_agent, season, name))
    yield from _event_pages(season, code_version)
    for page_index in range(max(1, ceil(len(season.events) / PAGE_ROWS))):
        draw_page = partial(pages.every_market, season, page_index)
        yield SitePage(pages.list_file("all", page_index + 1), version, draw_page)
    for key in PILLS:
        if key != "all":
            yield SitePage(pages.list_file(key), version, partial(pages.some_markets, season, key))
    yield SitePage(NOT_FOUND, code_version, partial(pages.not_found, season))
    yield SitePage(FIXED["arena"], version, partial(pages.home, season))


def _cohort_pages(season: SeasonSite, drawing: str) -> Iterator[SitePage]:
    """Yield the pages of cohorts, which change with their scores and with the prices of their markets."""
    connection = season.connection
    valued_snapshots = read_valued_snapshots(connection)
    verdict = over_all_cohorts(season.verdict)
    for line in season.overview.cohorts:
        number = line.number
        hashed_scores = []
        for kind in (LEADERBOARD, CALIBRATIONS):
            hashed_scores.append(read_rollup_text(connection, kind.name_of(number)))
            if line.ended_at is None:  # it says how fresh its figures are
                hashed_scores.append(kind.basis(connection, number))
        state = digest([drawing, repr(line), hashed_scores, verdict, valued_snapshots.get(number, [])])
        yield SitePage(f"cohorts/{number}.html", state, partial(pages.one_cohort, season, number))


def _event_pages(season: SeasonSite, drawing: str) -> Iterator[SitePage]:
    """Yield a page for the markets of each event, which changes with any of them."""
    for event_id, market_ids in season.events.items():
        hashed_parts: list[object] = [drawing]
        for market_id in market_ids:
            state = season.states[market_id]
            hashed_parts.append([state.hash, state.closes_at <= season.now])
        draw = partial(pages.one_event, season, event_id)
        yield SitePage(event_file(event_id), digest(hashed_parts), draw)


def _data_files(season: SeasonSite, version: str) -> Iterator[SiteFile]:
    """Yield the leaderboard for programs, a badge for each agent, and the preview picture of the site."""
    verdict = season.verdict or Verdict()
    stamp = season.overview.cohorts[-1].stamp
    yield SiteFile(CARD, version, partial(card, verdict, season.lines, stamp))
    yield SiteFile("data.json", version, partial(_data_json, season))
    for name in season.overview.kinds:
        yield SiteFile(f"badges/{file_name(name)}.json", version, partial(_badge_json, season, name))


def _data_json(season: SeasonSite) -> str:
    """Return the leaderboard, and which cohorts and agents there are."""
    agents = []
    for name, kind in season.overview.agents:
        agents.append(
            {
                "agent": name,
                "kind": kind,
                "model": season.overview.models.get(name),
                "page": f"agents/{file_name(name)}.html",
                "badge": f"badges/{file_name(name)}.json",
            }
        )
    of_cohort = attrgetter(*COHORT)
    data: dict[str, Any] = {
        "newest_round": season.newest_round,
        **leaderboard_data(season.board),
        "cohorts": [dict(zip(COHORT, of_cohort(line), strict=True)) for line in season.overview.cohorts],
        "agents": agents,
    }
    text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False, default=datetime.isoformat)
    return f"{text}\n"


def _badge_json(season: SeasonSite, name: str) -> str:
    """Return a badge as shields.io reads it."""
    message, color = line_badge(line_of_agent(season.lines, name))
    stamp = season.overview.cohorts[-1].stamp
    if stamp != "live":
        message += f", {stamp}"
    return badge_json(name, message, color)


def line_badge(line: LeaderboardLine | None) -> tuple[str, str]:
    """Return an agent's verdict in a few words, and a colour."""
    if line is None:
        return "no results yet", GREY
    row = line.row
    if row.is_reference:
        return "the price itself" if row.kind == MARKET else "a reference, not ranked", GREY
    return badge_words(line.verdict, None if row.ranked else row.why_not, row.copies)
