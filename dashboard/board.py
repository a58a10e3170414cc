"""Boards: what leads them in words, as tables, as cards of figures, and as files."""

import csv
import io
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st
from markupsafe import Markup

from arena.errors import VERDICTS, times_text
from arena.record.model.cohort import later_models_words
from arena.record.queries.accounts import AccountEquity
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import Leaderboard, LeaderboardRow
from arena.scores.metaculus_scores import MetaculusScores
from arena.scores.profiles.detailed_profile import ProfileFigures
from arena.scores.rules.reliability.diagram import ReliabilityDiagram
from dashboard.columns import FOUNDING, UNRANKED, Figure, LeaderboardColumn, columns_of, place
from dashboard.html import HtmlCell, HtmlColumn, html_table, number, picture, tag, words
from dashboard.pages import Address, Way, in_app, put, way
from dashboard.record import CohortLine, LeaderboardLine, SeasonOverview
from dashboard.svg import REST, Scale, before_band, cell_scale, interval, shortened, sparkline
from dashboard.words import count, day, plain, with_true_minus, written
from markets.millionths import ONE
from portfolio.rules import DEPTH_UNKNOWN, SEED, UNLIMITED

STAMPS = {
    "simulated": "Simulated season: play money on made-up markets, whose true odds are known.",
    "replay": "Replay: not evidence of skill.",
    UNLIMITED: "Profit and loss: fills are unlimited, whatever a market could have taken.",
    DEPTH_UNKNOWN: "Profit and loss: depth unknown where the venue did not say how much was traded.",
}
"""What has to be said of a record whose markets are not live, and of its money."""


def cohort_label(line: CohortLine) -> str:
    """A cohort in a list."""
    return f"Cohort {line.number} · {day(line.starts_at)}"


def progress(line: CohortLine) -> str:
    """How far a cohort is."""
    rest = f", {line.unfinished} with turns that failed or are to come" if line.unfinished else ""
    rounds = f"{line.played} of {count(line.rounds, 'round')} decided{rest}"
    if line.ended_at is not None:
        corrected = f", then corrected on {day(line.corrected_at)}" if line.corrected_at else ""
        return f"{rounds}, ended {day(line.ended_at)}{corrected}"
    if line.stopped:
        return f"{rounds}, ended by hand, open positions are still tracked"
    if line.played == line.rounds:
        return f"{rounds}, open positions are still tracked"
    return f"{rounds}, paused" if line.paused else rounds


def leading(sentence: str) -> str:
    """The sentence that leads a board, in Markdown: it names agents, whose names may be anything."""
    return plain(with_true_minus(sentence), most=2_000)


def headline(board: Leaderboard) -> str:
    """Who beats the market, in a few words: the heading of a board."""
    ranked = [row for row in board.rows if row.ranked and row.kind != MARKET and not row.copies]
    proven, ahead = ([row.agent for row in ranked if row.verdict == name] for name in ("proven", "ahead"))
    if not any(row.skill_low is not None for row in ranked):
        return "Too early to say who beats the market."
    if proven:
        more = f" {counted(len(ahead), 'more')} {'is' if len(ahead) == 1 else 'are'} ahead, not yet proven."
        first = f"{proven[0]} beats" if len(proven) == 1 else f"{counted(len(proven), 'agents')} beat"
        return f"{first} the market, proven.{more if ahead else ''}"
    if len(ahead) == 1:
        return f"{ahead[0]} is ahead of the market, not yet proven."
    if ahead:
        return f"{counted(len(ahead), 'agents')} are ahead of the market, none proven yet."
    close = any(row.verdict == "close" for row in ranked)
    return "Nobody is ahead of the market yet." if close else "No agent beats the market."


def counted(number: int, noun: str) -> str:
    """A small number in words, at the start of a sentence.

    >>> counted(2, "agents"), counted(12, "agents")
    ('Two agents', '12 agents')
    """
    words = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
    return f"{words[number] if number < len(words) else f'{number:,}'} {noun}"


