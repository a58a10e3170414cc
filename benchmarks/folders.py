"""What does a folder of questions cost to read? 10,000 of all kinds with outcomes, in two forms.

python -m benchmarks.folders

Prints the CPU of one reading; three seconds are wanted at most.
"""

import csv
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from arena.forms.asked_questions import read_public_folder
from benchmarks.measure import least_cpu, options, report_plainly
from markets.question_files.asked import QuestionFolder
from markets.question_files.folder_reader import read_folder

QUESTIONS = 10_000
MOST_SECONDS = 3.0
HEAD = (
    *("id", "question", "kind", "options", "odds", "low", "high", "open_high", "background", "source"),
    *("opens", "closes", "event"),
)
KINDS = (
    ("yes_no", "", "0.3", "", "", "", "yes"),
    ("multiple_choice", "a;b;c;d", "0.1;0.2;0.3;0.4", "", "", "", "b"),
    ("numeric", "", "", "0", "10", "yes", "4.5"),
    ("date", "", "", "2026-01-01", "2026-12-01", "yes", "2026-03-01"),
)
AUTOCAST = (
    ("t/f", ["yes", "no"], "no"),
    ("mc", ["a", "b", "c"], "B"),
    ("num", {"min": 1, "max": 1000, "deriv_ratio": 50}, 0.4),
)
BACKGROUND = "What is known of it so far. " * 20


def write_ours(folder: Path) -> None:
    """Write questions and resolutions in our form."""
    with (folder / "questions.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(HEAD)
        for number in range(QUESTIONS):
            *form, _ = KINDS[number % len(KINDS)]
            told = (BACKGROUND, "A source", "2026-01-01", "2026-06-01T12:00Z", f"e{number // 2}")
            rows.writerow([f"q{number}", f"What of {number}?", *form, *told])

    with (folder / "resolutions.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "outcome", "known_at"])
        for number in range(QUESTIONS):
            rows.writerow([f"q{number}", KINDS[number % len(KINDS)][-1], "2026-05-01"])


def write_autocast(folder: Path) -> None:
    """Write questions in Autocast's form."""
    told = []
    for number in range(QUESTIONS):
        kind, choices, answer = AUTOCAST[number % len(AUTOCAST)]
        question = {"id": f"G{number}", "question": f"What of {number}?", "background": BACKGROUND}
        times = {"publish_time": "2021-01-01 00:00:00+00:00", "close_time": "2021-06-01 07:01:27+00:00"}
        told.append(question | times | {"qtype": kind, "choices": choices, "answer": answer})
    (folder / "autocast.json").write_text(json.dumps(told, indent=4), "utf-8")


def readings() -> Iterator[dict[str, object]]:
    """Yield what each form takes."""
    ways: tuple[tuple[str, Callable[[Path], None], Callable[[Path], QuestionFolder]], ...] = (
        ("our form", write_ours, read_folder),
        ("Autocast's form", write_autocast, read_public_folder),
    )
    for what, write, read in ways:
        with TemporaryDirectory() as name:
            folder = Path(name)
            write(folder)
            found = read(folder)
            seconds = least_cpu(partial(read, folder))
            yield {
                "what": what,
                "questions": len(found.questions),
                "seconds": seconds,
                "good": seconds <= MOST_SECONDS and not found.faults,
            }


def main() -> None:
    """Print the table."""
    chosen = options(__doc__).parse_args()
    report_plainly(readings(), chosen.json, "{what:20} {questions:,} questions in {seconds:.2f} s of CPU")


if __name__ == "__main__":
    main()
