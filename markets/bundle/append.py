"""The end of a bundle's files: all get their new lines, or none does, whatever happens meanwhile."""

import csv
import gzip
import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from markets.bundle.files import MOST_BYTES, NEEDED, BundleFile, open_file
from markets.bundle.journal import begin, finish, take_back
from markets.venue import VenueError

Rows = Sequence[Mapping[str, object]]
Columns = Mapping[str, Sequence[str]]

NEW = "record into a new folder"


def place(folder: Path, name: str) -> Path:
    """The file of that name in a bundle: the packed one where that is there."""
    packed = folder / f"{name}.gz"
    return packed if packed.exists() else folder / name


def append(folder: Path, rows: Mapping[str, Rows], columns: Columns) -> None:
    """Add rows to the files of a bundle: a table's by its columns, else as JSON, one object on each line.

    The caller is `alone` there.
    """
    places = {name: place(folder, name) for name in rows}
    grow = [name for name, path in places.items() if rows[name] or (name in NEEDED and not path.exists())]
    add_all(folder, {places[name]: _text(places[name], rows[name], columns.get(name)) for name in grow})


def add_all(folder: Path, added: Mapping[Path, bytes]) -> None:
    """Add to files of a bundle, to all or to none."""
    if not added:
        return
    try:
        begin(folder, added)
        for path, data in added.items():
            with path.open("ab") as file:
                file.write(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
                file.flush()
                os.fsync(file.fileno())
    except OSError:
        take_back(folder)
        raise
    finish(folder)


def _text(path: Path, rows: Rows, columns: Sequence[str] | None) -> bytes:
    """The new lines of a file. A new table begins with its header; an old one must have the same."""
    first, whole, size = _begun(path)
    text = io.StringIO()
    if rows and not whole:
        text.write("\n")
    if columns is None:
        text.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    else:
        table = csv.DictWriter(text, columns, lineterminator="\n")
        if not first:
            table.writeheader()
        elif first.strip() != ",".join(columns):
            words = f"{path} has the columns {first.strip()[:200]}; what is added has {','.join(columns)}"
            raise VenueError("other_columns", words, NEW)
        table.writerows(rows)
    data = text.getvalue().encode()
    if size + len(data) > MOST_BYTES:
        raise VenueError("full", f"{path} would hold more than {MOST_BYTES:,} bytes", NEW)
    return data


def _begun(path: Path) -> tuple[str, bool, int]:
    """The first line of a file, whether its last line is whole, and its bytes, as it is unpacked."""
    if not path.exists():
        return "", True, 0
    size = 0
    with open_file(BundleFile(path, path.stat().st_size)) as file:
        first = last = b""
        for line in file:
            first, last, size = first or line, line, size + len(line)
    return first.decode("utf-8-sig"), not last or last.endswith(b"\n"), size
