"""`arena score` and `arena score`: anyone's forecasts, scored from a file."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arena.cli.options import Options, argument, command, flag, option
from arena.cli.output import plain
from arena.cli.page import print_table, print_text
from arena.cli.table import TableChoice, TableColumn, between
from arena.errors import ArenaError, count_text, times_text
from arena.scores.files.bench_columns import bench_columns
from arena.scores.files.csv_columns import cells_of, decode
from arena.scores.files.forecastbench import (
    read_forecast_file,
    read_question_set,
    read_resolution_set,
    strictly,
)
from arena.scores.files.forecasts import (
    COLUMNS,
    REQUIRED_COLUMNS,
    ForecastTable,
    check_forecasts,
    read_forecasts,
)
from arena.scores.files.scores import FileScores, ForecasterScores, ScoreChoices, row_data, score_file
from arena.scores.verdict import better_text, rank_text, verdict_data


def text_of(file: Path) -> str:
    """The text of a file in UTF-8 or UTF-16; `-` is the standard input."""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise ArenaError(
            "no_file", f"{file} can't be read: {error.strerror}", "name a file that exists"
        ) from error
    return decode(str(file), data)


if TYPE_CHECKING:
    from arena.scores.files.tournament import PlayedTournament

FORECASTER = TableColumn("forecaster", show=plain, narrow="cut middle")


def span_of(mean: str, show: str) -> TableColumn:
    """The interval of a mean, where it has one."""

    def write(row: Any) -> str | None:
        span = row.intervals.get(mean)
        return None if span is None else f"{span[0]:{show}} to {span[1]:{show}}"

    return TableColumn(f"{mean}_interval", f"{mean} 95%", value=write, gives_way=3)


RANK = TableColumn("rank", "ranks", value=lambda row: rank_text(row.rank_low, row.rank_high))


def _better_than(entries: int) -> TableColumn:
    """Return the column that says how many of the other entries a forecaster is better than."""
    return TableColumn(
        "better_than",
        "better than",
        value=lambda row: None if row.rank_low is None else better_text(row.better_than, entries),
        gives_way=1,
    )


SKILL = (
    TableColumn("skill", show="+.4f"),
    TableColumn("interval", "95% interval", value=between("skill_low", "skill_high")),
    TableColumn("evidence", show=times_text, gives_way=1),
)
FULL = {
    "brier": TableColumn("brier_filled", "Brier, all", ".4f", value="filled.brier"),
    "baseline": TableColumn("baseline_filled", "baseline, all", "+.2f", 3, value="filled.baseline"),
    "peer": TableColumn("peer_filled", "peer, all", "+.2f", 2, value="filled.peer"),
}
"""Means over all questions, beside those over each one's own where these differ."""
BRIER = (TableColumn("brier", "Brier", ".4f"), span_of("brier", ".4f"))
ADJUSTED = (TableColumn("adjusted", show=".4f"), span_of("adjusted", ".4f"))
GAP = (
    TableColumn("gap", "ahead of {against}", "+.4f", value="gap.gap"),
    TableColumn("gap_interval", "95% interval", value=between("gap.low", "gap.high")),
    TableColumn("gap_questions", "common", ",d", value="gap.questions", gives_way=6),
)
LOG = TableColumn("log", show=".4f", gives_way=5)
METACULUS = (
    TableColumn("baseline", show="+.2f", gives_way=3),
    span_of("baseline", "+.1f"),
    TableColumn("peer", show="+.2f", gives_way=2),
    span_of("peer", "+.1f"),
    TableColumn("relative", show="+.3f", gives_way=6),
)
SPOT = (
    TableColumn("spot_baseline", "spot baseline", "+.2f", gives_way=4),
    TableColumn("spot_peer", "spot peer", "+.2f", gives_way=4),
)
AUTOCAST = (
    TableColumn("true_false", "T/F", ".4f", value="autocast.true_false"),
    TableColumn("multiple_choice", "MCQ", ".4f", value="autocast.multiple_choice"),
    TableColumn("numeric", show=".4f", value="autocast.numeric"),
    TableColumn("combined", show=".4f", value="autocast.combined"),
)
HALVES = (
    TableColumn("dataset", show=".4f", value="halves.dataset"),
    TableColumn("market", show=".4f", value="halves.market"),
    TableColumn("overall", show=".4f", value="halves.overall"),
    TableColumn("index", show=".1f", value="halves.index"),
)
FIRST = {"skill": (), "metaculus": METACULUS, "forecastbench": HALVES, "autocast": AUTOCAST}
"""The columns that come first by rule."""
PARTS = tuple(
    TableColumn(name, show=".4f", value=f"parts.{name}", gives_way=4)
    for name in ("reliability", "resolution", "uncertainty", "miscalibration", "discrimination")
)
COUNTS = (
    TableColumn("coverage", show=".0%", gives_way=5),
    TableColumn("forecasts", show=",d", gives_way=1),
    TableColumn("questions", show=",d", gives_way=7),
    TableColumn("events", show=",d", gives_way=8),
)
UNRANKED = (
    FORECASTER,
    TableColumn("why_not", "why not", narrow="wrap"),
    FULL["brier"],
    TableColumn("brier", "Brier*", ".4f"),
    TableColumn("forecasts", show=",d", gives_way=1),
    TableColumn("questions", show=",d", gives_way=1),
)
BESIDE = ("adjusted", "adjusted_interval", "gap", "gap_interval")
"""What says something of those too who have answered less."""
LEGEND = "Brier: lower is better, the others: higher. Mode {mode}."
SKILL_LEGEND = "Skill: the market's Brier − the forecaster's. "


