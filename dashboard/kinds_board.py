"""The board of a season with questions of several kinds: all kinds together, and each by itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from arena.scores.all_kinds import AllKinds, KindScores
from arena.scores.files.scores import ForecasterScores
from arena.scores.verdict import EARLY_BRIER_ORDER, better_text, brier_order, is_early, rank_text
from dashboard.board import NOT_RANKED, REFERENCES, agent_page, span_text
from dashboard.html import NOTHING, HtmlCell, board_of, box, columns_of_table, html_table
from dashboard.pages import Address, in_app
from dashboard.record import Lines, SeasonOverview
from dashboard.words import filled
from markets.distributions import question_kind

TITLE = "Questions of all kinds"
ABOUT = (
    "Skill: the price’s, or the odds’, Brier score less the agent’s; of options, half the sum of squares. "
    "Numbers and dates count in Metaculus’s scores alone."
)


def all_kinds_boxes(
    all_kinds: AllKinds | None,
    overview: SeasonOverview,
    address: Address = in_app,
    costs: Mapping[str, float | None] | None = None,
) -> Markup:
    """Return the board of all kinds, and the scores of each kind, or nothing if all are of yes or no.

    `costs` has by agent what its calls cost, where no other board says so.
    """
    if all_kinds is None:
        return NOTHING
    references = set(overview.names) - set(overview.players(overview.names))
    groups: dict[str, list[ForecasterScores]] = {"": [], REFERENCES: [], NOT_RANKED: []}
    # As on the season's own board, and in the terminal, nobody has a rank before enough has resolved.
    rows = list(all_kinds.report.rows)
    is_too_early = is_early(row.events for row in rows)
    ranked_entries = 0
    if is_too_early:
        rows.sort(key=lambda row: brier_order(row.forecaster, row.brier))
    else:
        ranked_entries = sum(row.rank_low is not None for row in rows)

    for row in rows:
        title = "" if row.ranked else NOT_RANKED
        if row.forecaster in references:
            title = REFERENCES
        groups[title].append(row)

    first_title = EARLY_BRIER_ORDER.removesuffix(".") if is_too_early else ""
    tables = {}
    for title, group in groups.items():
        if group:
            tables[title or first_title] = [
                _agent_row(row, ranked_entries, overview, address, costs or {}) for row in group
            ]
    columns = dict(columns_of_table("all kinds"))
    if overview.is_simulated:
        columns["cost_usd"] = replace(columns["cost_usd"], label="Cost (simulated)")
    board = board_of(tables, columns, f"{TITLE}: one row an agent")
    kind_rows = _kind_rows(all_kinds.kinds, overview, address)
    kinds = html_table(kind_rows, columns_of_table("each kind"), "Each kind: one row an agent")
    boxes = box(TITLE, board, ABOUT) + box("Each kind by itself", kinds)
    return filled('<div class="column">%s</div>', boxes)


def costs_of(lines: Lines) -> dict[str, float | None]:
    """Return what the calls of each agent cost."""
    return {line.row.agent: line.row.cost_usd for line in lines}


def _agent_row(
    row: ForecasterScores,
    ranked_entries: int,
    overview: SeasonOverview,
    address: Address,
    costs: Mapping[str, float | None],
) -> Mapping[str, object]:
    """Return the row of an agent; without `ranked_entries` nobody has a rank."""
    better_cell = HtmlCell("")
    rank_markup = None
    if ranked_entries and row.rank_low is not None and row.rank_high is not None:
        rank_markup = filled('<span class="rank">%s</span>', rank_text(row.rank_low, row.rank_high))
        better_than_text = better_text(row.better_than, ranked_entries)
        better_cell = HtmlCell(better_than_text, better_than_text)
    return {
        "rank": rank_markup,
        "agent": HtmlCell(row.forecaster, row.forecaster, row.why_not or ""),
        "skill": row.skill,
        "interval": span_text(row.skill_low, row.skill_high, "%+.4f"),
        "better": better_cell,
        "brier": row.brier,
        "baseline": row.baseline,
        "peer": row.peer,
        "coverage": None if row.coverage is None else 100 * row.coverage,
        "questions": row.questions,
        "cost_usd": costs.get(row.forecaster),
        "href": agent_page(row.forecaster, overview.names, address),
    }


def _kind_rows(
    kinds: Sequence[KindScores], overview: SeasonOverview, address: Address
) -> Iterator[Mapping[str, object]]:
    """Yield the scores of each agent on each kind."""
    for row in kinds:
        yield {
            "agent": row.agent,
            "kind": question_kind(row.kind).TITLE,
            "brier": row.brier,
            "distance": None if row.distance is None else 100 * row.distance,
            "baseline": row.baseline,
            "peer": row.peer,
            "answered": HtmlCell(f"{row.questions:,} of {row.asked:,}", row.questions),
            "href": agent_page(row.agent, overview.names, address),
        }