def stamps(lines: Iterable[CohortLine]) -> list[str]:
    """What has to be said first of cohorts: that they were not played live, by which models, and of depth."""
    lines = list(lines)
    found = {said for line in lines for said in (line.stamp, line.depth)}
    later = later_models_words({m: day for line in lines for m, day in line.later_models.items()})
    words = {"replay": f"Replay: not evidence of skill; {plain(later)}."} if later else {}
    return [text for said, text in (STAMPS | words).items() if said in found]


Reading = Literal["stated", "anchored", "implied"]
READINGS: dict[str, str] = {"stated": "Stated", "anchored": "Anchored", "implied": "Implied"}
MEANT = {
    "stated": "Stated: the probabilities that the agents gave, for every market shown.",
    "anchored": "Anchored: bets read as a move away from the price paid; a full stake is certainty.",
    "implied": "Implied: bets read as confidence by stake alone, whatever the price.",
}
"""What each reading takes for the probability that an agent had in mind."""

BY_CHANCE = 0.05
"""Chance alone makes a miscalibration as large less often than this: then it is called one."""
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text starts that a spreadsheet takes for a formula."""


def bars(rows: Sequence[LeaderboardRow]) -> list[Markup | None]:
    """Every row's skill with its interval, on one scale."""
    return intervals([(row.skill, row.skill_low, row.skill_high) for row in rows])


def intervals(spans: Sequence[tuple[float | None, float | None, float | None]]) -> list[Markup | None]:
    """Values with their intervals, where they have one, on one scale."""
    scale = cell_scale([_span(*span) for span in spans])
    return [None if value is None else interval(value, low, high, "c1", scale) for value, low, high in spans]


def _span(*values: float | None) -> tuple[float, float]:
    known = [value for value in values if value is not None]
    return min(known, default=0.0), max(known, default=0.0)


def bands(lines: Sequence[LeaderboardLine]) -> list[Markup | None]:
    """Every profit before the band of what luck alone would make of the same bets, on one scale."""
    money = [(x.luck.pnl, x.luck.low or 0, x.luck.high or 0) if x.luck else None for x in lines]
    scale = cell_scale([_span(*one) for one in money if one])
    return [None if one is None else before_band(*one, "c1", scale) for one in money]


def cells(rows: Sequence[Any], columns: Iterable[LeaderboardColumn]) -> dict[str, list[Figure]]:
    """The figures of a table, column by column; None where nothing can be said yet."""
    return {column.key: [_cell_of(row, column) for row in rows] for column in columns}


def _cell_of(row: Any, column: LeaderboardColumn) -> Figure:
    value = column.of(row)
    return value * column.times if isinstance(value, float | int) and column.times != 1 else value


def agent_ways(names: Sequence[str], known: Container[str]) -> list[Way | None]:
    """To every agent's page; a market that nobody plays has none."""
    return [way("agent", agent=name) if name in known else None for name in names]


def config(columns: Iterable[LeaderboardColumn]) -> dict[str, HtmlColumn]:
    """What each column of a board is called, says, and how it is written."""
    return {
        "agent": words("Agent", "The market is the price itself."),
        "bar": picture(
            "95% interval", "Point: skill. Bar: it holds the true skill in 95% of seasons. Line: the price."
        ),
        "luck": picture(
            "P/L and luck",
            "Point: profit. Grey: 95% of skill-less seasons with the same bets. Line: no gain.",
        ),
    } | {column.key: HtmlColumn(column.label, column.help, column.format) for column in columns}