def columns_of(rows: Sequence[ForecasterScores], choices: ScoreChoices) -> tuple[TableColumn, ...]:
    """Return the columns that some row has something in, or that were asked for."""
    shown = _scores_of(rows, choices)
    entries = sum(row.rank_low is not None for row in rows)
    if choices.rule == "skill" and entries:
        shown = [RANK, FORECASTER, _better_than(entries), *shown]
    else:
        shown = [FORECASTER, *shown]
    if any(row.missing for row in rows):
        shown = [each for column in shown for each in _with_all(column, choices.rule)]

    known: dict[str, bool] = {}
    for row in rows:
        for mean, span in row.intervals.items():
            name = f"{mean}_interval"
            known[name] = known.get(name, False) or span is not None
    return tuple(column for column in shown if known.get(column.name, True))


def _scores_of(rows: Sequence[ForecasterScores], choices: ScoreChoices) -> list[TableColumn]:
    """Return the columns of scores and counts."""
    shown = [*FIRST[choices.rule]]
    if any(row.skill is not None for row in rows):
        shown += SKILL
    if choices.adjusted:
        shown += ADJUSTED
    if choices.against is not None:
        against = plain(choices.against)
        shown += [replace(column, heading=column.title.format(against=against)) for column in GAP]
    shown += [*BRIER, LOG]
    if choices.rule != "metaculus":
        shown += METACULUS
    if any(row.spot_baseline is not None for row in rows):
        shown += SPOT
    if choices.parts:
        shown += PARTS
    return [*shown, *COUNTS]


def _with_all(column: TableColumn, rule: str) -> tuple[TableColumn, ...]:
    """A column; where it is a mean over the questions that were answered it says so, beside that over all."""
    mean = column.name.removesuffix("_interval")
    if mean not in (*FULL, "log", "relative", "spot_baseline", "spot_peer"):
        return (column,)
    own = replace(column, heading=f"{column.title}*")
    is_known = column.name in FULL and (mean == "brier" or rule == "metaculus")
    return (FULL[mean], own) if is_known else (own,)


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


Mode = Literal["exact", "metaculus"]
MODE = option("Metaculus's scores as documented, or as its site computes them.", default="exact")


