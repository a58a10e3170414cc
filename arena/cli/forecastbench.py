"""`arena forecastbench`: its question sets, answers to them, and its boards."""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from arena.cli.options import CLOCK_FILE, DEFAULT, Options, argument, clock_of, command, flag, option
from arena.cli.output import plain, progress
from arena.cli.page import print_table
from arena.cli.score import text_of
from arena.cli.table import TableChoice, TableColumn
from arena.errors import ArenaError, FileFault, FileFaults, count_text
from arena.scores.files.forecastbench import (
    ForecastFile,
    QuestionSet,
    Submitter,
    check_answers,
    coverage,
    in_row_order,
    is_day,
    read_forecast_file,
    read_question_set,
    read_resolution_set,
    strictly,
    submission,
)

if TYPE_CHECKING:
    from arena.record.model.benchmark import BenchmarkFile
    from arena.rounds.benchmark_rounds import ResolvedRound
    from arena.scores.files.forecastbench_board import BenchBoard, Forecasters

TEAM = re.compile(r"[\w-][\w -]*")


BoardMode = Literal["tournament", "baseline", "preliminary", "paper"]
QUESTION_FILES = option("A question set; once for each round.", "FILE")
COMBINATIONS = flag("Also questions about two others at once, as in 2024.")


def question_sets(chosen: Options, files: Sequence[Path], combinations: bool = False) -> list[QuestionSet]:
    """The question sets of files, else of the record; they have to be without fault."""
    texts = [(str(file), text_of(file)) for file in files]
    texts = texts or [(kept.name, kept.text) for kept in kept_files(chosen, "questions")]
    sets = [strictly(read_question_set, name, text, combinations) for name, text in texts]
    for place, one in enumerate(sets):
        if one.due in {other.due for other in sets[:place]}:
            raise ArenaError("two_sets", f"there are two question sets of {one.due}", "name one of a round")
    return sets


FAULTS = (
    TableColumn("file", narrow="cut middle", gives_way=2),
    TableColumn("row"),
    TableColumn("field", show=plain),
    TableColumn("message", "fault", plain, narrow="wrap"),
    TableColumn("mend", "remedy", plain, narrow="wrap", value="hint"),
)


@command()
def fetch(
    chosen: Options,
    due: str | None = option("The round due that day, not the newest.", "DATE"),
    source: str | None = option(
        "A folder of the files, or an address with question_sets/ and resolution_sets/.", "DIR|URL", "--from"
    ),
    folder: Path | None = option("Also write the file there.", "DIR", "--output", "-o"),
    resolutions: bool = flag("Fetch resolutions, of all rounds that are kept."),
    clock: Path | None = CLOCK_FILE,
) -> None:
    """Store a round's question set, or all resolutions, in the record, byte for byte, with its SHA-256.

    A changed file becomes a new version. Only whole and valid files are kept.

    In a resolution set, open markets have the crowd's probability of the day before; changed outcomes are
    listed. A round's first resolutions appear some ten days after it was due.

    Example: arena study forecastbench fetch --due 2026-03-01 --from datasets

    Next: arena study forecastbench run
    """
    if resolutions:
        if due is not None or folder is not None:
            words = "--resolutions are of all rounds, and go into the record alone"
            raise ArenaError("two_questions", words, "leave out --due and -o", status=64)
        fetch_resolutions(chosen, source, clock)
        return
    from arena.rounds.benchmark_rounds import PUBLISHED, FileSource, fetch_questions

    if due is not None and not is_day(due):
        raise ArenaError("bad_day", f"{due!r} is not a day", "write it like 2026-03-01", status=64)
    with chosen.writing() as record, progress("Fetching the question set"):
        kept, is_new = fetch_questions(record, FileSource(source or PUBLISHED), due, clock_of(clock)().now())
    if folder is not None:
        write_file(folder / kept.name, kept.text)
    asked: QuestionSet = strictly(read_question_set, kept.name, kept.text)
    rows = {kind: wanted for kind, (_, wanted) in coverage(set(), asked).items()}
    data = {"name": kept.name, "due": kept.due, "version": kept.version, "sha256": kept.sha256, "new": is_new}
    data |= {"questions": len(asked.questions), "rows": rows}
    words = (
        f"{kept.name}: {'kept' if is_new else 'was kept before'}, version {kept.version}, due {kept.due}\n"
        f"  {count_text(len(asked.questions), 'question')}: {rows['market']:,} market rows, "
        f"{rows['dataset']:,} data rows\n  SHA-256 {kept.sha256}"
    )
    chosen.answer(data, print, words)