def as_csv(agents: Sequence[str], rows: Sequence[Any], columns: Sequence[LeaderboardColumn]) -> str:
    """All figures, unrounded, as a file. Text that a spreadsheet would run as a formula is quoted."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("agent", *(column.key for column in columns)))
    for agent, row in zip(agents, rows, strict=True):
        writer.writerow([_cell(value) for value in (agent, *(column.of(row) for column in columns))])
    return text.getvalue()


def _cell(value: Figure) -> Figure:
    """A cell as it can be opened anywhere.

    >>> _cell("=1+1"), _cell(-0.5), _cell(None)
    ("'=1+1", -0.5, '')
    """
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return "" if value is None else value


def calibration_words(brief: ProfileFigures | None) -> tuple[str, str]:
    """How well what an agent is sure of comes true, in words, and what is to be known of that."""
    if brief is None:
        return "being computed", ""
    if brief.sure is None:
        return "–", "nothing resolved yet" if brief.miscalibration is None else "gives no side 70%"
    sure, p = brief.sure, brief.miscalibration_p
    verdict = verdict_on(sure.said, sure.came, p)
    return f"says {sure.said:.0%}, happens {sure.came:.0%}", f"{verdict}, n = {sure.forecasts:,}"


def verdict_on(said: float, came: float, p: float | None) -> str:
    """Whether a forecaster is further off than chance would have it, and to which side."""
    if p is None or not p < BY_CHANCE:
        return "no more off than chance"
    return "too sure" if said > came else "not sure enough"


def says_and_happens(found: ReliabilityDiagram, n: int) -> str:
    """What happens where it says about 80%, or nearest to that; the curve is of `n` forecasts."""
    point = min(found.points, key=lambda point: abs(point.forecast - 0.8))
    verdict = verdict_on(point.forecast, point.recalibrated, found.null.p_value)
    said = f"where it says {point.forecast:.0%}, {point.recalibrated:.0%} happens"
    return f"{said}: {verdict} ({count(n, 'forecast')} in all)"


TOOLS = " · tools"
"""The mark of an agent that could look things up."""


def short_board(
    lines: Sequence[LeaderboardLine],
    known: SeasonOverview,
    equity: Mapping[str, Sequence[float]],
    colours: Mapping[str, str],
    bar: float,
    more: Sequence[LeaderboardColumn] = (),
    address: Address = in_app,
) -> Markup:
    """The short board: how good, how sure, what it earned, whether it means what it says, what it cost.

    `more` are columns in place of the last two, which are known of all cohorts together alone.
    """
    rows = [line.row for line in lines]
    scale = cell_scale(
        [
            (min(row.skill, row.skill_low or row.skill), max(row.skill, row.skill_high or row.skill))
            for row in rows
            if row.skill is not None
        ]
    )
    agents = [row.agent for row in rows]
    look = {name: colours.get(name, REST) for name in agents}
    money = " (invented)" if known.is_invented else ""
    data: dict[str, list[object]] = {
        "rank": [
            Markup('<span class="rank">{}</span>').format(
                "" if r.place_best is None or r.reason else place(r)
            )
            for r in rows
        ],
        "agent": [
            HtmlCell(row.agent, row.agent, known.about(row.agent) + TOOLS * bool(row.tools)) for row in rows
        ],
        "skill": [_skill(line, look[line.row.agent], scale) for line in lines],
        "verdict": [_verdict(line, bar) for line in lines],
        "brier_implied": [row.brier_implied for row in rows],
        "pnl": [row.pnl for row in rows],
        "equity": [sparkline(equity.get(name, ()), look[name]) for name in agents],
    }
    if more:
        data |= {key: [*values] for key, values in cells(lines, more).items()}
    else:
        data["calibration"] = [_calibration(line) for line in lines]
        data["skill_per_dollar"] = [row.skill_per_dollar for row in rows]
    shown = {
        "rank": HtmlColumn("Rank", format="picture"),
        "agent": words(
            "Agent", "Before it the places that it may really hold; below, who made it or its rule."
        ),
        "skill": number(
            "Skill, 95% interval", "%+.4f", "Brier points better than the price; in order of the low end."
        ),
        "verdict": words(
            "Verdict",
            f"Below: what a bet on its skill has made of 1; proven needs {times_text(bar)}.",
        ),
        "brier_implied": number("Implied Brier", "%.3f", "The founding text's score; lower is better."),
        "pnl": number("P/L", "gain", "Profit or loss in play dollars, open positions at mid."),
        "equity": HtmlColumn("Equity", "All its accounts together, over time.", "picture"),
        "calibration": words("Calibration", "Of forecasts that gave one side 70% or more."),
        "skill_per_dollar": number(f"Skill per ${money}", "%+.4f", "Skill divided by what its calls cost."),
    }
    shown |= {column.key: HtmlColumn(column.label, column.help, column.format) for column in more}
    kinds = dict(known.agents)
    hrefs = [address(way("agent", agent=name)) if name in kinds else None for name in agents]
    return html_table(data, shown, "Leaderboard: one row an agent", hrefs, sortable=True)


def _skill(line: LeaderboardLine, look: str, scale: Scale) -> HtmlCell:
    row = line.row
    if row.skill is None:
        return HtmlCell("–", None, row.reason or "")
    drawn = interval(row.skill, row.skill_low, row.skill_high, look, scale)
    shown = Markup('<span class="pair">{} {}</span>').format(written(row.skill, "%+.4f"), drawn)
    if row.kind == MARKET:
        return HtmlCell(shown, row.skill, "by definition", "two")
    if row.skill_low is None or row.skill_high is None:
        return HtmlCell(shown, row.skill, row.reason or "", "two")
    span = f"{written(row.skill_low, '%+.4f')} to {written(row.skill_high, '%+.4f')}"
    return HtmlCell(shown, row.skill, span, "two")


def _verdict(line: LeaderboardLine, bar: float) -> HtmlCell:
    row = line.row
    if row.kind == MARKET:
        return HtmlCell("", "")
    if row.copies:
        return HtmlCell(tag("copy", "copy"), "copy", f"of {shortened(row.copies, 24)}")
    below = "" if row.evidence is None else f"{times_text(row.evidence)} of {times_text(bar)}"
    if row.verdict == "none":
        return (
            HtmlCell(tag("behind", "none"), "behind", below) if row.skill_low is not None else HtmlCell("–")
        )
    return HtmlCell(tag(VERDICTS[row.verdict], row.verdict), row.verdict, below)


def _calibration(line: LeaderboardLine) -> HtmlCell:
    if line.row.kind == MARKET and line.brief is None:
        return HtmlCell("–")
    said, below = calibration_words(line.brief)
    return HtmlCell(said, said, below, "two")


BASE = (
    "Implied confidence is a bet's share of the largest one allowed. Here that is taken from the cash at the "
    "start of a decision; the founding text takes the cash at the time of the bet."
)


def show_founding(lines: Sequence[LeaderboardLine], cohorts: Sequence[CohortLine]) -> None:
    """A row an agent; and where the rules take implied confidence from another base."""
    table, said = founding(lines, cohorts)
    put(table, "table of the founding text")
    for sentence in said:
        st.caption(sentence)


def founding(lines: Sequence[LeaderboardLine], cohorts: Sequence[CohortLine]) -> tuple[Markup, list[str]]:
    """The same as markup: the table, and what has to be said of it."""
    data = {"agent": [line.row.agent for line in lines]} | cells(lines, FOUNDING)
    says = "Scores of the founding text, a row an agent"
    table = html_table(data, config(FOUNDING), says, sortable=True)
    said = ["Brier skill is the share of the reference's error that is gone: above 0 beats it."]
    said += [BASE] if any(line.rules.base != SEED.base for line in cohorts) else []
    return table, said


METACULUS = {
    "agent": words("Agent"),
    "Peer": number("Peer", "%+.2f", "How much better than the other agents over a market's life."),
    "Peer 95%": words("95% interval", "By event."),
    "Baseline": number("Baseline", "%+.2f", "How much better than 50% on everything."),
    "Spot peer": number("Spot peer", "%+.2f", "The peer score of what stood when the market closed."),
    "Relative": number("Relative", "%+.3f", "Against the median of the others, in powers of two."),
    "Coverage": number(
        "Coverage", "%.0f%", "The share of the markets' lives for which a forecast of its stood."
    ),
    "Questions": words("Questions", "How many of the markets that ended it forecast."),
}
METACULUS_SAID = (
    "Nobody is compared with baselines that no model is behind. Community: the recency-weighted median of "
    "all others."
)


def metaculus_table(scores: Sequence[MetaculusScores]) -> Markup:
    """Metaculus's scores of agents and of their community, a row each."""
    data: dict[str, list[Any]] = {key: [] for key in METACULUS}
    for one in scores:
        span = (
            "–"
            if one.peer_low is None or one.peer_high is None
            else f"{written(one.peer_low, '%+.2f')} to {written(one.peer_high, '%+.2f')}"
        )
        row = (one.agent, one.peer, span, one.baseline, one.spot_peer, one.relative, 100 * one.coverage)
        for key, value in zip(METACULUS, (*row, f"{one.questions:,} of {one.asked:,}"), strict=True):
            data[key].append(value)
    return html_table(data, METACULUS, "Metaculus's scores, a row an agent", sortable=True)


