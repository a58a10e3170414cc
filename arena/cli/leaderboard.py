"""`arena board` and `arena board`: who forecasts better than whom, and than the price."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any, Literal

from arena.cli.leaderboard_columns import (
    ALWAYS,
    COHORT_COLUMNS,
    COHORT_ORDER,
    COHORT_UNRANKED,
    COLUMNS,
    EARLY_COLUMNS,
    EARLY_ORDER,
    METACULUS,
    METACULUS_LEGEND,
    NOTES,
    ORDER,
    PROVISIONAL,
    RANKS,
    SLICES,
    UNRANKED,
)
from arena.cli.options import Options, argument, command, flag, option
from arena.cli.output import plain, thinking_words
from arena.cli.page import print_table, print_text
from arena.cli.table import TableChoice, TableColumn
from arena.errors import ArenaError
from arena.record.model.cohort import Cohort, later_models_words
from arena.record.queries.cohorts import read_cohorts, select_cohorts
from arena.record.schema.database import Connection
from arena.scores import slices
from arena.scores.comparisons import compute_duel
from arena.scores.leaderboard import PROVISIONAL_NOTICE, compute_provisional, leaderboard_data
from arena.scores.leaderboard import read_leaderboard as read_board
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
)

TURNS_AMISS = {"failed": "Failed turns", "late": "Late turns", "retried": "Turns retried after a failure"}
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

    Example: arena board --by category

    Next: arena board A B compares two agents; arena dashboard shows the curves.
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
    """Read what is asked for, for JSON."""
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
    from arena.scores.profiles.detailed_profile import read_sure_forecasts

    found = leaderboard_data(read_board(connection, cohort))
    if cohort is not None:
        whole = read_board(connection).verdict
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
    """Return how much each model was last asked to think; the demo's think not at all."""
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
        # They have the columns that the agents above them have, but those of entries.
        beside = [column for column in wanted if column not in RANKS and (not shown or column.name in shown)]
        whole = replace(choice, wide=choice.wide or bool(choice.columns), columns="")
        shown += print_table(beside, board.references, "References, not ranked", whole, tells_hidden=False)
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
    columns: Sequence[TableColumn]
    of_cohort = "over_all_cohorts" in found
    rows = _board_rows(found)
    references = [row for row in rows if row["is_reference"]]
    agents = [row for row in rows if not row["is_reference"]]

    if max((row["events"] for row in rows), default=0) < ENOUGH_EVENTS:
        columns = _early_columns(choice, of_cohort=of_cohort)
        order = EARLY_ORDER
        agents.sort(key=lambda row: (row["pnl"] is None, -(row["pnl"] or 0.0), row["agent"]))
        unranked = [row for row in agents if row["turns"] and not row["answered"]]
    else:
        columns = COHORT_COLUMNS if of_cohort else COLUMNS
        order = COHORT_ORDER if of_cohort else ORDER
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
    if words := later_models_words(found["later_models"]):
        print_text(f"{words.capitalize()}.")

    agents = [row for row in found["leaderboard"] if row["turns"]]
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
        shown = {
            "metaculus": metaculus.get(row["agent"]),
            "calibration_text": calibration.get(row["agent"]),
            "better_text": better_text(row["better_than"], entries) if has_rank else None,
            "why_unranked": _why_unranked(row),
        }
        rows.append(row | shown)

    return rows


def _why_unranked(row: Mapping[str, Any]) -> str | None:
    """Return why an agent is not ranked; None where it is."""
    if not row["ranked"]:
        return row["why_not"] or "too little is known"
    if row["copies"] and row["rank_low"] is None:
        return f"copies {row['copies']}"
    return None


def _early_columns(choice: TableChoice, *, of_cohort: bool) -> list[TableColumn]:
    """Return the columns of a board on which nothing is ranked yet; by name, all others are there too."""
    columns = [*EARLY_COLUMNS, *ALWAYS] if of_cohort else [*EARLY_COLUMNS]
    if choice.columns:
        names = {column.name for column in columns}
        columns += [column for column in COLUMNS if column.name not in names]
    return columns


def _say_of(said: Mapping[str, Sequence[str]], form: Callable[[str], str]) -> None:
    """Print what has to be said of agents, each once, and of whom."""
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

    Example: arena board sharp hasty

    Next: arena board
    """
    if one == other:
        raise ArenaError(
            "one_agent", f"{one} can't duel itself", "arena show agents shows the others", status=64
        )
    with chosen.reading() as connection:
        found = compute_duel(connection, one, other, cohort)
        spending = read_spending(connection, found, cohort)
        verdict = read_board(connection).verdict or Verdict()
    sentences = duel_sentences(found, verdict) if cohort is None else _cohort_duel(found, verdict)
    words = "\n".join(map(plain, [*sentences, *spending_sentences(spending)]))
    data = duel_data(found, verdict) | {"cohort": cohort, "spending": asdict(spending)}
    chosen.answer(data, print_text, words)


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
