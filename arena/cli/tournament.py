"""`arena tournament`: who wins what."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.leaderboard import print_cells
from arena.cli.options import Json
from arena.cli.output import print_json
from arena.cli.score import Mode, Modes, text_of

if TYPE_CHECKING:
    from arena.scores.rules.metaculus.tournament import TournamentBoard

COLUMNS = (
    ("rank", "rank", "d"),
    ("forecaster", "forecaster", None),
    ("score", "score", "+.3f"),
    ("coverage", "coverage", ".2f"),
    ("take", "take", ",.3f"),
    ("share", "share", ".1%"),
    ("prize $", "prize", ",.2f"),
    ("questions", "questions", ",d"),
    ("", "note", None),
)
FORMS = {
    "peer": "score = sum of peer scores, take = its square, 0 if it is below 0",
    "2022": "score = sum of relative log scores, take = e^score · coverage",
}


def tournament(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A YAML file: the form, the pool, the forecasts.")
    ],
    mode: Mode = Modes.exact,
    as_json: Json = False,
) -> None:
    """Share out the prizes of a tournament, by Metaculus's rules.

    The file says `form: peer` (as since 2024) or `form: 2022`, `pool:` in dollars and `forecasts:`, a CSV
    beside it, which has the columns question, forecaster, probability and outcome, and with times also time,
    end, open, close and scheduled_close. With `form: peer` it may name a minimum_prize, whom to exclude from
    prizes, who is outside of what others are compared with, and weights of questions; with `form: 2022` a
    hidden_weight, for the time until hidden_until. In place of probability and outcome the CSV may have
    chance, what was given to what happened, for densities too.

    Example: arena tournament cup.yaml

    Next: arena score FILE.csv gives everyone's other scores.
    """
    from arena.scores.files.tournament import read_entries, read_settings, score_tournament

    text_of(file)  # which says better than a config's reader that a file is not there
    said = read_settings(file)
    entries = read_entries(said.forecasts, text_of(file.parent / said.forecasts))
    found = as_data(score_tournament(said, entries, mode.value), said.form, said.pool, entries.left_out)
    if as_json:
        print_json(found)
    else:
        say(found)


def as_data(found: "TournamentBoard", form: str, pool: float, left_out: int) -> dict[str, Any]:
    """The board for JSON."""
    notes = []
    if left_out:
        count = "1 question" if left_out == 1 else f"{left_out:,} questions"
        notes.append(f"not scored: {count} without an outcome of 0 or 1")
    if not found.places:
        notes.append("nothing resolved: no question has an outcome of 0 or 1, so nobody wins anything")
    elif not any(place.share for place in found.places):
        notes.append("nobody has a take above 0, so nobody wins anything")
    return {
        "form": form,
        "mode": found.mode,
        "pool": pool,
        "rows": [asdict(place) for place in found.places],
        "notes": notes,
    }


def say(found: dict[str, Any]) -> None:
    """The same in words."""
    print_cells(COLUMNS, [row | {"note": "excluded" if row["excluded"] else ""} for row in found["rows"]])
    print(f"Form {found['form']}, mode {found['mode']}: {FORMS[found['form']]}; shares go by takes.")
    for note in found["notes"]:
        print(f"- {note}")
