"""What `arena score` reads."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.errors import ArenaError
from arena.exports.forecast_columns import is_export_at, read_export
from arena.forms.csv_columns import decode
from arena.scores.files.forecastbench_texts import NamedText, is_submission, read_submissions
from arena.scores.files.forecasts import ForecastTable, read_forecasts


def text_of(file: Path) -> str:
    """Return the text of a file in UTF-8 or UTF-16; `-` is the standard input."""
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        words = f"{file} can't be read: {error.strerror}"
        raise ArenaError("no_file", words, "name a file that exists") from error
    return decode(str(file), data)


def texts_of(files: Sequence[Path]) -> list[NamedText]:
    """Return the names of files and their texts."""
    return [(str(file), text_of(file)) for file in files]


def table_of(
    files: Sequence[Path],
    renamed: Mapping[str, str],
    questions: Sequence[Path],
    resolutions: Sequence[Path],
    provisional: bool,
) -> ForecastTable:
    """Return the forecasts of a file, of what `arena share export` wrote, or of files of ForecastBench."""
    if len(files) == 1 and is_export_at(files[0]):
        return read_export(files[0])

    texts = texts_of(files)
    if questions or resolutions or all(is_submission(text) for _, text in texts):
        return read_submissions(texts, texts_of(questions), texts_of(resolutions), provisional=provisional)
    if len(texts) > 1:
        hint = "put all forecasts into one file; only ForecastBench's may be several"
        raise ArenaError("many_files", f"{len(texts)} files of forecasts are given", hint, status=64)
    return read_forecasts(*texts[0], renamed)


def split_columns(text: str) -> tuple[dict[str, str], str]:
    """Return what --columns says: which columns of the file are ours, and which of the table to show.

    >>> split_columns("question=title,brier,peer")
    ({'question': 'title'}, 'brier,peer')
    """
    renamed = {}
    wanted = []
    for part in text.split(","):
        name, is_renamed, title = part.partition("=")
        if is_renamed:
            renamed[name.strip()] = title.strip()
        elif part.strip():
            wanted.append(part.strip())
    return renamed, ",".join(wanted)