@command(record=False, table=True)
def score(
    chosen: Options,
    files: list[Path] = argument(
        "FILE…", "CSV, JSONL, an export, or ForecastBench's; - reads standard input."
    ),
    questions: list[Path] | None = option("ForecastBench's question set; once for each round.", "FILE"),
    resolutions: list[Path] | None = option("ForecastBench's resolution set; once for each round.", "FILE"),
    mode: Mode = MODE,
    by: Literal["category"] | None = option("One table for each category."),
    rule: Literal["skill", "metaculus", "forecastbench", "autocast"] = option(
        "Which scores come first and set the order.", default="skill"
    ),
    against: str | None = option("Compare all with this one.", "NAME"),
    adjusted: bool = flag("Adjust Brier scores for how hard the questions were."),
    outside: list[str] | None = option("Leave out of comparisons, such as a baseline; repeatable.", "NAME"),
    provisional: bool = flag("Score open questions at their latest price."),
    community: bool = flag("Score the median of all as a forecaster."),
    parts: bool = flag("Split Brier scores into reliability, resolution and more."),
) -> None:
    """Score anyone's forecasts, without an arena.

    The first line names the columns: question, forecaster, probability (of YES: 0.35 or 35%) and outcome (1
    or yes, 0 or no, empty while open); others are renamed by --columns question=TITLE,probability=P. Other
    columns add skill against the market (market_probability), intervals that allow for questions that move
    together (event), who is better (time, resolved), scores over each question's life (time, open, close,
    scheduled_close) and spot scores (spot). Questions of several options have a line for each; of numbers the
    columns low, high and cdf, or quantiles q5, q50, …. Forecasters with less than 80% of the questions are
    not ranked; a file with a mistake is not scored.

    Example: arena score forecasts.csv --against ann

    Next: arena score shares out prizes.
    """
    bench = BenchSets(tuple(questions or ()), tuple(resolutions or ()), provisional)
    named, wanted = split_columns(chosen.table.columns)
    chosen.table = replace(chosen.table, columns=wanted)
    table = table_of(files, named, bench)
    if by is not None and table.category is None:
        raise ArenaError("no_category", f"{table.name} has no column category", "add it, or leave out --by")
    choices = ScoreChoices(
        table.outside if outside is None else tuple(outside),
        against,
        adjusted,
        provisional,
        community,
        parts,
        rule,
    )
    found = score_file(table, mode, by_category=by is not None, choices=choices)
    data = {"mode": found.mode, "notes": found.notes}
    data |= verdict_data(found.verdict) | {"rows": [row_data(row) for row in found.rows]}
    chosen.answer(data, say, found, choices, chosen.table)


@dataclass(frozen=True, slots=True)
class BenchSets:
    """ForecastBench's sets that go with files of forecasts, and whether open markets count by their price."""

    questions: tuple[Path, ...]
    resolutions: tuple[Path, ...]
    provisional: bool


def table_of(files: Sequence[Path], named: dict[str, str], bench: BenchSets) -> ForecastTable:
    """The forecasts of a file, of what `arena share export` has written, or of files of ForecastBench."""
    from arena.exports.forecast_columns import forecasts_of_export, is_export_at

    if len(files) == 1 and is_export_at(files[0]):
        columns, as_of, baselines = forecasts_of_export(files[0])
        table = check_forecasts(cells_of(str(files[0]), columns, REQUIRED_COLUMNS, COLUMNS))
        outside = tuple(name for name in baselines if name in table.forecasters)
        if outside and len(table.forecasters) > len(outside) + 1:
            words = f"outside, as on the leaderboard: {', '.join(outside)}"
            table = replace(table, outside=outside, notes=(*table.notes, words))
        return table if as_of is None else replace(table, as_of=as_of.timestamp())
    texts = [(str(file), text_of(file)) for file in files]
    if bench.questions or bench.resolutions or all(is_bench(text) for _, text in texts):
        return bench_table(texts, bench)
    if len(texts) > 1:
        hint = "put all forecasts into one file; only ForecastBench's may be several"
        raise ArenaError("many_files", f"{len(texts)} files of forecasts are given", hint, status=64)
    return read_forecasts(*texts[0], named)


def is_bench(text: str) -> bool:
    """Whether a text looks like what ForecastBench is sent: one object with a list of forecasts.

    >>> is_bench('{"organization": "us", "forecasts": []}'), is_bench('{"question": "a"}\\n{"question": "b"}')
    (True, False)
    """
    return text.lstrip()[:1] == "{" and '"forecasts":' in text and not text.lstrip().startswith('{"question"')


def bench_table(texts: Sequence[tuple[str, str]], bench: BenchSets) -> ForecastTable:
    """The forecasts of files of ForecastBench; each of them has to be without fault."""
    columns, notes = bench_columns(
        [strictly(read_forecast_file, name, text) for name, text in texts],
        [strictly(read_question_set, str(file), text_of(file)) for file in bench.questions],
        [strictly(read_resolution_set, str(file), text_of(file)) for file in bench.resolutions],
        provisional=bench.provisional,
    )
    table = check_forecasts(cells_of(texts[0][0], columns, REQUIRED_COLUMNS, COLUMNS))
    return replace(table, notes=tuple(notes))