@command()
def file(
    chosen: Options,
    organization: str = option("The team that files it.", "ORG", "--as", default=...),
    model: str = option("Its name on the board.", "M", default=...),
    folder: Path = option("The folder to write to.", "DIR", "--output", "-o", default=...),
    answers: Path | None = argument(
        "[ANSWERS.csv]", "One forecast per line; without it, an agent's.", default=None
    ),
    agent: str | None = option("The agent of the record, if not named M.", "NAME"),
    cohort: int | None = option("Its answers in this cohort, not the newest.", "N"),
    lab: str | None = option("Who made the model, if not the team.", "NAME"),
    number: int = option("Which of the team's files for the round.", "", "--n", default=1, min=1, max=3),
    due: str | None = option("The round due that day, not the newest.", "DATE"),
    questions: list[Path] | None = QUESTION_FILES,
) -> None:
    """Write answers as a submission in the published form, or list what is wrong with them.

    The answers are an agent's, stored by `run`, or those of a CSV with the columns source, id,
    resolution_date (empty for a market), forecast (0 to 1) and optionally reasoning. Nothing is written if an
    answer is invalid, or if less than 95% of the market rows or of the data rows are answered.

    Example: arena study forecastbench file --as us --model sharp -o filed

    Next: arena study forecastbench file --check FILE
    """
    if not TEAM.fullmatch(organization):
        what = f"{organization!r} can't be part of a file's name"
        raise ArenaError("bad_name", what, "use letters, digits, spaces, - and _", status=64)
    sets = [one for one in question_sets(chosen, questions or ()) if due in (None, one.due)]
    if not sets:
        hint = "arena study forecastbench fetch, or name it with --questions"
        raise ArenaError("no_questions", f"there is no question set{f' due {due}' if due else ''}", hint)
    asked = max(sets, key=lambda one: one.due)
    by = Submitter(organization, model, lab or organization, number)
    name, text = (
        answers_of(chosen, asked, agent or model, cohort)
        if answers is None
        else (str(answers), text_of(answers))
    )
    data, filed, faults = submission(name, text, by, asked)
    if faults:
        raise FileFaults(faults)
    target = folder / f"{asked.due}.{organization}.{number}.json"
    write_file(target, f"{json.dumps(data, indent=2, ensure_ascii=False)}\n", "choose another --n")
    words = f"{target}: {count_text(len(filed.rows), 'forecast')} for {asked.name}, due {asked.due}"
    found = {"file": target, "forecasts": len(filed.rows), "question_set": asked.name, "due": asked.due}
    chosen.answer(found, print, words)


def write_file(target: Path, text: str, otherwise: str = "choose another folder") -> None:
    """Write a file; another one of the name is left as it is."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and target.read_bytes() != text.encode():
            raise ArenaError("exists", f"{target} already exists with other content", otherwise)
        target.write_bytes(text.encode())
    except OSError as error:
        raise ArenaError("unwritable", f"{target}: {error.strerror}", "name a writable folder") from error


def answers_of(chosen: Options, asked: QuestionSet, agent: str, cohort: int | None) -> tuple[str, str]:
    """Where an agent's newest answers to a set are from, and they as a CSV."""
    from arena.rounds.forecasting import answers_csv, read_recorded_answers

    with chosen.reading() as connection:
        every = read_recorded_answers(connection, [asked.due])
    found = [one for one in every if cohort in (None, one.cohort)]
    own = [one for one in found if agent in (one.agent, one.filed.model)]
    if not own:
        known = (
            ", ".join(dict.fromkeys(one.agent for one in found)) or "none yet: arena study forecastbench run"
        )
        words = f"there are no answers of {agent!r} to {asked.name}"
        raise ArenaError("no_answers", words, f"agents with answers: {known}")
    newest = max(own, key=lambda one: one.cohort)
    return newest.filed.file, answers_csv(newest)


