"""All files of a site: which there are, what each is made of, and how it is made when that has changed."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from math import ceil
from typing import Any

from markupsafe import escape

from arena.record.queries.progress import season_version
from arena.record.write.rollups import read_rollup_text
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import LEADERBOARD, leaderboard_data
from arena.scores.profiles.calibrations import CALIBRATIONS
from dashboard.board import over_all_cohorts
from dashboard.html import badge
from dashboard.record import PAGE_ROWS, LeaderboardLine
from dashboard.site import pages
from dashboard.site.addresses import FIXED, address_from, file_name
from dashboard.site.market_states import read_valued_snapshots
from dashboard.site.pages import SeasonSite
from dashboard.site.shell import drawn_by, look_files, site_page
from dashboard.site.standings import no_cohort
from dashboard.views.markets import PILLS
from markets.hashes import digest

COHORT = ("number", "starts_at", "ended_at", "rounds", "played", "stamp", "venue")
"""What data.json has of a cohort."""


@dataclass(frozen=True, slots=True)
class SiteFile:
    """A file of a site: its path, what it is made of as a hash, and how it is made."""

    path: str
    state: str
    make: Callable[[], str]


def site_files(season: SeasonSite) -> list[SiteFile]:
    """All of them, the first page last: what it leads to is there by then."""
    if not season.known.cohorts:
        raise no_cohort()
    newest = season.known.cohorts[-1]
    mark = badge(newest.stamp, newest.venue)
    version = digest([drawn_by(), season.with_prompts, season_version(season.connection)])
    drawn = list(_pages(season, version))
    paths = {path for path, *_ in drawn}

    def make(path: str, draw: pages.Draw) -> str:
        title, *parts = draw(address_from(path, paths))
        return site_page(path, title, mark, map(escape, parts))

    return [
        *(SiteFile(name, digest(text), partial(str, text)) for name, text in look_files().items()),
        *_data(season, version),
        *(SiteFile(path, digest([state, mark]), partial(make, path, draw)) for path, state, draw in drawn),
    ]


def _pages(season: SeasonSite, version: str) -> Iterator[tuple[str, str, pages.Draw]]:
    rest, connection = drawn_by(), season.connection
    yield FIXED["leaderboard"], version, partial(pages.all_agents, season)
    yield FIXED["how"], digest([rest, len(season.known.cohorts)]), partial(pages.how_it_works, season)
    yield FIXED["glossary"], rest, partial(pages.all_words, season)
    yield "cohorts.html", version, partial(pages.one_cohort, season, None)
    valued = read_valued_snapshots(connection)
    verdict = over_all_cohorts(season.board.verdict)
    for line in season.known.cohorts:
        names = [kind.name_of(line.number) for kind in (LEADERBOARD, CALIBRATIONS)]
        kept = [read_rollup_text(connection, name) for name in names]
        if line.ended_at is None:  # it says how fresh its figures are
            kept += [kind.basis(connection, line.number) for kind in (LEADERBOARD, CALIBRATIONS)]
        state = digest([rest, repr(line), kept, verdict, valued.get(line.number, [])])
        yield f"cohorts/{line.number}.html", state, partial(pages.one_cohort, season, line.number)
    for name, _ in season.known.agents:
        yield f"agents/{file_name(name)}.html", version, partial(pages.one_agent, season, name)
    for market_id, one in season.states.items():
        others = [season.states[other] for other in season.events[one.event_id]]
        related = [[each.listed, each.closes_at <= season.now] for each in others]
        state = digest([rest, one.hash, related, one.closes_at <= season.now])
        yield f"markets/{file_name(market_id)}.html", state, partial(pages.one_market, season, market_id)
    for place in range(max(1, ceil(len(season.states) / PAGE_ROWS))):
        yield pages.list_file("all", place + 1), version, partial(pages.every_market, season, place)
    for key in PILLS:
        if key != "all":
            yield pages.list_file(key), version, partial(pages.some_markets, season, key)
    yield FIXED["arena"], version, partial(pages.home, season)


def _data(season: SeasonSite, version: str) -> Iterator[SiteFile]:
    """The leaderboard for programs, and a badge for each agent that shows what is known of it."""
    yield SiteFile("data.json", version, partial(_data_json, season))
    for name, _ in season.known.agents:
        yield SiteFile(f"badges/{file_name(name)}.json", version, partial(_badge_json, season, name))


def _data_json(season: SeasonSite) -> str:
    found: dict[str, Any] = {
        "newest_round": season.newest_round,
        **leaderboard_data(season.board),
        "cohorts": [{key: getattr(one, key) for key in COHORT} for one in season.known.cohorts],
        "agents": [
            {
                "agent": name,
                "kind": kind,
                "model": season.known.models.get(name),
                "page": f"agents/{file_name(name)}.html",
                "badge": f"badges/{file_name(name)}.json",
            }
            for name, kind in season.known.agents
        ],
    }
    text = json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False, default=datetime.isoformat)
    return f"{text}\n"


def _badge_json(season: SeasonSite, name: str) -> str:
    line = next((line for line in season.lines if line.row.agent == name), None)
    message, color = badge_words(line)
    stamp = season.known.cohorts[-1].stamp
    message += "" if stamp == "live" else f", {stamp}"
    found = {"schemaVersion": 1, "label": name, "message": message, "color": color}
    return json.dumps(found, ensure_ascii=False) + "\n"


def badge_words(line: LeaderboardLine | None) -> tuple[str, str]:
    """What is told of an agent, in a few words, and a colour. Never a bare rank."""
    if line is None:
        return "no results yet", "lightgrey"
    row, told = line.row, line.told
    if row.is_reference:
        return "the price itself" if row.kind == MARKET else "a reference, not ranked", "lightgrey"
    if not row.ranked:
        return f"not ranked: {row.why_not}", "lightgrey"
    if row.copies:
        return f"copies {row.copies}", "lightgrey"
    if told is not None and told.better_than:
        return f"better than {told.better_text}", "brightgreen"
    if told is not None and told.worse_than:
        return f"ranks {told.rank_text} of {told.entries}", "blue"
    if row.price in ("better", "worse"):
        return f"{row.price} than the price", "blue"
    return "too early", "lightgrey"