@dataclass(frozen=True, slots=True)
class Earned:
    """An agent's money over its accounts: how many, and what those that were ever valued have gained."""

    agent: str
    kind: str
    cohorts: int
    gain: int | None
    given: int

    @property
    def share(self) -> float | None:
        """The gain in percent of what was given."""
        return None if self.gain is None or not self.given else 100 * self.gain / self.given


def earned(accounts: Sequence[AccountEquity]) -> list[Earned]:
    """Every agent's money, the largest gain first."""
    mine: dict[str, list[AccountEquity]] = {}
    for account in accounts:
        mine.setdefault(account.agent, []).append(account)
    found = [_earned(name, own) for name, own in mine.items()]
    return sorted(found, key=lambda one: (one.gain is None, -(one.gain or 0), one.agent))


def _earned(agent: str, own: Sequence[AccountEquity]) -> Earned:
    valued = [(one.total - one.given, one.given) for one in own if one.total is not None]
    gain = sum(gain for gain, _ in valued) if valued else None
    return Earned(agent, own[-1].kind, len(own), gain, sum(given for _, given in valued))


def show_money(accounts: Sequence[AccountEquity], known: Container[str]) -> None:
    """One row an agent, with its money alone."""
    put(money_table(accounts, known), "table of money")


def money_table(
    accounts: Sequence[AccountEquity], known: Container[str], address: Address = in_app
) -> Markup:
    """The same as markup."""
    rows = earned(accounts)
    data: dict[str, list[object]] = {
        "agent": [row.agent for row in rows],
        "pnl": [None if row.gain is None else row.gain / ONE for row in rows],
        "return_pct": [row.share for row in rows],
        "cohorts": [row.cohorts for row in rows],
        "kind": [row.kind for row in rows],
    }
    shown = config(columns_of("pnl", "return_pct", "cohorts", "kind"))
    hrefs = agent_hrefs([row.agent for row in rows], known, address)
    return html_table(data, shown, "What each agent has gained", hrefs, sortable=True)


def show_unranked(lines: Sequence[LeaderboardLine], known: Container[str]) -> None:
    """One row an agent, which leads to the agent's page: no skill and no place, only bets and cost."""
    if not lines:
        return
    st.subheader("Not ranked", anchor=False)
    put(board_table("Agents that are not ranked, and why", UNRANKED, lines, known), "table of unranked")


def board_table(
    says: str,
    columns: Sequence[LeaderboardColumn],
    lines: Sequence[LeaderboardLine],
    known: Container[str],
    address: Address = in_app,
) -> Markup:
    """A row an agent, which leads to its page, with such figures; skill with its interval drawn beside it."""
    names = [line.row.agent for line in lines]
    data: dict[str, list[Any]] = {"agent": [*names]}
    for key, values in cells(lines, columns).items():
        data[key] = values
        if key == "skill":
            data["bar"] = bars([line.row for line in lines])
    return html_table(data, config(columns), says, agent_hrefs(names, known, address), sortable=True)


def agent_hrefs(names: Sequence[str], known: Container[str], address: Address = in_app) -> list[str | None]:
    """The same as addresses."""
    return [None if one is None else address(one) for one in agent_ways(names, known)]
