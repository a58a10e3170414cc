"""A tournament played: every question scored, and the board with its prizes."""

from collections.abc import Iterator

import numpy as np

from arena.errors import ArenaError
from arena.filed.entries import Entries
from arena.filed.reading import Ints
from arena.filed.rules import Rules
from arena.scoring.metaculus import peer, tournament, tournament_2022
from arena.scoring.metaculus.forecasts import Forecasts, given
from arena.scoring.metaculus.kinds import binary
from arena.scoring.metaculus.question import Mode, Question
from arena.scoring.metaculus.totals import Totals, totals
from arena.scoring.metaculus.tournament import Board
from arena.scoring.metaculus.tournament_2022 import Hidden


def cup(rules: Rules, entries: Entries, mode: Mode = "exact") -> Board:
    """The board of a tournament."""
    _check(rules, entries, mode)
    parts = list(_questions(entries))
    if rules.form == "2022":
        return tournament_2022.board([_of_2022(entries, rows, rules) for rows in parts], rules.pool)
    return tournament.board(
        [_of_peers(entries, rows, rules, mode) for rows in parts],
        pool=rules.pool,
        minimum=rules.minimum_prize / rules.pool if rules.pool else 0.0,
        excluded=rules.exclude,
        weights=[rules.weights.get(entries.questions[entries.question[rows[0]]], 1.0) for rows in parts],
    )


def _check(rules: Rules, entries: Entries, mode: Mode) -> None:
    if rules.form == "2022" and mode != "exact":
        raise ArenaError("no_mode", "a tournament of the form 2022 has one mode", "leave out --mode")
    if rules.hidden_weight is not None and entries.hidden_until is None:
        mend = f"add the column hidden_until to {rules.forecasts}"
        raise ArenaError("no_hidden", "hidden_weight is given, and no question has a hidden period", mend)
    for key, said, there in (
        ("exclude", rules.exclude, entries.forecaster),
        ("outside", rules.outside, entries.forecaster),
        ("weights", rules.weights, entries.questions),
    ):
        for name in said:
            if name not in there:
                what = f"{key} names {name!r}, who or which is not in {rules.forecasts}"
                raise ArenaError("unknown_name", what, "correct the name, or take it out")


def _questions(entries: Entries) -> Iterator[Ints]:
    """The rows of each question."""
    order = np.argsort(entries.question, kind="stable")
    edges = np.flatnonzero(np.diff(entries.question[order])) + 1
    return (rows for rows in np.split(order, edges) if rows.size)


def _question(entries: Entries, rows: Ints) -> Question:
    one = rows[0]
    return Question(*(float(x[one]) for x in (entries.opens, entries.closes, entries.scheduled)))


def _forecasts(entries: Entries, rows: Ints, outside: tuple[str, ...] = ()) -> Forecasts:
    """The forecasts of one question, read at what happened."""
    who = [entries.forecaster[place] for place in entries.who[rows].tolist()]
    base = [name not in outside for name in who]
    start, end, said = entries.start[rows], entries.end[rows], entries.said[rows]
    if entries.outcome is None:
        return given(who, start, said, end, base)
    return binary(who, start, said, bool(entries.outcome[rows[0]] == 1), end, base)


def _of_peers(entries: Entries, rows: Ints, rules: Rules, mode: Mode) -> Totals:
    forecasts = _forecasts(entries, rows, rules.outside)
    return totals(forecasts, peer.score(_question(entries, rows), forecasts, mode))


def _of_2022(entries: Entries, rows: Ints, rules: Rules) -> Totals:
    forecasts, hidden = _forecasts(entries, rows), None
    if entries.hidden_until is not None and not np.isnan(entries.hidden_until[rows[0]]):
        hidden = Hidden(float(entries.hidden_until[rows[0]]), rules.hidden_weight)
    return totals(forecasts, tournament_2022.score(_question(entries, rows), forecasts, hidden))
