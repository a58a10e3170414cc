"""Plain tables as columns of names, probabilities and times; faults in cells are noted by line."""

from arena.forms.csv_columns.columns import (
    check_same_by_question,
    has_plain_times,
    number_column,
    read_column,
    read_names,
    read_times,
)
from arena.forms.csv_columns.file_cells import (
    SHOWN,
    CellError,
    Cells,
    Faults,
    Flags,
    Floats,
    Ints,
    Rows,
    TextColumn,
    column_of_texts,
    text_column,
)
from arena.forms.csv_columns.header import OurColumns, plain_name
from arena.forms.csv_columns.json_rows import json_value
from arena.forms.csv_columns.memory import cells_of, memory_cells
from arena.forms.csv_columns.tables import file_cells, join_cells, text_cells
from arena.forms.csv_columns.texts import MOST_BYTES, decode, unpacked
from arena.forms.csv_columns.values import (
    is_number,
    parse_number,
    parse_outcome,
    parse_positive,
    parse_share,
    parse_time,
)

__all__ = [
    "MOST_BYTES",
    "SHOWN",
    "CellError",
    "Cells",
    "Faults",
    "Flags",
    "Floats",
    "Ints",
    "OurColumns",
    "Rows",
    "TextColumn",
    "cells_of",
    "check_same_by_question",
    "column_of_texts",
    "decode",
    "file_cells",
    "has_plain_times",
    "is_number",
    "join_cells",
    "json_value",
    "memory_cells",
    "number_column",
    "parse_number",
    "parse_outcome",
    "parse_positive",
    "parse_share",
    "parse_time",
    "plain_name",
    "read_column",
    "read_names",
    "read_times",
    "text_cells",
    "text_column",
    "unpacked",
]
