"""The files that `arena score` can write: a page and a badge."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from arena.cli.output import progress
from arena.errors import ArenaError
from arena.operations.page_programs import check_output, draw_scored, writing
from arena.scores.badge import badge_json, badge_words
from arena.scores.files.report import FileReport, report_text


@dataclass(frozen=True, slots=True)
class ScoreFiles:
    """The paths of a page and a badge to write; the badge is of `name`, or of the first."""

    html: Path | None
    badge: Path | None
    name: str = ""

    def check(self, force: bool, sources: Iterable[Path]) -> None:
        """Raise `ArenaError` if one can't be written, or is a file that is read."""
        read = {source.resolve() for source in sources}
        for file in filter(None, (self.html, self.badge)):
            if file.resolve() in read:
                raise ArenaError("exists", f"{file} is read for the scores", "name another")
            check_output(file, force)

    def write(self, report: FileReport) -> dict[str, Path]:
        """Write the files, and return their paths by the names of their options."""
        written = {}
        if self.html is not None:
            with progress("Drawing the page") as report_progress:
                draw_scored(report_text(report), self.html, report_progress)
            written["html"] = self.html
        if self.badge is not None:
            text = _badge_of(report, self.name)
            with writing(self.badge):
                self.badge.write_text(text, "utf-8")
            written["badge"] = self.badge
        return written


def score_files(html: Path | None, badge: str | None) -> ScoreFiles:
    """Return the files that the options name: a page, and a badge as FILE or NAME=FILE.

    >>> score_files(None, "ann=ann.json")
    ScoreFiles(html=None, badge=PosixPath('ann.json'), name='ann')
    """
    if badge is None:
        return ScoreFiles(html, None)
    name, equals_sign, file = badge.rpartition("=")
    return ScoreFiles(html, Path(file), name if equals_sign else "")


def _badge_of(report: FileReport, name: str) -> str:
    """Return the badge of a forecaster, or of the first of the board."""
    rows = {row.forecaster: row for row in report.rows}
    if not name:
        name = next(iter(rows))
    if name not in rows:
        known = ", ".join(list(rows)[:20])
        raise ArenaError("unknown_name", f"--badge names {name!r}, which has no row", f"forecasters: {known}")

    row = rows[name]
    agent_verdict = None if report.verdict is None else report.verdict.of(name)
    return badge_json(name, *badge_words(agent_verdict, row.why_not, row.copies))
