"""Output of commands: JSON documents, progress bars, and texts of figures."""

import json
import re
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, TextIO, TypeVar, cast

from arena.errors import ArenaError, count_text
from markets.millionths import ONE

T = TypeVar("T")
Data = Mapping[str, Any]
"""A command's answer with `--json`, or a part of it."""
RECORD_OPTIONS = ContextVar("RECORD_OPTIONS", default="")
"""The options that named the config and the record, appended to suggested commands."""


def program() -> str:
    """Return the command that starts this program: `arena` if it is on the path, else its file."""
    beside_python = Path(sys.executable).parent / "arena"
    if shutil.which("arena") or not beside_python.is_file():
        return "arena"

    here = Path.cwd()
    if beside_python.is_relative_to(here):
        return str(beside_python.relative_to(here))
    return str(beside_python)


def command_line(command: str) -> str:
    """Return a command line to suggest, with the options that name the same config and record."""
    return f"{program()} {command}{RECORD_OPTIONS.get()}"


SUGGESTED = re.compile(
    r"\barena (?:run(?= --|`)|check|status|board|show (?:(?:agent|turn) [^\s`,;:]++|[a-z]++)"
    r"|admin (?:backup|verify|cohort [a-z]++))"
    r"(?: --model [^\s`,;:]++| --(?!config|database)[a-z-]++| (?:all|next)\b| [\dA-Z](?:[\w:.-]*\w)?+)*+"
    r"(?! --)"
)
"""A command that reads a config and a record, with those of its words that a hint gives it.

Its quantifiers never give back what they have matched: a command that names a record already is left alone.
"""


def with_record_options(text: str, clock_option: str = "") -> str:
    """Return a text in which suggested commands have the options that name the same config and record.

    Hints are made where nobody knows what was typed. `clock_option` names a rehearsal's clock.
    """

    def with_options(found: re.Match[str]) -> str:
        """Return a suggested command with the options."""
        command = rehearsal_command(found[0].removeprefix("arena "), clock_option)
        return f"arena {command}{RECORD_OPTIONS.get()}"

    return SUGGESTED.sub(with_options, text)


def rehearsal_command(command: str, clock_option: str) -> str:
    """Return a command as it is typed in a rehearsal: only the option that names its clock plays it.

    What plays one round does what is due by that clock, and no more.

    >>> rehearsal_command("run --round --at 2026-01-04T00:00Z", " --clock clock")
    'run --once --clock clock'
    >>> rehearsal_command("check", " --clock clock")
    'check'
    """
    if not clock_option:
        return command
    if command.startswith("run --round"):
        return f"run --once{clock_option}"
    if command in ("run", "run --once"):
        return command + clock_option
    return command