def fetch_resolutions(chosen: Options, source: str | None, clock: Path | None) -> None:
    """Keep the resolutions of all rounds in the record, and say what is new in them."""
    from arena.rounds.benchmark_rounds import PUBLISHED, FileSource, resolve_rounds

    with chosen.writing() as record, progress("Fetching resolutions"):
        resolved, waiting = resolve_rounds(record, FileSource(source or PUBLISHED), clock_of(clock)().now())
    data = {"rounds": [asdict(one) for one in resolved], "waiting": waiting}
    chosen.answer(data, _say_resolved, resolved, waiting)


def _say_resolved(resolved: "list[ResolvedRound]", waiting: list[str]) -> None:
    for one in resolved:
        print(f"{one.name}: version {one.version}{', new' if one.is_new else ', as before'}")
        at = f" at the crowd's probability of {one.priced_at}" if one.open else ""
        markets = count_text(one.market, "market")
        print(f"  resolved: {one.dataset:,} data rows, {markets}; open: {one.open:,}{at}")
        if one.is_new and one.version > 1:
            print(f"  new rows: {one.added:,}; prices moved: {one.moved:,}; gone: {one.gone:,}")
        for text in one.corrected:
            print(f"  corrected: {plain(text)}")
    for name in waiting:
        print(f"{name}: no resolutions yet")


def kept_files(chosen: Options, kind: str) -> "list[BenchmarkFile]":
    """The newest files of a kind in the record, where there is one."""
    from arena.record.queries.benchmark import newest_files
    from arena.record.schema.database import NoRecord

    if chosen.config is None and chosen.database is None and not DEFAULT.exists():
        return []
    try:
        with chosen.reading() as connection:
            return newest_files(connection, kind)
    except NoRecord:
        return []


@command(table=True)
def check(
    chosen: Options,
    files: list[Path] = argument("FILE...", "Files of forecasts."),
    questions: list[Path] | None = QUESTION_FILES,
    combinations: bool = COMBINATIONS,
) -> None:
    """Check files of forecasts; every error is listed by row and field, with its fix.

    Rows count from 1. With the round's question set, ids, dates and coverage are checked as well: a
    submission with less than 95% of the market rows or of the data rows is dropped. With any error the exit
    status is 1.

    Example: arena study forecastbench file --check 2026-03-01.us.1.json --questions 2026-03-01-llm.json

    Next: arena study forecastbench board
    """
    sets = {one.due: one for one in question_sets(chosen, questions or (), combinations)}
    found: list[FileFault] = []
    answered: list[dict[str, Any]] = []
    for file in files:
        try:
            filed, faults = read_forecast_file(str(file), text_of(file), combinations)
        except ArenaError as error:  # the other files are checked all the same
            found.append(FileFault(str(file), "file", error.message, error.hint))
            continue
        asked = sets.get(filed.due) or (next(iter(sets.values())) if len(sets) == 1 else None)
        if sets and asked is None:
            due = filed.due or "no day"
            faults.append(FileFault(str(file), "forecast_due_date", f"no set is of {due}", "name it"))
        found += in_row_order(faults if asked is None else [*faults, *check_answers(filed, asked)])
        answered.append(
            {"file": file, "forecasts": len(filed.rows), "combinations": filed.combinations,
             "question_set": None if asked is None else asked.name}
        )  # fmt: skip
    data = {"files": answered, "faults": [fault.as_data() for fault in found]}
    chosen.answer(data, _say_faults, answered, found, chosen.table)
    if found:
        raise typer.Exit(1)


