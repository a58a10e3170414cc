"""`arena leaderboard`: who forecasts well."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from arena.cli.options import ConfigFile, Database, Json, options
from arena.cli.output import print_json, print_table

COLUMNS = (
    ("agent", "agent", None),
    ("skill", "skill", "+.4f"),
    ("stated", "brier_stated", ".4f"),
    ("market", "brier_market", ".4f"),
    ("anchored", "brier_anchored", ".4f"),
    ("implied", "brier_implied", ".4f"),
    ("forecasts", "forecasts", ",d"),
    ("events", "events", ",d"),
    ("cover", "coverage", ".0%"),
    ("bets", "bets", ",d"),
    ("P/L $", "pnl", "+,.2f"),
    ("return %", "return_pct", "+.2f"),
    ("win", "win_rate", ".0%"),
    ("cost $", "cost_usd", ".4f"),
    ("per forecast", "cost_per_forecast", ".6f"),
)
LEGEND = "stated, market, anchored and implied are Brier scores, lower is better; skill = market − stated."


def leaderboard(
    context: typer.Context,
    cohort: Annotated[int | None, typer.Option(help="One cohort only, by its number.", min=1)] = None,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Who forecasts well: Brier scores in three readings, skill over the market's price, profit and cost.

    Lower Brier is better. Skill is the market's Brier minus the agent's on the same forecasts: above 0 beats
    the price. Cost per forecast is that of all calls, failed ones and repeats too, spread over the
    probabilities that the agent stated. A dash means that nothing can be said yet.

    Example: arena leaderboard --cohort 2

    Next: arena dashboard shows the same with curves and calibration.
    """
    chosen = options(context, config, database)
    board = read_board(chosen.record(), cohort)
    if as_json:
        print_json({"cohort": cohort, "leaderboard": board})
        return
    print_board(board)


def read_board(address: str, cohort: int | None) -> list[dict[str, Any]]:
    """The leaderboard of a record, as rows for JSON."""
    from dataclasses import asdict

    from arena.chosen import numbered
    from arena.leaderboard import leaderboard as rows
    from arena.store.database import connect, reading
    from arena.store.read import cohorts

    engine = connect(address, read_only=True)
    try:
        with reading(engine) as connection:
            numbered(cohorts(connection), cohort)
            return [asdict(row) for row in rows(connection, cohort)]
    finally:
        engine.dispose()


def print_board(board: Sequence[Mapping[str, Any]]) -> None:
    """The leaderboard as a table."""
    if not board:
        print("Nobody has played yet. Next: arena round")
        return
    rows = [[_cell(row[key], form) for _, key, form in COLUMNS] for row in board]
    print_table([title for title, _, _ in COLUMNS], rows)
    print(LEGEND)


def _cell(value: Any, form: str | None) -> str | None:
    return None if value is None else format(value, form or "")
