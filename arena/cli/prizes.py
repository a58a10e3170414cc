"""What `arena score` makes of a tournament: its rules and forecasts, everyone's prize, and their page."""

from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import Any

from arena.cli.options import Options
from arena.cli.page import Page
from arena.cli.score import FORECASTER, text_of
from arena.cli.table import Table, TableChoice, TableColumn
from arena.errors import ArenaError, count_text
from arena.record.queries.accounts import read_accounts
from arena.record.queries.cohorts import read_cohorts, select_cohorts
from arena.record.queries.forecasts import read_forecast_columns
from arena.scores.files.tournament import (
    PlayedTournament,
    TournamentSettings,
    read_entries,
    read_settings,
    score_tournament,
)
from arena.scores.metaculus_scores import BASELINES, read_known, tournament_entries
from arena.scores.rules.metaculus.forecasts import Mode

PLACES = (
    TableColumn("rank"),
    FORECASTER,
    TableColumn("score", show="+.3f"),
    TableColumn("coverage", show=".0%", gives_way=1),
    TableColumn("take", show=",.3f", gives_way=1),
    TableColumn("share", show=".1%"),
    TableColumn("prize", "prize $", ",.2f"),
    TableColumn("answered", "questions", gives_way=2),
    TableColumn("excluded", "", lambda yes: "excluded" if yes else ""),
)
FORMS = {
    "peer": "score = sum of peer scores; take = its square, or 0 if the score is negative",
    "2022": "score = sum of relative log scores; take = e^score · coverage",
}
WEIGHTS = ("0", "0.25", "0.5", "0.75", "1")
"""The weights of the hidden period that a sweep tries."""
SWEEP = (FORECASTER, *(TableColumn(x, f"{float(x):.0%}", ",.2f", value=itemgetter(x)) for x in WEIGHTS))


def read_tournament(chosen: Options, file: Path) -> PlayedTournament:
    """Return the tournament of a file, with the forecasts of the CSV beside it or of a cohort."""
    text_of(file)  # it says better than a config's reader that a file is not there
    settings = read_settings(file)
    if settings.cohort is not None:
        return _cohort_tournament(chosen, settings, settings.cohort)
    return PlayedTournament(settings, read_entries(settings.source, text_of(file.parent / settings.source)))


def _cohort_tournament(chosen: Options, settings: TournamentSettings, number: int) -> PlayedTournament:
    """Return a tournament of a cohort's agents; by the form peer those without a model win nothing."""
    with chosen.reading() as connection:
        select_cohorts(read_cohorts(connection), number)
        rows = read_forecast_columns(connection, number)
        known = read_known(connection, rows)
        kinds = {account.agent: account.kind for account in read_accounts(connection, number)}

    entries = tournament_entries(rows, known, settings.hidden or 0)
    agents = {entries.forecaster[place] for place in set(entries.who.tolist())}
    baselines = sorted(name for name in agents if kinds.get(name) in BASELINES)
    changes: dict[str, Any] = {}
    if settings.form == "peer" and len(agents) > len(baselines) + 1:
        changes["exclude"] = (*settings.exclude, *baselines)
        changes["outside"] = (*settings.outside, *baselines)
    if settings.hidden is not None and settings.hidden_weight is None:
        changes["hidden_weight"] = 1.0
    return PlayedTournament(settings.model_copy(update=changes), entries)


def tournament_data(played: PlayedTournament, mode: Mode, sweep: bool) -> dict[str, Any]:
    """Return everyone's place and prize, for JSON."""
    rules = played.rules
    board = score_tournament(rules, played.entries, mode)
    notes = []
    if played.entries.left_out:
        count = count_text(played.entries.left_out, "question")
        notes.append(f"not scored: {count} without an outcome of 0 or 1")
    if not board.places:
        notes.append("nothing resolved: no question has an outcome of 0 or 1, so nobody wins anything")
    elif not any(place.share for place in board.places):
        notes.append("no forecaster has a take above 0, so nobody wins anything")

    data = {
        "form": rules.form,
        "mode": board.mode,
        "pool": rules.pool,
        "hidden_weight": rules.hidden_weight,
        "asked": len(set(played.entries.question.tolist())),
        "rows": [asdict(place) for place in board.places],
        "notes": notes,
    }
    if sweep:
        data["sweep"] = _prizes_by_weight(played, mode)
    return data


def _prizes_by_weight(played: PlayedTournament, mode: Mode) -> list[dict[str, Any]]:
    """Return everyone's prize by the weight of the hidden period."""
    if played.entries.hidden_until is None:
        hint = "add a column hidden_until to its CSV or, with cohort, the key hidden"
        raise ArenaError("no_hidden", "--sweep needs a hidden period", hint, status=64)

    prizes: dict[str, dict[str, float]] = {}
    for weight in WEIGHTS:
        rules = played.rules.model_copy(update={"hidden_weight": float(weight)})
        for place in score_tournament(rules, played.entries, mode).places:
            prizes.setdefault(place.forecaster, {})[weight] = place.prize
    return [{"forecaster": name, "prizes": by_weight} for name, by_weight in prizes.items()]


def tournament_page(data: dict[str, Any], choice: TableChoice) -> Page:
    """Yield the board of a tournament, its rules, and what there is to know."""
    rows = [row | {"answered": f"{row['questions']:,} of {data['asked']:,}"} for row in data["rows"]]
    yield Table(PLACES, rows, choice=choice)
    yield f"Form {data['form']}, mode {data['mode']}: {FORMS[data['form']]}; prizes are shared by take."
    if data["hidden_weight"] is not None:
        counted = "scores and coverage" if data["form"] == "peer" else "coverage"
        yield f"The hidden period counts {data['hidden_weight']:.0%} of {counted}."

    if "sweep" in data:
        swept = [{"forecaster": row["forecaster"]} | row["prizes"] for row in data["sweep"]]
        yield Table(SWEEP, swept, "Prizes by the weight of the hidden period")
    for note in data["notes"]:
        yield f"- {note}"