def _say_faults(answered: list[dict[str, Any]], found: list[FileFault], choice: TableChoice) -> None:
    if found:
        print_table(FAULTS, found, choice=choice)
    for one in answered:
        wrong = sum(fault.file == str(one["file"]) for fault in found)
        against = one["question_set"] or "no question set, so ids and coverage are not checked"
        left = f", {one['combinations']:,} about two questions left out" if one["combinations"] else ""
        verdict = count_text(wrong, "fault") if wrong else "no fault"
        print(f"{one['file']}: {count_text(one['forecasts'], 'forecast')}{left}: {verdict}")
        print(f"  checked against {against}")


@command(table=True)
def board(
    chosen: Options,
    files: list[Path] | None = argument(
        "[FILE...]", "Files of forecasts, or a CSV that joins them.", default=None
    ),
    mode: BoardMode = option("Which board.", default="tournament"),
    questions: list[Path] | None = QUESTION_FILES,
    resolutions: list[Path] | None = option("A resolution set; once for each round.", "FILE"),
    median: str | None = option("The median of individual forecasters, as one.", "NAME"),
    difficulty: Literal["two_way", "market_brier"] | None = option(
        "How hard markets were; else as the site has it."
    ),
    by: Literal["source", "horizon", "round"] | None = option("Also plain means, on the questions of each."),
    against: str | None = option("Compare everybody with this forecaster.", "NAME"),
    combinations: bool = COMBINATIONS,
    agents: bool = flag("With files: also the agents of the record."),
    every_round: bool = flag("Also the rounds that the site leaves out."),
    clock: Path | None = CLOCK_FILE,
    as_csv: bool = flag("Print CSV, in the columns of the source.", "--csv"),
    as_html: bool = flag("Print a page with the same table.", "--html"),
) -> None:
    """Rank forecasters by ForecastBench's rules: the agents of the record, those of files, or both.

    Modes: tournament, baseline (its own models), preliminary (data questions alone) and paper: plain
    means, open markets scored against the crowd's latest probability, and two intervals, the source's,
    and one by cluster, which allows for horizons and rounds of one question that move together. What
    isn't scored is counted and named. Without question sets, questions are those that resolved. With
    --by, --csv and --html have the parts. As on the site, the tournament and the baseline board leave out
    rounds due less than 50 days ago or with under 50 markets or 225 data rows resolved; a note names them.

    Example: arena study forecastbench board --mode paper --questions Q.json --resolutions R.json
    FORECASTS.json

    Next: arena study forecastbench file --check FILE says what is wrong with a file.
    """
    from arena.scores.files.forecastbench_board import make_board

    if as_csv + as_html + chosen.json > 1:
        raise ArenaError("two_forms", "--csv, --html and --json can't be combined", "ask for one", status=64)
    sources = (questions or (), resolutions or ())
    recorded = recorded_files(chosen) if agents or not files else []
    found = gathered(chosen, files or (), *sources, mode, median, combinations, recorded)
    today = None if every_round else clock_of(clock)().now().date()
    made = make_board(found, mode, today, difficulty=difficulty, by=by, against=against)
    rows = [_row_data(made, row) for row in made.scores]
    if as_csv or as_html:
        lines = _paper_lines(rows) if mode == "paper" else _site_lines(rows, mode)
        lines = lines if by is None else _group_lines(made)
        print(csv_text(lines) if as_csv else html_text(lines, f"{mode.capitalize()} board"), end="")
        return
    data = {"mode": mode, "rows": rows, "groups": [asdict(one) for one in made.groups]}
    chosen.answer(data | {"notes": list(made.notes)}, _say_board, made, rows, against, chosen.table)


