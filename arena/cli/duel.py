"""`arena duel`: two agents held against each other."""

from typing import Annotated

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json
from arena.errors import ArenaError


def duel(
    context: typer.Context,
    one: Annotated[str, typer.Argument(metavar="A", help="An agent of the record.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    cohort: Annotated[int | None, typer.Option(help="In one cohort only, by its number.", min=1)] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Which of two agents forecasts better, on the markets and in the rounds that both were shown.

    The gap is B's Brier minus A's: above 0, A is ahead. Markets of one event count as one, and under 20
    events nothing is concluded. Two that have nothing in common are compared by what each gains on the
    market. Two prompts of one model, or one model at two temperatures, are two agents: duel them.

    p is that of the one pair you ask for. Who looks at many pairs and picks the most telling one heeds the p
    of all duels below it: it is there once `arena run` or the dashboard has worked them all out.

    Example: arena duel sharp hasty

    Next: arena leaderboard
    """
    from dataclasses import asdict

    from arena.record.schema.database import connect, reading
    from arena.scores.comparisons import compute_duel, duel_sentences, holm_sentence
    from arena.scores.profiles.duels import events_needed, read_current_duel

    if one == other:
        hint = "arena agents list names them"
        raise ArenaError("one_agent", f"{one} can't be held against itself", hint, status=2)
    engine = connect(options(context, config, database).record(), read_only=True)
    try:
        with reading(engine) as connection:
            found = compute_duel(connection, one, other, cohort)
            of_all = read_current_duel(connection, one, other) if cohort is None else None
    finally:
        engine.dispose()
    needed = events_needed(found)
    if as_json:
        adjusted = {"adjusted": None if of_all is None else of_all.adjusted}
        verdict = {"winner": found.winner(), "events_needed": needed}
        print_json({"cohort": cohort} | asdict(found) | adjusted | verdict)
    else:
        sentences = (*duel_sentences(found, needed), "" if of_all is None else holm_sentence(of_all))
        print("\n".join(filter(None, sentences)))
