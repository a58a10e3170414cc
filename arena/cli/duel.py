"""`arena duel`: two agents held against each other."""

from typing import Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json
from arena.errors import ArenaError

EVEN = "Nothing tells them apart: they always said the same."


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

    Example: arena duel sharp hasty

    Next: arena leaderboard
    """
    from arena.scores import fight
    from arena.store.database import connect, reading

    if one == other:
        mend = "arena agents list names them"
        raise ArenaError("one_agent", f"{one} can't be held against itself", mend, status=2)
    engine = connect(options(context, config, database).record(), read_only=True)
    try:
        with reading(engine) as connection:
            found = as_data(fight(connection, one, other, cohort))
    finally:
        engine.dispose()
    if as_json:
        print_json({"cohort": cohort} | found)
    else:
        print(in_words(found))


def as_data(found: Any) -> dict[str, Any]:
    """A duel for JSON: who won, and how many more events would tell."""
    from dataclasses import asdict

    from arena.prepared.duels import events_needed

    return asdict(found) | {"winner": found.winner(), "events_needed": events_needed(found)}


def in_words(found: dict[str, Any]) -> str:
    """What came of it, in a few lines."""
    if found["gap"] is None:
        return f"Nothing can be said of {found['a']} and {found['b']}: {found['reason']}."
    said = _about(found)
    return said + (EVEN if found["gap"] == 0 else f"{_gap(found)}\n{_verdict(found)}")


def _about(found: dict[str, Any]) -> str:
    on_rows = found["by"] == "rows"
    how = (
        f"{found['rows']:,} common forecasts" if on_rows else "what each gains on the market, on its own rows"
    )
    count = f"{found['markets']:,} markets, {found['events']:,} events ({found['effective']:.1f} effective)"
    return f"{found['a']} against {found['b']}, by {how}: {count}.\n"


def _gap(found: dict[str, Any]) -> str:
    ahead = found["a"] if found["gap"] > 0 else found["b"]
    said = f"{ahead} was closer by {abs(found['gap']):.4f} Brier points"
    if found["p"] is None:
        return f"{said}."
    span = "" if found["low"] is None else f", gap from {found['low']:+.4f} to {found['high']:+.4f}"
    return f"{said} (p = {found['p']:.3f}{span})."


def _verdict(found: dict[str, Any]) -> str:
    if found["reason"]:
        return f"That says nothing yet: {found['reason']}."
    if found["winner"]:
        return f"{found['winner']} is the better one, by more than chance would explain."
    more = found["events_needed"]
    return "Chance alone may explain it." + (f" About {more:,} more events would tell." if more else "")