def gathered(
    chosen: Options,
    files: Sequence[Path],
    questions: Sequence[Path],
    resolutions: Sequence[Path],
    mode: str,
    median: str | None,
    combinations: bool,
    recorded: Sequence[ForecastFile] = (),
) -> "Forecasters":
    """The forecasts of files and of the record's agents beside what their questions came to."""
    from arena.scores.files.forecastbench_board import gather, read_table

    texts = [(str(file), text_of(file)) for file in files]
    tables = [each for each in texts if not each[1].lstrip().startswith(("{", "["))]
    if tables:
        if len(texts) > 1 or questions or resolutions or median:
            hint = "name it alone: it already has outcomes and forecasters"
            raise ArenaError("bad_file", f"{tables[0][0]} is a CSV that joins forecasts", hint)
        return read_table(*tables[0])
    closed = [(str(file), text_of(file)) for file in resolutions]
    sets = question_sets(chosen, questions, combinations)
    if not (closed or questions):
        closed = [(kept.name, kept.text) for kept in kept_files(chosen, "resolutions")]
    resolved = [strictly(read_resolution_set, name, text, combinations) for name, text in closed]
    filed = [strictly(read_forecast_file, name, text, combinations) for name, text in texts]
    dues = {one.due for one in resolved} if recorded else set()
    dues &= {one.due for one in sets} if sets else dues
    filed += [one for one in recorded if one.due in dues]
    if not filed:
        what = "nothing to score: no agent has answered a round with stored resolutions"
        raise ArenaError(
            "nothing",
            what,
            "arena study forecastbench run, then fetch --resolutions; or name files of forecasts",
        )
    return gather(filed, sets, resolved, mode, median)


def recorded_files(chosen: Options) -> list[ForecastFile]:
    """What the agents of the record have answered."""
    from arena.record.schema.database import NoRecord
    from arena.rounds.forecasting import read_recorded_answers

    try:
        with chosen.reading() as connection:
            return [one.filed for one in read_recorded_answers(connection)]
    except NoRecord:
        return []


def _row_data(made: "BenchBoard", row: Any) -> dict[str, Any]:
    team, lab = made.teams[row.forecaster]
    counts = {"n_dataset": row.n.dataset, "n_market": row.n.market, "n": row.n.overall}
    data = {"forecaster": row.forecaster, "organization": team, "model_organization": lab, **counts}
    if made.mode == "paper":
        return data | by_type(row.brier) | {
            "low": row.low, "high": row.high,
            "low_clustered": row.low_clustered, "high_clustered": row.high_clustered,
            "p": row.p, "better": row.better, "better_once": row.better_once,
        }  # fmt: skip
    clustered = made.clustered[row.forecaster]
    part = "dataset" if made.mode == "preliminary" else "overall"
    ends: dict[str, Any] = {}
    for name, one in (("", row), ("_clustered", clustered)):
        ends |= {f"low{name}": getattr(one.low, part), f"high{name}": getattr(one.high, part)}
    return (
        data
        | by_type(row.index)
        | ends
        | {f"{kind}_{end}": getattr(getattr(row, end), kind)
           for kind in ("dataset", "market") for end in ("low", "high")}
        | by_type(row.score, "brier_") | by_type(row.peer, "peer_") | by_type(row.skill, "skill_")
        | {"first": row.first, "top": row.top, "p": row.p, "p_clustered": clustered.p}
    )  # fmt: skip


def by_type(figures: Any, prefix: str = "") -> dict[str, float | None]:
    """A figure of both types of question, and overall."""
    return {f"{prefix}{kind}": getattr(figures, kind) for kind in ("dataset", "market", "overall")}


def interval(name: str, heading: str, places: int, gives_way: int = 0) -> TableColumn:
    """A column with an interval, whose ends are in `low` and `high` with the name behind them."""
    low, high = f"low{name}", f"high{name}"
    return TableColumn(
        f"interval{name}",
        heading,
        value=lambda row: ends_text(row, low, high, places) or None,
        gives_way=gives_way,
    )