def split_columns(text: str) -> tuple[dict[str, str], str]:
    """What --columns says: which columns of the file are ours, and which of the table are to be shown.

    >>> split_columns("question=title,brier,peer")
    ({'question': 'title'}, 'brier,peer')
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    pairs = (part.partition("=") for part in parts if "=" in part)
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}, ",".join(
        part for part in parts if "=" not in part
    )


def say(found: FileScores, choices: ScoreChoices, choice: TableChoice) -> None:
    """The same in words: a table for each category, and what there is to know."""
    if found.verdict is not None:
        for sentence in filter(None, (found.verdict.sentence, found.verdict.guarantee)):
            print_text(plain(sentence))
        print()
    shown = columns_of(found.rows, choices)
    for category in dict.fromkeys(row.category for row in found.rows):
        rows = [row for row in found.rows if row.category == category]
        title = "" if category is None else plain(category) or "(no category)"
        ranked, others = ([row for row in rows if row.ranked == wanted] for wanted in (True, False))
        if ranked:
            print_table(shown, ranked, title, choice)
        if others:
            columns = (*UNRANKED, *(column for column in shown if column.name in BESIDE))
            print_table(columns, others, f"{title}: not ranked" if title else "Not ranked")
    has_skill = any(row.skill is not None for row in found.rows)
    print((SKILL_LEGEND if has_skill else "") + LEGEND.format(mode=found.mode))
    for note in found.notes:
        print(f"- {note}")


Form = Literal["peer", "2022"]
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The weights of the hidden period that a sweep tries."""


@command(table=True)
def tournament(
    chosen: Options,
    file: Path | None = argument("FILE", "A YAML file: form, pool, forecasts.", default=None),
    cohort: int | None = option("The agents of this cohort, without a file.", min=1),
    pool: float | None = option("(--cohort) The prize pool, in dollars.", min=0),
    form: Form | None = option("(--cohort) The rules; peer unless said."),
    hidden: int | None = option("(--cohort) Count only a market's first rounds, its hidden period.", min=1),
    sweep: bool = flag("Everyone's prize by the weight of the hidden period."),
    mode: Mode = MODE,
) -> None:
    """Share out a tournament's prizes by Metaculus's rules.

    The file says `form: peer` (since 2024) or `form: 2022`, `pool:` in dollars and `forecasts:`, a CSV
    beside it with the columns question, forecaster, probability and outcome, and optionally time, end,
    open, close and scheduled_close; chance, the probability or density given to what happened, may
    replace probability and outcome. `form: peer` takes minimum_prize, exclude (from prizes), outside (of
    the comparison) and weights. hidden_weight is what the time until hidden_until counts: in coverage
    and, by the form peer, in scores. With --cohort its agents play for the pool on its markets; by the
    form peer baselines, which ask no model, are outside and win nothing.

    Example: arena score cup.yaml

    Next: arena score FILE.csv gives everyone's other scores.
    """
    if (file is None) == (cohort is None):
        hint = "arena score cup.yaml, or arena score --cohort 1 --pool 1000"
        raise ArenaError("no_tournament", "name either a file or a cohort", hint, status=64)
    if cohort is not None:
        played = cohort_tournament(chosen, cohort, form or "peer", pool or 0.0, hidden)
    elif file is not None and (pool, form, hidden) == (None, None, None):
        played = _file_tournament(file)
    else:
        hint = "write form: and pool: in the file, and hidden_until in its CSV"
        raise ArenaError("two_rules", "--pool, --form and --hidden are for --cohort", hint, status=64)
    found = _tournament_data(played, mode, sweep=sweep)
    chosen.answer(found, _say_places, found, chosen.table)


def _file_tournament(file: Path) -> "PlayedTournament":
    from arena.scores.files.tournament import PlayedTournament, read_entries, read_settings

    text_of(file)  # which says better than a config's reader that a file is not there
    said = read_settings(file)
    return PlayedTournament(said, read_entries(said.forecasts, text_of(file.parent / said.forecasts)))


