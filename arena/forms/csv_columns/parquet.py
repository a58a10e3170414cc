"""A Parquet file as cells."""

from io import BytesIO

from arena.errors import ArenaError
from arena.forms.csv_columns.file_cells import Cells, Faults
from arena.forms.csv_columns.header import OurColumns
from arena.forms.csv_columns.memory import cell_text, memory_cells, numbered_places
from arena.forms.csv_columns.texts import MOST_BYTES
from arena.forms.model import SourceFile

PARQUET = b"PAR1"
"""The first bytes of such a file."""
MOST_ROWS = 50_000_000


def parquet_cells(file: SourceFile, ours: OurColumns) -> Cells:
    """Return the cells of a file; raise `ArenaError` if it is not Parquet, or too large."""
    import pyarrow as pa  # imported on demand: it takes a third of a second
    from pyarrow import parquet

    try:
        packed = parquet.ParquetFile(BytesIO(file.data))
        rows = packed.metadata.num_rows
        groups = range(packed.metadata.num_row_groups)
        size = sum(packed.metadata.row_group(number).total_byte_size for number in groups)
        if size > MOST_BYTES or rows > MOST_ROWS:
            what = f"{file.name} unpacks to more than {MOST_BYTES:,} bytes or {MOST_ROWS:,} rows"
            raise ArenaError("bad_file", what, "name another file")
        columns = packed.read().to_pydict()
    except (pa.ArrowException, OSError, ValueError) as error:
        what = f"{file.name}: this is not Parquet: {error}"
        raise ArenaError("bad_file", what, "write it again, or save it as CSV") from error

    texts = {}
    for name, values in columns.items():
        texts[name] = list(map(cell_text, values))
    return memory_cells(Faults(file.name), numbered_places(file.name, rows), texts, ours)