FORECASTER = TableColumn("forecaster", show=plain, narrow="cut middle")
COUNTS = (TableColumn("n_dataset", "N data", ",d", 3), TableColumn("n_market", "N market", ",d", 3))
PAPER = (
    FORECASTER,
    *COUNTS,
    TableColumn("dataset", "dataset", ".4f"),
    TableColumn("market", "market", ".4f"),
    TableColumn("overall", "overall", ".4f"),
    interval("", "95% interval", 4),
    interval("_clustered", "by cluster", 4, 1),
    TableColumn("p", show=lambda p: p_text(p, 3), gives_way=2),
    TableColumn("better", "better", ".1%", 4),
    TableColumn("better_once", "each market once", ".1%", 5),
)
SITE = (
    FORECASTER,
    *COUNTS,
    TableColumn("dataset", "dataset", ".1f"),
    TableColumn("market", "market", ".1f"),
    TableColumn("overall", "overall", ".1f"),
    interval("", "95% interval", 1),
    interval("_clustered", "by cluster", 1, 1),
    TableColumn("brier_overall", "Brier", ".3f", 2),
    TableColumn("peer_overall", "peer", "+.3f", 4),
    TableColumn("skill_overall", "BSS", "+.3f", 5),
    TableColumn("first", "first", ".1%", 6),
)
GROUPS = (
    TableColumn("group", show=plain),
    FORECASTER,
    TableColumn("n", "N", ",d"),
    TableColumn("brier", "Brier", ".4f"),
    interval("", "95% interval", 4),
)
PAPER_LEGEND = (
    "Mean Brier scores: lower is better. Better: more accurate than {against}; p: of such a gap by chance."
)
SITE_LEGEND = "Brier Index: higher is better, 50 is always saying 0.5. Peer and BSS are in Brier points."
AGAINST_LEGEND = "At least {against}: the share of replicates in which it is at least as good."


def _say_board(
    made: "BenchBoard", rows: list[dict[str, Any]], against: str | None, choice: TableChoice
) -> None:
    named = None if against is None else plain(against)
    columns: tuple[TableColumn, ...]
    if made.mode == "paper":
        columns, legend = PAPER, PAPER_LEGEND.format(against=named or "the first")
    elif against is None:
        columns, legend = SITE, SITE_LEGEND
    else:
        share = TableColumn("p", f"at least {named}", ".1%", value=lambda row: row["p"].get(against))
        columns, legend = (*SITE, share), f"{SITE_LEGEND} {AGAINST_LEGEND.format(against=named)}"
    print_table(columns, rows, choice=choice)
    if made.groups:
        print_table(GROUPS, [asdict(one) for one in made.groups])
    print(legend)
    for note in made.notes:
        print(f"- {plain(note)}")


SITE_COLUMNS = (
    "Rank", "Team", "Model Organization", "Model", "Dataset", "N dataset", "Dataset 95% CI", "Market",
    "N market", "Market 95% CI", "Overall", "N", "Overall 95% CI", "Supers > Forecaster?",
    "p-val Supers > Forecaster?", "Forecaster > Public?", "p-val Forecaster > Public?", "Pct times № 1",
    "Pct times top 5%", "Peer", "BSS", "Brier Dataset", "Brier Market", "Brier Overall",
)  # fmt: skip
"""The columns of the benchmark's own CSV; the preliminary board has those of data questions only."""
PRELIMINARY_LEAVES_OUT = ("Market", "N market", "Market 95% CI", "Overall", "N", "Overall 95% CI",
                          "Brier Dataset", "Brier Market", "Brier Overall")  # fmt: skip


def _site_lines(rows: Sequence[Mapping[str, Any]], mode: BoardMode) -> list[list[str]]:
    from arena.scores.files.forecastbench_board import PUBLIC, SUPERS

    part = "dataset" if mode == "preliminary" else "overall"
    shown = [None if row[part] is None else round(row[part], 1) for row in rows]
    lines = []
    for row, index in zip(rows, shown, strict=True):
        supers, public = verdict(row["p"].get(SUPERS)), verdict(row["p"].get(PUBLIC))
        cells = (
            str(1 + shown.index(index)), row["organization"], row["model_organization"], row["forecaster"],
            figure(row["dataset"], 1), str(row["n_dataset"]), ends_text(row, "dataset_low", "dataset_high"),
            figure(row["market"], 1), str(row["n_market"]), ends_text(row, "market_low", "market_high"),
            figure(row["overall"], 1), str(row["n"]), ends_text(row, "low", "high"),
            *supers, *public,
            figure(row["first"] and row["first"] * 100, 3), figure(row["top"] and row["top"] * 100, 3),
            figure(row[f"peer_{part}"], 3), figure(row[f"skill_{part}"], 3),
            *(figure(row[f"brier_{kind}"], 3) for kind in ("dataset", "market", "overall")),
        )  # fmt: skip
        lines.append(dict(zip(SITE_COLUMNS, cells, strict=True)))
    left_out = PRELIMINARY_LEAVES_OUT if mode == "preliminary" else ()
    columns = [name for name in SITE_COLUMNS if name not in left_out]
    return [columns, *([line[name] for name in columns] for line in lines)]


