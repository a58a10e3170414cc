"""The comparison of `arena board A B`: the markets, which agent was closer, and which is better."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from arena.cli.options import Options
from arena.cli.output import plain
from arena.errors import ArenaError
from arena.record.schema.database import Connection
from arena.scores.all_kinds import read_season_verdict
from arena.scores.comparisons import compute_duel
from arena.scores.spending import read_spending, spending_sentences
from arena.scores.verdict import (
    EVEN_SENTENCE,
    Verdict,
    duel_basis,
    duel_data,
    duel_sentences,
    duel_verdict,
    gap_sentence,
)


def show_duel(chosen: Options, names: Sequence[str], cohort: int | None) -> None:
    """Print the comparison of two agents."""
    with chosen.reading() as connection:
        data, sentences = read_duel(connection, names, cohort)
    chosen.print_answer(data, list, sentences)


def read_duel(
    connection: Connection, names: Sequence[str], cohort: int | None
) -> tuple[dict[str, Any], list[str]]:
    """Return a comparison of two agents as data and in sentences; raise `ArenaError` unless two are named."""
    count = len(set(names))
    if count == 1:
        message = f"{names[0]} has to be compared with another agent"
        raise ArenaError("one_agent", message, f"arena show agent {names[0]} shows one agent", status=64)
    if count > 2:
        message = f"two agents can be compared, not {count}"
        raise ArenaError("many_agents", message, "arena board shows all agents", status=64)

    first, second = dict.fromkeys(names)
    duel = compute_duel(connection, first, second, cohort)
    spending = read_spending(connection, duel, cohort)
    verdict = read_season_verdict(connection) or Verdict()

    sentences = duel_sentences(duel, verdict)
    if cohort is not None:
        # Figures are those of the cohort; who is better is told over all cohorts alone.
        if duel.gap is not None:
            comparison = EVEN_SENTENCE if duel.same else gap_sentence(duel)
            sentences = [duel_basis(duel), comparison]
        sentences.append(f"Over all cohorts: {duel_verdict(first, second, verdict)}")

    data = duel_data(duel, verdict) | {"cohort": cohort, "spending": asdict(spending)}
    return data, [plain(sentence) for sentence in (*sentences, *spending_sentences(spending))]
