"""The sources that `arena score` reads."""

import sys
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from arena.errors import ArenaError
from arena.forms.csv_columns import decode, unpacked
from arena.forms.model import SourceFile
from arena.forms.sources.disk import read_source
from arena.scores.files.forecastbench_texts import NamedText
from arena.scores.files.forecasts import ForecastTable
from arena.scores.files.sources import SourceChoices, read_table


def read_text(file: Path) -> str:
    """Return the text of a file in UTF-8 or UTF-16; `-` is standard input."""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        message = f"{file} can't be read: {error.strerror}"
        raise ArenaError("no_file", message, "name a file that exists") from error
    return decode(str(file), data)


def read_texts(files: Sequence[Path]) -> list[NamedText]:
    """Return the names of files and their texts."""
    return [(str(file), read_text(file)) for file in files]


def read_files(sources: Sequence[Path]) -> tuple[SourceFile, ...]:
    """Return the files of sources; `-` is standard input."""
    files: list[SourceFile] = []
    for source in sources:
        if str(source) == "-":
            files.append(SourceFile("-", unpacked("-", sys.stdin.buffer.read())))
        else:
            files += read_source(source)
    return tuple(files)


def may_be_packed(source: Path) -> bool:
    """Tell whether a source is a folder or a ZIP, which an export is."""
    return source.is_dir() or zipfile.is_zipfile(source)


def read_forecast_table(sources: Sequence[Path], choices: SourceChoices) -> ForecastTable:
    """Return the forecasts of sources, which may be an export of `arena share export`."""
    if len(sources) == 1 and choices.form is None and may_be_packed(sources[0]):
        from arena.exports.forecast_columns import is_export_at, read_export  # half a second

        if is_export_at(sources[0]):
            return read_export(sources[0])

    files = read_files(sources)
    counts_by_path = Counter(Path(file.name).resolve() for file in files)
    [(path, count)] = counts_by_path.most_common(1)
    if count > 1:
        raise ArenaError(
            "named_twice", f"{path} is named twice", "name it once; a folder has its files", status=64
        )
    return read_table(files, choices)


def split_columns(text: str) -> tuple[dict[str, str], str]:
    """Split `--columns` into the file's columns by their names here, and the columns to show.

    >>> split_columns("question=title,brier,peer")
    ({'question': 'title'}, 'brier,peer')
    """
    renamed = {}
    shown = []
    for part in text.split(","):
        name, equals_sign, title = part.partition("=")
        if equals_sign:
            renamed[name.strip()] = title.strip()
        elif part.strip():
            shown.append(part.strip())
    return renamed, ",".join(shown)