def verdict(p: float | None) -> tuple[str, str]:
    """What a p-value means, and how it is written.

    >>> verdict(0.0004), verdict(0.02), verdict(0.5), verdict(None)
    (('Yes', '<0.001'), ('Likely', '0.02'), ('No', '0.50'), ('—', '—'))
    """
    if p is None:
        return "—", "—"
    return "Yes" if p < 0.01 else "Likely" if p < 0.1 else "No", p_text(p)


def p_text(p: float, places: int = 2) -> str:
    """A p-value as boards write it; those of the paper have three places.

    >>> p_text(0.0004), p_text(0.0042), p_text(0.0042, 3)
    ('<0.001', '<0.01', '0.004')
    """
    return "<0.001" if p < 0.001 else "<0.01" if places == 2 and p < 0.01 else f"{p:.{places}f}"


def figure(value: float | None, places: int) -> str:
    """A figure rounded, without zeros at its end."""
    return "" if value is None else repr(round(float(value), places))


def ends_text(row: Mapping[str, Any], low: str, high: str, places: int = 1) -> str:
    """An interval as boards write it."""
    return "" if row[low] is None else f"[{row[low]:.{places}f}, {row[high]:.{places}f}]"


def _paper_lines(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    first = rows[0]
    counts = [f"{kind.capitalize()} (N={first[f'n_{kind}']:,})" for kind in ("dataset", "market")]
    head = [
        "Model", "Organization", *counts, f"Overall (N={first['n']:,})", "Confidence Interval",
        "Pairwise p-value comparing to No. 1", "Pct. more accurate than No. 1",
    ]  # fmt: skip
    return [
        head,
        *(
            [row["forecaster"], row["model_organization"],
             *(f"{row[kind]:.3f}" for kind in ("dataset", "market", "overall")),
             ends_text(row, "low", "high", 3),
             "" if row["p"] is None else p_text(row["p"], 3),
             f"{row['better'] or 0:.0%}"]
            for row in rows
        ),
    ]  # fmt: skip


def _group_lines(made: "BenchBoard") -> list[list[str]]:
    lines = [
        [one.group, one.forecaster, str(one.n), *(figure(x, 4) for x in (one.brier, one.low, one.high))]
        for one in made.groups
    ]
    return [["Group", "Model", "N", "Brier", "Low", "High"], *lines]


def csv_text(lines: Sequence[Sequence[str]]) -> str:
    """Lines as CSV; names that a spreadsheet takes for formulas are quoted.

    >>> csv_text([["=1+1", "-0.5"]])
    "'=1+1,-0.5\\n"
    """
    from arena.exports.forms.cells import text_cell

    out = io.StringIO(newline="")
    quoted = ([cell if FIGURE.fullmatch(cell) else text_cell(cell) for cell in line] for line in lines)
    csv.writer(out, lineterminator="\n").writerows(quoted)
    return out.getvalue()


FIGURE = re.compile(r"-?[\d.]+(?:e-?\d+)?")


def html_text(lines: Sequence[Sequence[str]], title: str) -> str:
    """Lines as a page that needs nothing else."""
    kinds = ["h", *"d" * (len(lines) - 1)]
    head, *rows = (
        "".join(f"<t{kind}>{escape(cell)}</t{kind}>" for cell in line)
        for kind, line in zip(kinds, lines, strict=True)
    )
    style = (
        "body{font-family:sans-serif;margin:2rem}table{border-collapse:collapse}"
        "th,td{padding:.3rem .6rem;border-bottom:1px solid #ccc;text-align:left}"
    )
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{style}</style></head>\n<body><h1>{escape(title)}</h1>\n<table><thead><tr>{head}</tr></thead>"
        f"<tbody>\n{body}\n</tbody></table></body></html>\n"
    )