def print_json(value: object) -> None:
    """Print one JSON document; raise `ValueError` for NaN or infinity."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False, default=json_value))


def json_value(value: object) -> Any:
    """Return a dataclass, a day, an instant or a path as a JSON value."""
    if is_dataclass(value):
        return attributes(value, *(field.name for field in fields(value)))
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"JSON has no {type(value).__name__}")


def attributes(row: object, *names: str) -> dict[str, Any]:
    """Return some of the attributes of a row, by name."""
    return {name: getattr(row, name) for name in names}


def prints_to_stderr() -> redirect_stdout[TextIO]:
    """Send what is printed to standard error: an extension may print, and the answer may be JSON."""
    return redirect_stdout(sys.stderr)


@contextmanager
def interruptible(message: str | Callable[[], str], hint: str) -> Iterator[None]:
    """Turn Ctrl-C into an `ArenaError` with a message about the interrupted work."""
    with warnings.catch_warnings():
        # A call cancelled before it began is no mistake.
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
        try:
            yield
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # another Ctrl-C must not interrupt the cleanup
            text = message if isinstance(message, str) else message()
            raise ArenaError("interrupted", text, hint, status=130) from None


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result; Ctrl-C cancels it between two steps, however often pressed.

    A second Ctrl-C breaks into a step in `asyncio.run`, which could leave a task waiting forever.
    """
    import asyncio

    async def cancelled_by_ctrl_c() -> T:
        """Run the coroutine as a task that Ctrl-C cancels."""
        task = cast("asyncio.Task[T]", asyncio.current_task())
        if threading.current_thread() is threading.main_thread():  # signals reach no other thread
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
        return await work

    try:
        return asyncio.run(cancelled_by_ctrl_c())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def plain(text: str) -> str:
    """Return a text on one line, without control characters.

    >>> plain("Will it\\nrain?")
    'Will it rain?'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)


def plain_lines(text: str) -> str:
    """Return a text with its lines kept, without other control characters."""
    return "\n".join(plain(line) for line in text.splitlines())


def one_line(text: str) -> str:
    """Return a text on one line, with single spaces between its words."""
    return " ".join(plain(text).split())


def without_password(address: str) -> str:
    """Return a database's address with its password masked.

    >>> without_password("postgresql+psycopg://arena:secret@host/arena")
    'postgresql+psycopg://arena:***@host/arena'
    """
    from agents.secrets import redact

    return redact(re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", address))


def shortened(text: str, most: int) -> str:
    """Return a text on one line, cut to at most `most` characters.

    >>> shortened("Will it rain in Rome?", 12), shortened("Will it\\nrain?", 20)
    ('Will it rai…', 'Will it rain?')
    """
    flat = one_line(text)
    if len(flat) <= most:
        return flat
    return f"{flat[: most - 1].rstrip()}…"


def minute_text(at: datetime | str) -> str:
    """Return an instant as text, to the minute.

    >>> minute_text("2026-01-04T00:00:00+00:00")
    '2026-01-04 00:00'
    """
    return str(at)[:16].replace("T", " ")


def from_millionths(millionths: int | None) -> float | None:
    """Return millionths as a number, the float nearest to their exact value."""
    return None if millionths is None else millionths / ONE


def cents_text(price: int | None) -> str:
    """Return a price in cents, without trailing zeros.

    >>> cents_text(405_000), cents_text(1_000), cents_text(None)
    ('40.5', '0.1', '')
    """
    if price is None:
        return ""
    return f"{price / 10_000:.2f}".rstrip("0").rstrip(".")


def cents_of(dollars: float) -> str:
    """Return a price in dollars as text in cents."""
    return cents_text(round(dollars * ONE))


def small_dollars(usd: float) -> str:
    """Return a cost in dollars: to the cent from a dollar on, below to three significant figures.

    >>> small_dollars(1_161.47), small_dollars(0.000425123), small_dollars(0.9996), small_dollars(0)
    ('$1,161.47', '$0.000425', '$1.00', '$0.00')
    """
    places = 2
    if usd:
        # The exponent after rounding to three significant figures, such as -4 for 0.000425.
        exponent = int(f"{usd:.2e}".partition("e")[2])
        places = max(2, 2 - exponent)
    return f"${usd:,.{places}f}"


def signed_dollars(value: float, places: int = 2) -> str:
    """Return dollars with their sign before them.

    >>> signed_dollars(-1_234.5), signed_dollars(1_234.5, 0), signed_dollars(-0.28, 0)
    ('-$1,234.50', '+$1,234', '$0')
    """
    sign = ""
    rounded = round(value, places)
    if rounded:  # 0 has no sign, nor has what is rounded to it
        sign = "-" if rounded < 0 else "+"
    return f"{sign}${abs(value):,.{places}f}"


def rough_duration(seconds: float) -> str:
    """Return a length of time in its largest unit.

    >>> rough_duration(200_000), rough_duration(7_300), rough_duration(59)
    ('2 d', '2 h', '59 s')
    """
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return f"{seconds:.0f} s"


def ranges_text(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text, with consecutive ones as ranges.

    >>> ranges_text([1, 2, 3, 5]), ranges_text([4])
    ('1-3, 5', '4')
    """
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]  # a span keeps only its first and last number
        else:
            spans.append([number])
    return ", ".join("-".join(map(str, span)) for span in spans)


def counts_text(counts: Mapping[str, int], separator: str = " ") -> str:
    """Return counts with their kinds in words.

    >>> counts_text({"played": 1_200, "failed": 3})
    '1,200 played, 3 failed'
    """
    return ", ".join(f"{count:,}{separator}{kind}" for kind, count in counts.items())


def left_out_words(left_out: Mapping[str, int]) -> str:
    """Return how many open markets are not shown to agents, and why; empty if none are left out."""
    if not left_out:
        return ""
    return f"{count_text(sum(left_out.values()), 'open market')} left out: {counts_text(left_out)}"


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar on standard error, or occasional lines if that is no terminal.

    Yield the function to call with the number done and the total.
    """
    with stages(label, total) as report_stage:
        yield lambda done, total_now: report_stage(label, done, total_now)


LINE_EVERY = 10.0
"""Seconds between two lines of progress."""


def progress_lines(timer: Callable[[], float]) -> Callable[[str, int, int | None], None]:
    """Return a function that prints occasional lines of progress on standard error."""
    last_printed = timer()

    def report_stage(stage: str, done: int, total: int | None) -> None:
        """Print a line unless one was printed in the last seconds."""
        nonlocal last_printed
        if timer() - last_printed >= LINE_EVERY:
            last_printed = timer()
            line = f"{stage.capitalize()}: {done:,}"
            if total is not None:
                line += f" of {total:,}"
            print(line, file=sys.stderr, flush=True)

    return report_stage


@contextmanager
def stages(
    label: str = "Starting", total: int | None = None
) -> Iterator[Callable[[str, int, int | None], None]]:
    """Show progress of work in several stages: the function yielded takes the stage, too."""
    if not sys.stderr.isatty():
        from arena.clock import timer

        yield progress_lines(timer)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total)
        yield lambda stage, done, total_now: bar.update(
            task, description=stage.capitalize(), completed=done, total=total_now
        )


def thinking_words(thinking: Mapping[str, str | None]) -> str:
    """Return the agents grouped by how much they think, leaving out those without a model.

    >>> thinking_words({"ann": "high", "market": None, "bob": "low", "cho": "high"})
    'high (ann, cho); low (bob)'
    """
    names_by_level: dict[str, list[str]] = {}
    for name, level in thinking.items():
        if level:
            names_by_level.setdefault(level, []).append(name)
    return "; ".join(f"{level} ({', '.join(same_level)})" for level, same_level in names_by_level.items())
