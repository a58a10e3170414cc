"""`arena leaderboard` and `arena duel`: who forecasts better than whom, and than the price."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any, Literal

from arena.cli.options import Options, argument, command, flag, option
from arena.cli.output import plain, signed_dollars, thinking_words
from arena.cli.table import TableChoice, TableColumn, between, print_table, print_text
from arena.errors import ArenaError, times_text
from arena.record.model.cohort import Cohort, later_models_words
from arena.record.queries.cohorts import read_cohorts, select_cohorts
from arena.record.schema.database import Connection
from arena.scores import slices
from arena.scores.comparisons import compute_duel
from arena.scores.leaderboard import PROVISIONAL_NOTICE, compute_provisional, percent_of_price
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.spending import read_spending, spending_sentences
from arena.scores.verdict import (
    EVEN_SENTENCE,
    Verdict,
    better_text,
    duel_basis,
    duel_sentences,
    duel_verdict,
    gap_sentence,
    rank_text,
)


def percent(name: str) -> Callable[[Mapping[str, Any]], float | None]:
    """Return what reads Brier points of a row, as per cent of the price's Brier score."""
    return lambda row: percent_of_price(row[name], row["brier_market"])


def percent_interval(row: Mapping[str, Any]) -> str | None:
    """Return the interval of the skill in the same unit.

    >>> percent_interval({"skill_low": -0.01, "skill_high": 0.02, "brier_market": 0.2})
    '-5.0 to +10.0'
    """
    low, high = percent("skill_low")(row), percent("skill_high")(row)
    return None if low is None or high is None else f"{low:+.1f} to {high:+.1f}"


def small_dollars(usd: float) -> str:
    """Dollars and cents; an amount below a cent with all that it has.

    >>> small_dollars(1.1016), small_dollars(0.0042), small_dollars(0)
    ('$1.10', '$0.0042', '$0.00')
    """
    return f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:,.2f}"


BAR_CELLS = 21