def cohort_tournament(
    chosen: Options, number: int, form: Form, pool: float, hidden: int | None
) -> "PlayedTournament":
    """The agents of a cohort as forecasters."""
    from arena.record.queries.accounts import read_accounts
    from arena.record.queries.cohorts import read_cohorts, select_cohorts
    from arena.record.queries.forecasts import read_forecast_columns
    from arena.scores.files.tournament import PlayedTournament, TournamentSettings
    from arena.scores.metaculus_scores import BASELINES, read_known, tournament_entries

    with chosen.reading() as connection:
        select_cohorts(read_cohorts(connection), number)
        rows = read_forecast_columns(connection, number)
        known = read_known(connection, rows)
        kinds = {account.agent: account.kind for account in read_accounts(connection, number)}
    entries = tournament_entries(rows, known, hidden or 0)
    played = {entries.forecaster[place] for place in set(entries.who.tolist())}
    models = {name for name in played if kinds.get(name) not in BASELINES}
    outside = tuple(sorted(played - models)) if form == "peer" and len(models) > 1 else ()
    said = TournamentSettings(
        form=form,
        forecasts=f"cohort {number}",
        pool=pool,
        minimum_prize=0,
        exclude=outside,
        outside=outside,
        weights={},
        hidden_weight=None if hidden is None else 1.0,
    )
    return PlayedTournament(said, entries)


def _tournament_data(played: "PlayedTournament", mode: Mode, *, sweep: bool) -> dict[str, Any]:
    from arena.scores.files.tournament import score_tournament

    said, left_out = played.rules, played.entries.left_out
    found = score_tournament(said, played.entries, mode)
    asked = len(set(played.entries.question.tolist()))
    notes = []
    if left_out:
        count = count_text(left_out, "question")
        notes.append(f"not scored: {count} without an outcome of 0 or 1")
    if not found.places:
        notes.append("nothing resolved: no question has an outcome of 0 or 1, so nobody wins anything")
    elif not any(place.share for place in found.places):
        notes.append("no forecaster has a take above 0, so nobody wins anything")
    data = {
        "form": said.form,
        "mode": found.mode,
        "pool": said.pool,
        "hidden_weight": said.hidden_weight,
        "asked": asked,
        "rows": [asdict(place) for place in found.places],
        "notes": notes,
    }
    if sweep:
        data["sweep"] = _sweep_data(played, mode)
    return data


def _sweep_data(played: "PlayedTournament", mode: Mode) -> list[dict[str, Any]]:
    from arena.scores.files.tournament import score_tournament

    if played.entries.hidden_until is None:
        hint = "with a file: a column hidden_until; with --cohort: --hidden 2"
        raise ArenaError("no_hidden", "--sweep needs a hidden period", hint, status=64)
    prizes: dict[str, dict[str, float]] = {}
    for weight in WEIGHTS:
        rules = played.rules.model_copy(update={"hidden_weight": weight})
        for place in score_tournament(rules, played.entries, mode).places:
            prizes.setdefault(place.forecaster, {})[f"{weight:g}"] = place.prize
    return [{"forecaster": name, "prizes": by_weight} for name, by_weight in prizes.items()]


def _say_places(found: dict[str, Any], choice: TableChoice) -> None:
    rows = [row | {"answered": f"{row['questions']:,} of {found['asked']:,}"} for row in found["rows"]]
    print_table(PLACES, rows, choice=choice)
    print(f"Form {found['form']}, mode {found['mode']}: {FORMS[found['form']]}; prizes are shared by take.")
    if found["hidden_weight"] is not None:
        counted = "scores and coverage" if found["form"] == "peer" else "coverage"
        print(f"The hidden period counts {found['hidden_weight']:.0%} of {counted}.")
    if "sweep" in found:
        columns = [
            TableColumn(f"{weight:g}", f"{weight:.0%}", ",.2f", value=itemgetter(f"{weight:g}"))
            for weight in WEIGHTS
        ]
        rows = [{"forecaster": row["forecaster"]} | row["prizes"] for row in found["sweep"]]
        print_table((FORECASTER, *columns), rows, "Prizes by the weight of the hidden period")
    for note in found["notes"]:
        print(f"- {note}")
