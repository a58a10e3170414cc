"""All files of a site: which there are, what each is made of, and how it is made when that has changed."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property, partial
from math import ceil
from typing import Any

from markupsafe import Markup, escape

from arena.record.queries.cohorts import read_cohorts, read_rounds
from arena.record.queries.market_history import MarketState, read_market_states, read_valued_snapshots
from arena.record.queries.markets import BEGINNING, read_last_shown, read_newest_instant
from arena.record.queries.progress import season_version
from arena.record.schema.database import Connection
from arena.record.write.rollups import read_rollup_text
from arena.scores.cache import CacheEntry
from arena.scores.comparisons import COMPARISONS, MARKET, Comparisons
from arena.scores.leaderboard import LEADERBOARD, Leaderboard, LeaderboardRow, read_leaderboard
from arena.scores.profiles.calibrations import CALIBRATIONS
from arena.scores.profiles.detailed_profile import FIGURES
from dashboard.html import badge
from dashboard.pages import Address
from dashboard.record import (
    PAGE_ROWS,
    LeaderboardLine,
    MarketFilter,
    MarketLine,
    PnlPoint,
    SeasonOverview,
    all_markets,
    leaderboard_lines,
    market_lines,
    read_market_list,
    read_season,
    read_summed_curves,
)
from dashboard.site import pages
from dashboard.site.addresses import FIXED, address_from, file_name
from dashboard.site.shell import drawn_by, look_files, site_page
from dashboard.site.standings import gather, no_cohort
from dashboard.views.agent import Holding, evidence_of, read_all_holdings
from dashboard.views.arena import INSTANTS
from dashboard.views.cohort import read_cohort_returns
from dashboard.views.markets import PILLS
from dashboard.words import count
from markets.hashes import digest
from markets.model import MarketId

COHORT = ("number", "starts_at", "ended_at", "rounds", "played", "stamp", "venue")
"""What data.json has of a cohort."""


@dataclass(frozen=True, slots=True)
class SiteFile:
    """A file of a site: its path, what it is made of as a hash, and how it is made."""

    path: str
    state: str
    make: Callable[[], str]


@dataclass(frozen=True)
class SeasonSite:
    """A season as it is published, in one look at the record. What files don't ask for is not read."""

    connection: Connection
    with_prompts: bool = False

    @cached_property
    def known(self) -> SeasonOverview:
        """Cohorts and agents."""
        return read_season(self.connection)

    @cached_property
    def board(self) -> Leaderboard:
        """The leaderboard of all, as `arena leaderboard` has it."""
        return read_leaderboard(self.connection, None)

    @cached_property
    def lines(self) -> tuple[LeaderboardLine, ...]:
        """Its rows, each with what luck and calibration come to."""
        figures = FIGURES.read(self.connection)
        briefs = {} if figures is None else {one.agent: one for one in figures.value}
        return leaderboard_lines(self.board, briefs)

    @cached_property
    def curves(self) -> dict[str, tuple[PnlPoint, ...]]:
        """What all accounts of each agent together had made, over time."""
        return read_summed_curves(self.connection, [name for name, _ in self.known.agents], INSTANTS)

    @cached_property
    def holdings(self) -> dict[str, tuple[Holding, ...]]:
        """What each agent holds now."""
        return read_all_holdings(self.connection)

    @cached_property
    def comparisons(self) -> CacheEntry[Comparisons] | None:
        """Every agent against the market, with its evidence over time: read once for all of them."""
        return COMPARISONS.read(self.connection)

    @cached_property
    def states(self) -> dict[MarketId, MarketState]:
        """Every market that agents were shown, the newest first, and what its page is made of."""
        shown = {id: round for some in read_last_shown(self.connection) for id, round in some.items()}
        return read_market_states(self.connection, shown)

    @cached_property
    def events(self) -> dict[str, list[MarketId]]:
        """The markets of each event."""
        found = defaultdict[str, list[MarketId]](list)
        for id, state in self.states.items():
            found[state.event_id].append(id)
        return found

    @cached_property
    def market_lines(self) -> dict[MarketId, MarketLine]:
        """Every market as lists have it."""
        return {line.market.id: line for line in market_lines(self.connection, all_markets(self.connection))}

    @cached_property
    def now(self) -> datetime:
        """The newest instant of the record."""
        return read_newest_instant(self.connection, BEGINNING)

    @cached_property
    def newest_round(self) -> datetime | None:
        """When was decided last."""
        begun = (
            one.at
            for stored in read_cohorts(self.connection)
            for one in read_rounds(self.connection, stored.id)
        )
        return max(begun, default=None)

    def files(self) -> list[SiteFile]:
        """All of them, the first page last: what it leads to is there by then."""
        if not self.known.cohorts:
            raise no_cohort()
        newest = self.known.cohorts[-1]
        mark = badge(newest.stamp, newest.venue)
        season = digest([drawn_by(), self.with_prompts, season_version(self.connection)])
        drawn = [*self._pages(season), (FIXED["arena"], season, self._home)]
        paths = {path for path, *_ in drawn}

        def make(path: str, draw: pages.Draw) -> str:
            title, *parts = draw(address_from(path, paths))
            return site_page(path, title, mark, map(escape, parts))

        return [
            *(SiteFile(name, digest(text), partial(str, text)) for name, text in look_files().items()),
            *self._data(season),
            *(
                SiteFile(path, digest([state, mark]), partial(make, path, draw))
                for path, state, draw in drawn
            ),
        ]

    def _pages(self, season: str) -> Iterator[tuple[str, str, pages.Draw]]:
        rest, connection = drawn_by(), self.connection
        yield FIXED["leaderboard"], season, self._agents
        yield FIXED["how"], digest([rest, len(self.known.cohorts)]), partial(pages.how_it_works, connection)
        yield FIXED["glossary"], rest, pages.all_words
        yield "cohorts.html", season, partial(self._cohort, None)
        valued = read_valued_snapshots(connection)
        for line in self.known.cohorts:
            names = [kind.name_of(line.number) for kind in (LEADERBOARD, CALIBRATIONS)]
            kept = [read_rollup_text(connection, name) for name in names]
            if line.ended_at is None:  # it says how fresh its figures are
                kept += [kind.basis(connection, line.number) for kind in (LEADERBOARD, CALIBRATIONS)]
            state = digest([rest, repr(line), kept, valued.get(line.number, [])])
            yield f"cohorts/{line.number}.html", state, partial(self._cohort, line.number)
        for name, _ in self.known.agents:
            yield f"agents/{file_name(name)}.html", season, partial(self._agent, name)
        for id, one in self.states.items():
            others = [self.states[other] for other in self.events[one.event_id]]
            related = [[each.listed, each.closes_at <= self.now] for each in others]
            state = digest([rest, one.hash, related, one.closes_at <= self.now])
            yield f"markets/{file_name(id)}.html", state, partial(self._market, id)
        for place in range(max(1, ceil(len(self.states) / PAGE_ROWS))):
            yield pages.list_file("all", place + 1), season, partial(self._all_markets, place)
        for key in PILLS:
            if key != "all":
                yield pages.list_file(key), season, partial(self._some_markets, key)

    def _home(self, address: Address) -> Iterator[str | Markup]:
        yield from pages.home(
            self.connection, self.known, self.board, self.lines, self.curves, self.newest_round, address
        )

    def _cohort(self, number: int | None, address: Address) -> Iterator[str | Markup]:
        """One of the cohorts; without a number the one that tells most, with the way to all."""
        shown = number or read_cohort_returns(self.connection).telling
        yield from pages.one_cohort(self.connection, self.known, shown, address, number is None)

    def _agents(self, address: Address) -> Iterator[str | Markup]:
        yield from pages.all_agents(gather(self.connection, None, self.board), address)

    def _agent(self, name: str, address: Address) -> Iterator[str | Markup]:
        curve, held = self.curves[name], self.holdings.get(name, ())
        evidence = evidence_of(self.comparisons, name)
        yield from pages.one_agent(
            self.connection, self.known, self.lines, curve, held, evidence, name, address
        )
        if self.with_prompts:
            yield from pages.prompts_of(self.connection, name)

    def _market(self, id: MarketId, address: Address) -> Iterator[str | Markup]:
        others = [one for one in self.events[self.states[id].event_id] if one != id]
        related = [self.market_lines[one] for one in others[:PAGE_ROWS]]
        yield from pages.one_market(self.connection, self.known, id, self.now, related, address)

    def _all_markets(self, place: int, address: Address) -> Iterator[str | Markup]:
        every, start = list(self.market_lines.values()), PAGE_ROWS * place
        shown, last = every[start : start + PAGE_ROWS], min(start + PAGE_ROWS, len(every))
        said = f"Markets {start + 1:,}–{last:,} of {len(every):,}, those shown to agents most recently first."
        around = {"← Previous page": place, "Next page →": place + 2 if last < len(every) else 0}
        steps = {label: pages.list_file("all", page) for label, page in around.items() if page}
        yield from pages.some_markets(
            "all", shown, said if every else "No market was shown yet.", steps, address
        )

    def _some_markets(self, key: str, address: Address) -> Iterator[str | Markup]:
        _, status, order = PILLS[key]
        found = read_market_list(self.connection, MarketFilter(status=status, order=order))
        among = "" if found.whole else ", chosen among those that agents were shown most recently"
        said = f"{count(len(found.lines), 'market')}{among}." if found.lines else "No market is so now."
        yield from pages.some_markets(key, found.lines, said, {}, address)

    def _data(self, season: str) -> Iterator[SiteFile]:
        """The leaderboard for programs, and a badge for each agent that shows what is known of it."""
        yield SiteFile("data.json", season, self._data_json)
        stamp = self.known.cohorts[-1].stamp
        for name, _ in self.known.agents:
            yield SiteFile(f"badges/{file_name(name)}.json", season, partial(self._badge_json, name, stamp))

    def _data_json(self) -> str:
        board = asdict(self.board)
        found: dict[str, Any] = {
            "newest_round": self.newest_round,
            "leaderboard": board.pop("rows"),
            **board,
            "cohorts": [{key: getattr(one, key) for key in COHORT} for one in self.known.cohorts],
            "agents": [
                {
                    "agent": name,
                    "kind": kind,
                    "model": self.known.models.get(name),
                    "page": f"agents/{file_name(name)}.html",
                    "badge": f"badges/{file_name(name)}.json",
                }
                for name, kind in self.known.agents
            ],
        }
        return (
            json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False, default=datetime.isoformat)
            + "\n"
        )

    def _badge_json(self, name: str, stamp: str) -> str:
        row = next((row for row in self.board.rows if row.agent == name), None)
        message, color = badge_words(row)
        if stamp != "live":
            message += f", {stamp}"
        found = {"schemaVersion": 1, "label": name, "message": message, "color": color}
        return json.dumps(found, ensure_ascii=False) + "\n"


COLOURS = {"proven": "brightgreen", "ahead": "blue", "close": "lightgrey", "none": "lightgrey"}


def badge_words(row: LeaderboardRow | None) -> tuple[str, str]:
    """What is known of an agent's skill and how surely, in a few words; and a colour. Never a bare rank."""
    if row is None or row.kind == MARKET:
        return ("no results yet" if row is None else "the price itself"), "lightgrey"
    if not row.ranked:
        return f"not ranked: {row.why_not or row.reason or 'too little answered'}", "lightgrey"
    if row.copies:
        return f"copies {row.copies}", "lightgrey"
    if row.skill is None or row.skill_low is None or row.skill_high is None:
        return f"too few events ({row.events:,})", "lightgrey"
    half = (row.skill_high - row.skill_low) / 2
    said = f"skill {_short(row.skill, '+')} ± {_short(half)}, {count(row.events, 'event')}"
    return said, COLOURS[row.verdict]


def _short(value: float, sign: str = "") -> str:
    """Three digits after the point and none before it, with a true minus."""
    return f"{value:{sign}.3f}".replace("0.", ".", 1).replace("-", "−")
