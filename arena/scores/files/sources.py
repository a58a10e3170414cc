"""Sources of forecasts as one table: read in their form, joined with outcomes and prices of others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from arena.errors import ArenaError, FileFault, FileFaults, by_cause
from arena.forms.csv_columns import Cells, OurColumns, file_cells, join_cells
from arena.forms.model import ChosenForm, SourceData, SourceFile
from arena.forms.sources.choose import TABLE, choose_form, load_form
from arena.scores.files.forecasts import (
    COLUMNS,
    REQUIRED_COLUMNS,
    TEXT_COLUMNS,
    ForecastTable,
    check_forecasts,
    check_sound_forecasts,
)
from arena.scores.files.joined import (
    OUTCOME_COLUMNS,
    join_prices,
    joined_price,
    prices_by_key,
    read_outcomes,
    read_prices,
    with_outcomes,
    with_prices,
)
from arena.scores.files.source_cells import source_cells


@dataclass(frozen=True, slots=True)
class SourceChoices:
    """How sources are read: their form, the names of their columns, and what is joined to them.

    `sets` are ForecastBench's question and resolution sets. Faulty rows are skipped with `skip_faulty`, and
    with `provisional` a stand-in counts as the outcome of an open question.
    """

    form: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    outcomes: tuple[SourceFile, ...] = ()
    prices: tuple[SourceFile, ...] = ()
    sets: tuple[SourceFile, ...] = ()
    skip_faulty: bool = False
    provisional: bool = False


def read_table(files: Sequence[SourceFile], choices: SourceChoices) -> ForecastTable:
    """Return the forecasts of files; raise `ArenaError` with everything that is wrong with them."""
    form = _form_of(files, choices)
    if form is None:
        cells, joined_notes = _with_joined(_plain_cells(files, choices), choices)
        table = _check_cells(cells, choices)
        return replace(table, notes=(*table.notes, *joined_notes))

    data = load_form(form.name).read([*files, *choices.sets])
    faults = by_cause(sorted(data.faults, key=attrgetter("file", "number")))
    if faults and not (choices.skip_faulty and data.forecasts):
        raise FileFaults(faults)

    if not data.forecasts:
        what = f"there are no forecasts: the files are read as {form.title} ({form.why})"
        raise ArenaError("no_forecasts", what, "name the files with forecasts as well, or say --form table")

    cells, left_out_notes = source_cells(files[0].name, data, provisional=choices.provisional)
    if data.prices:
        cells = join_prices(cells, prices_by_key(map(joined_price, data.prices)))
    cells, joined_notes = _with_joined(cells, choices)
    if data.no_outcomes and not choices.outcomes:
        joined_notes.append(data.no_outcomes)
    table = _check_cells(cells, choices, faults)
    table = replace(
        table,
        form=form,
        published=data.published,
        notes=(*table.notes, *data.notes, *left_out_notes, *joined_notes),
        skipped=table.skipped + len(data.faults),
    )
    return _with_references_outside(table, data)


def _with_joined(cells: Cells, choices: SourceChoices) -> tuple[Cells, list[str]]:
    """Return forecasts with the outcomes and prices of other files, and notes on them."""
    notes: list[str] = []
    for file in choices.outcomes:
        outcomes = read_outcomes(file, choices.columns, provisional=choices.provisional)
        cells, join_notes = with_outcomes(cells, file.name, outcomes)
        notes += join_notes
    for file in choices.prices:
        cells, join_notes = with_prices(cells, file.name, read_prices(file, choices.columns))
        notes += join_notes
    return cells, notes


def _form_of(files: Sequence[SourceFile], choices: SourceChoices) -> ChosenForm | None:
    """Return the form of files; None for a plain table, the only one whose columns can be named."""
    if choices.columns:
        if choices.form not in (None, TABLE):
            what = f"--columns NAME=TITLE is for plain tables, and --form {choices.form} is none"
            raise ArenaError("not_together", what, "leave one of them out", status=64)
        return None
    if choices.sets and choices.form is None:
        title = load_form("forecastbench").TITLE
        return ChosenForm("forecastbench", title, "question or resolution sets are given")
    return choose_form(files, choices.form)


def _plain_cells(files: Sequence[SourceFile], choices: SourceChoices) -> Cells:
    """Return the cells of plain tables, which lack outcomes or prices that come from elsewhere."""
    joined_columns: list[str] = []
    if choices.outcomes:
        joined_columns += OUTCOME_COLUMNS[1:]
    if choices.prices:
        joined_columns.append("market_probability")
    required_columns = [column for column in REQUIRED_COLUMNS if column not in joined_columns]
    ours = OurColumns(required_columns, COLUMNS, choices.columns, TEXT_COLUMNS, joined_columns)
    return join_cells([file_cells(file, ours) for file in files])


def _check_cells(cells: Cells, choices: SourceChoices, skipped: Sequence[FileFault] = ()) -> ForecastTable:
    """Return the table of cells, only of the sound ones if faulty ones may be skipped.

    `skipped` are the faults of rows that are not among the cells any more.
    """
    if choices.skip_faulty:
        return check_sound_forecasts(cells, skipped)
    return check_forecasts(cells)


def _with_references_outside(table: ForecastTable, data: SourceData) -> ForecastTable:
    """Return a table with a board's own references outside, if others are left to compare."""
    outside = tuple(name for name in data.outside if name in table.forecasters)
    if not outside or len(table.forecasters) <= len(outside):
        return table

    note = f"outside, as on their board: {', '.join(outside)}"
    return replace(table, outside=outside, notes=(*table.notes, note))
