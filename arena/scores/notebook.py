"""Scores in a notebook: the verdict's sentence, and a small table whose text is escaped."""

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from arena.scores.verdict import Verdict

Cells = Mapping[str, Callable[[Any], str]]
"""The content of each column, as a function of a row."""
UNKNOWN = "–"


def notebook_html(verdict: Verdict | None, text_of_column: Cells, rows: Iterable[Any]) -> str:
    """Return a verdict and a table as HTML, with every name escaped."""
    lines = ["<tr>" + "".join(f"<th>{escape(heading)}</th>" for heading in text_of_column) + "</tr>"]
    for row in rows:
        line = "".join(f"<td>{escape(cell(row))}</td>" for cell in text_of_column.values())
        lines.append(f"<tr>{line}</tr>")

    sentence = "" if verdict is None else f"<p>{escape(verdict.sentence)}</p>"
    return f"<div>{sentence}<table>{''.join(lines)}</table></div>"


def brief(of: str, verdict: Verdict | None) -> str:
    """Return scores on one line: how many they are of, and the verdict's sentence."""
    sentence = "" if verdict is None else f": {verdict.sentence}"
    return f"<{of}{sentence}>"


def figure(value: float | None, form: str) -> str:
    """Return a figure in a format; a dash if it is unknown."""
    return UNKNOWN if value is None else format(value, form)


def span(low: float | None, high: float | None, form: str) -> str:
    """Return an interval by its ends; a dash if it is unknown.

    >>> span(-0.01, 0.02, "+.2f"), span(None, None, "+.2f")
    ('-0.01 to +0.02', '–')
    """
    if low is None or high is None:
        return UNKNOWN
    return f"{low:{form}} to {high:{form}}"