def interval_bar(row: Mapping[str, Any]) -> str | None:
    """The interval as a bar, from −0.05 to 0.05; what lies beyond is an arrow.

    >>> interval_bar({"skill": 0.02, "skill_low": -0.01, "skill_high": 0.07})
    '········├─┼───●─────▶'
    """
    if row["skill_low"] is None:
        return None
    low, middle, high = (
        round((row[key] + 0.05) * 10 * (BAR_CELLS - 1)) for key in ("skill_low", "skill", "skill_high")
    )
    cells = ["─" if low <= place <= high else "·" for place in range(BAR_CELLS)]
    cells[BAR_CELLS // 2] = "┼" if low <= BAR_CELLS // 2 <= high else "│"
    last = BAR_CELLS - 1
    cells[min(max(low, 0), last)] = "├" if 0 <= low <= last else "◀" if low < 0 else "▶"
    cells[min(max(high, 0), last)] = "┤" if 0 <= high <= last else "▶" if high > last else "◀"
    cells[min(max(middle, 0), last)] = "●" if 0 <= middle <= last else cells[min(max(middle, 0), last)]
    return "".join(cells)


AGENT = TableColumn("agent", show=plain, narrow="cut middle")
SKILL = TableColumn("skill", show="+.4f")
SHORT = (
    TableColumn("rank", "ranks", value=lambda row: rank_text(row["rank_low"], row["rank_high"])),
    AGENT,
    TableColumn("closer", "closer\nthan\nprice", "+.1f", value=percent("skill")),
    TableColumn("interval", "95%\ninterval", value=percent_interval),
    TableColumn("better_than", "better\nthan", value="better_text"),
    TableColumn("brier_stated", "Brier", ".4f"),
    TableColumn("pnl", "P/L", lambda usd: signed_dollars(usd, 0), 1),
    TableColumn("cost_usd", "cost", small_dollars, 1),
)
"""The short board, which fits 80 characters."""
CALIBRATION = TableColumn("calibration", value="calibration_text", gives_way=2, from_width=100)
IMPLIED = TableColumn("brier_implied", "implied*", ".4f", 2, from_width=100)
FURTHER = (
    replace(SKILL, gives_way=7),
    TableColumn("skill_interval", "of skill", value=between("skill_low", "skill_high"), gives_way=7),
    TableColumn("interval_bar", "-0.05 … 0.05", value=interval_bar, gives_way=7),
    TableColumn("tools", value=lambda row: "tools" if row["tools"] else None, gives_way=3),
    TableColumn("evidence", show=times_text, gives_way=7),
    TableColumn("brier_market", "price's\nBrier", ".4f", 3),
    TableColumn("brier_anchored", "anchored", ".4f", 5),
    TableColumn("return_pct", "return %", "+.2f", 4),
    TableColumn("skill_per_dollar", "skill per $", "+.4f", 6),
    TableColumn("cost_per_forecast", "$ per forecast", ".6f", 6),
    TableColumn("coverage", "coverage", ".0%", 3),
    TableColumn("events", show=",d", gives_way=3),
    TableColumn("resolved", show=",d", gives_way=4),
    TableColumn("answered", show=",d", gives_way=6),
    TableColumn("shown", show=",d", gives_way=6),
    TableColumn("bets", show=",d", gives_way=5),
    TableColumn("win_rate", "win rate", ".0%", 6),
    TableColumn("peer", show="+.2f", gives_way=8, value="metaculus.peer"),
    TableColumn("baseline", show="+.2f", gives_way=8, value="metaculus.baseline"),
    TableColumn("spot_peer", "spot peer", "+.2f", 8, "metaculus.spot_peer"),
    TableColumn("relative", show="+.3f", gives_way=8, value="metaculus.relative"),
    TableColumn("coverage_in_time", "coverage in time", ".0%", 8, "metaculus.coverage"),
)
BEYOND = tuple(replace(column, from_width=140) for column in FURTHER)
COLUMNS = (*SHORT, CALIBRATION, IMPLIED, *BEYOND)
RANKS = ("rank", "better_than")
"""The columns of entries: references and boards of one cohort have none."""
ALWAYS = (replace(CALIBRATION, from_width=0, gives_way=0), replace(IMPLIED, from_width=0, gives_way=0))
COHORT_SHORT = tuple(
    replace(column, gives_way=3) if column.name in ("brier_stated", "cost_usd") else column
    for column in SHORT
    if column.name not in RANKS
)
COHORT_COLUMNS = (*COHORT_SHORT, *ALWAYS, *BEYOND)
"""The board of one cohort has profit, calibration and the implied Brier score at any width."""
EARLY_COLUMNS = (
    AGENT,
    TableColumn("pnl", "P/L", lambda usd: signed_dollars(usd, 0)),
    TableColumn("invested", "open positions", lambda usd: f"${usd:,.0f}"),
    TableColumn("distance", "distance\nfrom price", ".3f"),
    TableColumn("cost_usd", "cost", small_dollars),
    TableColumn("answered", "forecasts", show=",d", gives_way=1),
    TableColumn("resolved", show=",d", gives_way=1),
    TableColumn("events", show=",d", gives_way=1),
)
"""The board until enough events have resolved for a comparison."""
UNRANKED = (
    AGENT,
    TableColumn("why_not", "why not", value="why_unranked", narrow="wrap"),
    replace(IMPLIED, gives_way=1),
    TableColumn("pnl", "P/L", lambda usd: signed_dollars(usd, 0), 1),
    TableColumn("cost_usd", "cost", small_dollars, 1),
)
COHORT_UNRANKED = (*(column for column in UNRANKED if column.name != "brier_implied"), *ALWAYS)
NOTES = {
    "rank": "Ranks: the first and the last that the told pairs allow.",
    "closer": (
        "Closer than price: by so many per cent is its Brier score below the price's, on the same forecasts."
    ),
    "skill": "Skill: the same in Brier points.",
    "calibration": (
        "Calibration: of forecasts that gave one side 70% or more, how likely they said, how often it was so."
    ),
    "brier_implied": (
        "*Implied: the founding text's Brier score of its bets, with the stake alone read as confidence."
    ),
    "evidence": "Evidence: what $1 bet on its skill would be worth.",
    "distance": "Distance: how far its forecasts lie from the prices, on average.",
}
"""What is to be known of a column, said where it is shown."""
ORDER = "In the order of the ranks told, then of the low end of the interval."
COHORT_ORDER = "In the order of the low end of the interval."
EARLY_ORDER = (
    f"Provisional, in the order of profit: nothing is ranked before {ENOUGH_EVENTS:.0f} events have resolved."
)
TURNS_AMISS = {"failed": "Failed turns", "late": "Late turns", "retried": "Turns retried after a failure"}
SLICES = (
    AGENT,
    SKILL,
    TableColumn("interval", "95% interval", value=between("low", "high")),
    TableColumn("markets", show=",d", gives_way=2),
    TableColumn("events", show=",d"),
    TableColumn("effective", "effective events", ".1f", 3),
    TableColumn("reason", "note", lambda text: text or "", 1, narrow="wrap"),
)
METACULUS = (
    AGENT,
    TableColumn("peer", show="+.2f"),
    TableColumn("peer_interval", "95% interval", value=between("peer_low", "peer_high", ".2f")),
    TableColumn("baseline", show="+.2f"),
    TableColumn(
        "baseline_interval",
        "95% interval",
        value=between("baseline_low", "baseline_high", ".2f"),
        gives_way=4,
    ),
    TableColumn("spot_peer", "spot peer", "+.2f", 2),
    TableColumn("spot_baseline", "spot baseline", "+.2f", 5),
    TableColumn("relative", show="+.3f", gives_way=3),
    TableColumn("coverage", show=".0%", gives_way=1),
    TableColumn(
        "answered", "questions", value=lambda row: f"{row['questions']:,} of {row['asked']:,}", gives_way=1
    ),
    TableColumn("outside", "", lambda yes: "outside" if yes else ""),
)
METACULUS_LEGEND = (
    "Metaculus's scores, averaged over each market's life in its cohort; spot: as it closed. Above 0 is "
    "better than the other agents (peer), or than 50% (baseline). Agents marked outside are not compared. "
    "Community: the recency-weighted median of all others."
)
PROVISIONAL = (
    AGENT,
    SKILL,
    TableColumn("brier_stated", "stated", ".4f"),
    TableColumn("brier_market", "market", ".4f"),
    TableColumn("forecasts", show=",d"),
    TableColumn("open", "still open", ",d"),
)


SliceBy = Literal["category", "horizon", "price", "cohort", "release"]


@command(table=True)
def leaderboard(
    chosen: Options,
    cohort: int | None = option("Only this cohort, by number.", min=1),
    by: SliceBy | None = option(
        "Split skill: horizon is the time to close, release the time since the model's release."
    ),
    provisional: bool = flag("Score open markets at their latest price."),
    metaculus: bool = flag("Show Metaculus's scores: peer, baseline, spot, relative."),
) -> None:
    """Show who forecasts better than whom, and than the market price.

    Agents are in the order of the ranks told, then of the low end of the interval. “2 of 4” is better than
    two of four others, and stays true however often you look. Closer than price: by so many per cent is an
    agent's Brier score below the price's, on the same forecasts. Agents that answer less than 80% are not
    ranked; references, such as the price itself, stand apart. One cohort has figures, but no ranks. A dash
    means there is too little data. Wide terminals, --wide and --columns show more.

    Example: arena leaderboard --by category

    Next: arena duel A B compares two agents; arena dashboard shows the curves.
    """
    if (by is not None) + provisional + metaculus > 1:
        what = "--by, --provisional and --metaculus can't be combined"
        raise ArenaError("two_views", what, "use one at a time", status=64)
    found = read(chosen.record(), cohort, by, provisional)
    if not chosen.json and not found.get("leaderboard", True):
        from arena.cli.check_next import next_step

        print(f"No agent has played yet. Next: {next_step(chosen.known())}")
    else:
        chosen.answer(found, _say_metaculus if metaculus else _say, found, chosen.table)


def _say_metaculus(found: Mapping[str, Any], choice: TableChoice) -> None:
    if not found["metaculus"]:
        print("No market of a cohort has ended YES or NO yet.")
        return
    print_table(METACULUS, found["metaculus"], choice=choice)
    print_text(METACULUS_LEGEND)


def read(
    address: str, cohort: int | None, by: SliceBy | None = None, provisional: bool = False
) -> dict[str, Any]:
    """What is asked for, for JSON."""
    with Options(database=address).reading() as connection:
        about = {"cohort": cohort}
        if by is not None:
            found = slices.read_slices(connection, by, cohort)
            return about | {"by": by, "slices": [{"slice": x.slice} | asdict(x.gain) for x in found]}
        if provisional:
            rows = [asdict(x) | {"skill": x.skill} for x in compute_provisional(connection, cohort)]
            return about | {"provisional": PROVISIONAL_NOTICE, "leaderboard": rows}
        return about | read_leaderboard(connection, cohort)


def read_leaderboard(connection: Connection, cohort: int | None = None) -> dict[str, Any]:
    """Return the leaderboard of a record for JSON: the verdict, and its rows."""
    from arena.scores import leaderboard
    from arena.scores.profiles.detailed_profile import read_sure_forecasts

    found = leaderboard.leaderboard_data(leaderboard.read_leaderboard(connection, cohort))
    if cohort is not None:
        whole = leaderboard.read_leaderboard(connection).verdict
        found["over_all_cohorts"] = None if whole is None else whole.sentence

    sure = read_sure_forecasts(connection, cohort)
    calibration = [{"agent": name} | asdict(one) | {"text": one.text} for name, one in sure.items()]
    cohorts = [stored.cohort for stored in select_cohorts(read_cohorts(connection), cohort)]
    rows = found.pop("leaderboard")
    simulated = {one.stamp for one in cohorts} == {"simulated"}
    later = {model: day for one in cohorts for model, day in one.later_models.items()}
    about = {"simulated": simulated, "thinking": _thinking(cohorts), "later_models": later}
    return found | about | {"calibration": calibration, "leaderboard": rows}


def _thinking(cohorts: Sequence[Cohort]) -> list[dict[str, str]]:
    """How much each model was last asked to think; the demo's think not at all."""
    asked = {
        entrant.name: entrant.settings.get("reasoning") or "provider's default"
        for one in cohorts
        for entrant in one.entrants
        if (model := entrant.settings.get("model")) and not str(model).startswith("demo/")
    }
    return [{"agent": name, "reasoning": str(effort)} for name, effort in asked.items()]


def _say(found: Mapping[str, Any], choice: TableChoice) -> None:
    if "slices" in found:
        for name in dict.fromkeys(row["slice"] for row in found["slices"]):
            rows = [row for row in found["slices"] if row["slice"] == name]
            print_table(SLICES, rows, plain(name), choice)
    elif "provisional" in found:
        print_table(PROVISIONAL, found["leaderboard"], choice=choice)
        print(f"{found['provisional'].capitalize()}.")
    else:
        print_leaderboard(found, choice)


def print_leaderboard(found: Mapping[str, Any], choice: TableChoice) -> None:
    """Print the verdict, the board, and what is to be known of what it shows."""
    over_all = found.get("over_all_cohorts")
    sentences = [f"Over all cohorts: {over_all}"] if over_all else [found["sentence"], found["guarantee"]]
    for sentence in filter(None, sentences):
        print_text(plain(sentence))
    print()

    board = _board_of(found, choice)
    wanted = choice.of(board.columns)
    shown = print_table(board.columns, board.agents, choice=choice) if board.agents else []
    if board.references:
        names = shown or [column.name for column in wanted]
        beside = [column for column in wanted if column.name in names and column.name not in RANKS]
        chosen = replace(choice, wide=choice.wide or bool(choice.columns), columns="")
        shown += print_table(beside, board.references, "References, not ranked", chosen, tells_hidden=False)
    if board.unranked:
        shown += print_table(board.unranked_columns, board.unranked, "Not ranked", tells_hidden=False)

    notes = [board.order] if board.agents else []
    print_text(" ".join([*notes, *(note for name, note in NOTES.items() if name in shown)]))
    _say_remarks(found)


@dataclass(frozen=True, slots=True)
class BoardTables:
    """The tables of a board: agents in an order that is told, references, and who is not ranked."""

    columns: Sequence[TableColumn]
    agents: Sequence[Mapping[str, Any]]
    order: str
    references: Sequence[Mapping[str, Any]]
    unranked: Sequence[Mapping[str, Any]]
    unranked_columns: Sequence[TableColumn]


def _board_of(found: Mapping[str, Any], choice: TableChoice) -> BoardTables:
    """Return the tables of a board. Until enough events have resolved nobody is ranked on it."""
    of_cohort = "over_all_cohorts" in found
    rows = _board_rows(found)
    references = [row for row in rows if row["is_reference"]]
    agents = [row for row in rows if not row["is_reference"]]

    if max((row["events"] for row in rows), default=0) < ENOUGH_EVENTS:
        columns, order = _early_columns(choice, of_cohort=of_cohort), EARLY_ORDER
        agents.sort(key=lambda row: (row["pnl"] is None, -(row["pnl"] or 0.0), row["agent"]))
        unranked = [row for row in agents if row["turns"] and not row["answered"]]
    else:
        columns, order = (COHORT_COLUMNS, COHORT_ORDER) if of_cohort else (COLUMNS, ORDER)
        unranked = [row for row in agents if row["why_unranked"]]

    ranked = [row for row in agents if row not in unranked]
    return BoardTables(
        columns, ranked, order, references, unranked, COHORT_UNRANKED if of_cohort else UNRANKED
    )


def _say_remarks(found: Mapping[str, Any]) -> None:
    """Print what else is to be known of the agents and their figures."""
    if found["simulated"]:
        print("Simulated markets, play money: these figures say nothing about real ones.")
    if found["noise"] is not None:
        print(f"Agents with the same settings differ by {found['noise']:.4f} Brier points.")
    for key, what in TURNS_AMISS.items():
        if named := [f"{row['agent']} {row[key]:,}" for row in found["leaderboard"] if row[key]]:
            print_text(plain(f"{what}: {', '.join(named)}."))
    if words := thinking_words({each["agent"]: each["reasoning"] for each in found["thinking"]}):
        print_text(plain(f"Thinking: {words}."))
    agents = [row for row in found["leaderboard"] if row["turns"]]
    if words := later_models_words(found["later_models"]):
        print_text(f"{words.capitalize()}.")
    said = {row["agent"]: row["stamps"] for row in found["leaderboard"]}
    _say_of(said, str.capitalize)
    tools = {row["agent"]: [", ".join(row["tools"])] if row["tools"] else [] for row in agents}
    _say_of(tools, "Tools: {}".format)
    _say_of({row["agent"]: [row["depth"]] if row["depth"] else [] for row in agents}, "P/L: {}".format)


def _board_rows(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a board, each with the texts and scores that are shown beside it."""
    metaculus = {row["agent"]: row for row in found["metaculus"]}
    calibration = {row["agent"]: row["text"] for row in found["calibration"]}
    entries = sum(row["rank_low"] is not None for row in found["leaderboard"])
    rows = []
    for row in found["leaderboard"]:
        has_rank = row["rank_low"] is not None
        copied = f"copies {row['copies']}" if row["copies"] and not has_rank else None
        rows.append(
            row
            | {
                "metaculus": metaculus.get(row["agent"]),
                "calibration_text": calibration.get(row["agent"]),
                "better_text": better_text(row["better_than"], entries) if has_rank else None,
                "why_unranked": (row["why_not"] or "too little is known") if not row["ranked"] else copied,
            }
        )
    return rows


def _early_columns(choice: TableChoice, *, of_cohort: bool) -> tuple[TableColumn, ...]:
    """Return the columns of a board on which nothing is ranked yet; by name, all others are there too."""
    columns = (*EARLY_COLUMNS, *(ALWAYS if of_cohort else ()))
    names = {column.name for column in columns}
    further = [column for column in COLUMNS if column.name not in names]
    return (*columns, *further) if choice.columns else columns


def _say_of(said: Mapping[str, Sequence[str]], form: Callable[[str], str]) -> None:
    """What has to be said of agents, each once, and of whom."""
    for words in dict.fromkeys(each for own in said.values() for each in own):
        named = [agent for agent, own in said.items() if words in own]
        print_text(plain(f"{form(words)} ({'all' if len(named) == len(said) else ', '.join(named)})."))


@command()
def duel(
    chosen: Options,
    one: str = argument("A", "An agent in the record."),
    other: str = argument("B", "Another one."),
    cohort: int | None = option("Only this cohort, by number.", min=1),
) -> None:
    """Compare the forecasts of two agents, on the markets and in the rounds that both were shown.

    The first line says what the comparison rests on, the second who was closer and by how much, the third
    whether one forecasts better. That is told over all cohorts, once it is sure however often one looks; it
    is then told for good. The interval of the gap is that of this look alone. Agents that share no markets
    are compared by skill. To compare prompts, temperatures or tools, duel two agents that use the same model.
    The gap per extra dollar includes tool steps, but not the fees of paid sources.

    Example: arena duel sharp hasty

    Next: arena leaderboard
    """
    if one == other:
        raise ArenaError(
            "one_agent", f"{one} can't duel itself", "arena agents list shows the others", status=64
        )
    with chosen.reading() as connection:
        found = compute_duel(connection, one, other, cohort)
        spending = read_spending(connection, found, cohort)
        verdict = _read_verdict(connection)
    sentences = duel_sentences(found, verdict) if cohort is None else _cohort_duel(found, verdict)
    words = "\n".join(map(plain, [*sentences, *spending_sentences(spending)]))
    data = duel_data(found, verdict) | {"cohort": cohort, "spending": asdict(spending)}
    chosen.answer(data, print_text, words)


def _read_verdict(connection: Connection) -> Verdict:
    """Return the verdict of the whole record."""
    from arena.scores.leaderboard import read_leaderboard as read_board

    return read_board(connection).verdict or Verdict()


def _cohort_duel(found: Duel, verdict: Verdict) -> list[str]:
    """Return how two compare in a cohort, and what is told of them over all cohorts."""
    told = f"Over all cohorts: {duel_verdict(found.a, found.b, verdict)}"
    if found.gap is None:
        return [*duel_sentences(found, verdict), told]
    return [duel_basis(found), EVEN_SENTENCE if found.same else gap_sentence(found), told]


def duel_data(found: Duel, verdict: Verdict) -> dict[str, Any]:
    """Return a duel as programs read it: the figures of this look, and what is told of the pair.

    `weeks_more` is null where it is too early to say, and where it is likely never told.
    """
    data = asdict(found)
    del data["p"]
    pair = verdict.pair(found.a, found.b)
    told = None
    if pair is not None:
        never = pair.since is None and pair.weeks_more == inf
        told = asdict(pair) | {
            "told": pair.since is not None,
            "never": never,
            "weeks_more": None if never else pair.weeks_more,
        }
    return data | {"pair": told, "sentence": duel_verdict(found.a, found.b, verdict)}
