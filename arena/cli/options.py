"""The options that commands share: the config, the record, and the form of the answer."""

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from arena.cli.output import RECORD_OPTIONS, Data, print_json
from arena.cli.page import Page, page_lines, print_page
from arena.cli.table import TableChoice
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.clock import Clock
    from arena.config import Config
    from arena.config.code import TrustedCode
    from arena.config.document import Document
    from arena.record.record import Record
    from arena.record.schema.database import Connection

DEFAULT = Path("config.yaml")
DAY = ["%Y-%m-%d"]
"""How a day is written on the command line."""


@dataclass
class Options:
    """What was chosen on the command line, before or after the command's name."""

    config: Path | None = None
    database: str | None = None
    json: bool = False
    table_choice: TableChoice = field(default_factory=TableChoice)
    trust: bool = False
    """Whether `--trust-extensions` was given."""
    given: frozenset[str] = frozenset()
    """What was typed after the command's name: options, and arguments as help names them."""

    def set_shared(self, given: Data) -> None:
        """Set the shared options that were given after a command's name."""
        self.config = given.get("config") or self.config
        if given.get("database") is not None:
            self.database = given["database"]
        if self.database == "":  # an unset variable of a shell must not lead to the config's own record
            raise ArenaError("no_database", "--database is empty", "name a record, or leave the option out")
        self.json = given.get("json", False)
        self.trust = given.get("trust_extensions", False)
        self.table_choice = TableChoice(given.get("wide", False), given.get("columns", ""))

        # Suggested commands name the same config and record.
        RECORD_OPTIONS.set(self.record_options())
        if any(name.endswith("_FILE") for name in os.environ):
            from arena.config.environment import secrets_in_files

            os.environ.update(secrets_in_files(os.environ))

    def can_ask(self) -> bool:
        """Tell whether a user at a terminal can be asked; not with a closed standard input."""
        return not self.json and sys.stdin is not None and sys.stdin.isatty()

    def load_config(
        self,
        environ: Mapping[str, str] | None = None,
        default: Path = DEFAULT,
        beside: bool = False,
        allow: "Callable[[Document], TrustedCode | None] | None" = None,
    ) -> "Config":
        """Return the config, with the database of `--database` in place of its own.

        `allow` returns the code beside the config that may run; without it extensions are not loaded.
        """
        from arena.config.loader import load, run_nothing

        return load(self.config or default, environ, beside, self.database, allow or run_nothing)

    def load_if_trusted(self) -> "Config":
        """Return the config, with its extensions only if its folder is trusted already; never ask.

        For commands that read a venue or plan a cohort, either of which may need an extension.
        """
        from arena.cli.trust import already_trusted

        return self.load_config(allow=already_trusted)

    def load_to_play(
        self, environ: Mapping[str, str] | None = None, default: Path = DEFAULT, beside: bool = False
    ) -> "Config":
        """Return the config with its extensions, asking at a terminal to trust its folder if needed."""
        from arena.cli.trust import asked_trust

        return self.load_config(environ, default, beside, partial(asked_trust, self.trust, self.can_ask()))

    def known_config(self, extensions: bool = False) -> "Config | None":
        """Return the config, or None if only a record is named; with `extensions` use `load_if_trusted`."""
        if self.database is not None and not self.has_config:
            return None
        if extensions:
            return self.load_if_trusted()
        return self.load_config()

    def record_options(self) -> str:
        """Return the options that name the same config and record in another command.

        >>> Options(database="my drill.db").record_options(), Options(Path("b.yaml"), "sqlite:///a").record_options()
        (" --database 'my drill.db'", ' --config b.yaml --database URL')
        """
        text = ""
        if self.config is not None:
            text += f" --config {quote(str(self.config))}"
        if self.database is not None:
            # An address may hold a password.
            shown = "URL" if "://" in self.database else quote(self.database)
            text += f" --database {shown}"
        return text

    @property
    def has_config(self) -> bool:
        """Tell whether a config is named, or stands in the working folder."""
        return self.config is not None or DEFAULT.exists()

    def record_address(self) -> str:
        """Return the address of the record: that of `--database`, else the config's."""
        if self.database is not None:
            return self.database
        if not self.has_config:
            hint = "name a record with --database PATH, or make a working folder: arena init DIR"
            raise ArenaError("no_config", f"there is no {DEFAULT} here to name the record", hint)
        return self.load_config().database

    def own_record_address(self) -> str:
        """Return the address of the config's own record, ignoring `--database`."""
        return replace(self, database=None).record_address()

    @contextmanager
    def reading(self) -> "Iterator[Connection]":
        """Yield a connection that reads the record as of one instant."""
        from arena.record.schema.database import open_read_only, reading

        with open_read_only(self.record_address()) as engine, reading(engine) as connection:
            yield connection

    @contextmanager
    def config_and_record(self, extensions: bool = False) -> "Iterator[tuple[Config | None, Connection]]":
        """Yield the config that `known_config` returns, and a connection to the record.

        Without a record it is a connection to an empty one.
        """
        from arena.record.dry_run import open_or_empty
        from arena.record.schema.database import reading

        config = self.known_config(extensions)
        address = config.database if config else self.record_address()
        with open_or_empty(address) as engine, reading(engine) as connection:
            yield config, connection

    @contextmanager
    def writing(self) -> "Iterator[Record]":
        """Yield the record for writing."""
        from arena.record.record import Record

        with closing(Record.open(self.record_address())) as record:
            yield record

    def refuse_if_given(self, *names: str, because: str, hint: str = "") -> None:
        """Raise a usage error about the first of these options that was typed, if any was.

        >>> Options(given=frozenset({"--by"})).refuse_if_given("--csv", "--by", because="needs one agent")
        Traceback (most recent call last):
        arena.errors.ArenaError: --by needs one agent
        """
        for name in names:
            if name in self.given:
                raise ArenaError("not_together", f"{name} {because}", hint or f"leave out {name}", status=64)

    def print_answer(self, data: object, page: Callable[..., Page], *page_arguments: object) -> None:
        """Print a command's answer: `data` as JSON with `--json`, else the page made from it.

        The page is made from `page_arguments` if there are any, instead of from the data.
        """
        if self.json and not self.table_choice.columns:
            print_json(data)
            return

        blocks = page(*page_arguments or (data,)) or ()
        if self.json:
            list(page_lines(blocks, None))  # raises for an unknown column before anything is printed
            print_json(data)
        else:
            print_page(blocks)


def option(help_text: str, metavar: str = "", *names: str, default: Any = None, **more: Any) -> Any:
    """Return an option of a command, named like its parameter unless other names are given."""
    return typer.Option(default, *names, help=help_text, metavar=metavar or None, **more)


def flag(help_text: str, *names: str) -> Any:
    """Return an option without a value."""
    return typer.Option(False, *names, help=help_text)


def argument(metavar: str, help_text: str, default: Any = ..., **more: Any) -> Any:
    """Return a positional argument of a command."""
    return typer.Argument(default, metavar=metavar or None, help=help_text, **more)


CONFIG_FILE = option("The config file.", "PATH")
DATABASE = option("The record to use, not the config's: a path or a URL.", "URL")
SHARED: dict[str, tuple[Any, Any]] = {
    "config": (Path | None, CONFIG_FILE),
    "database": (str | None, DATABASE),
    "wide": (bool, flag("Show every column, however wide.")),
    "columns": (str, option("Show these columns only.", "A,B", default="")),
    "json": (bool, flag("Answer in JSON, errors too.")),
    "trust_extensions": (
        bool,
        flag("Run the code of the config's folder, and remember that."),
    ),
}
"""The options that many commands have: the type and declaration of each."""
DONT_ASK = flag("Spend money without asking first.", "--yes", "-y")
LEAVE_FAILED = flag("Go on without turns that failed because a model gave no answer.", "--leave-failed")
BASELINES = flag("Start a cohort even if no model has its key; models join later.")
CLOCK_FILE = option("Rehearse at the time in this file: its first line, such as 2026-03-01T00:00Z.", "FILE")
Command = Callable[..., None]


def command(
    *shared: str, record: bool = True, table: bool = False, plays: bool = False
) -> Callable[[Command], Command]:
    """Make a function a command, with the shared options for the record, a table's columns, and JSON.

    `shared` names the shared options one by one, for a command that has only some of them.
    """
    shared_names = list(shared)
    if not shared:
        if record:
            shared_names += ("config", "database")
        if table:
            shared_names += ("wide", "columns")
        if plays:
            shared_names.append("trust_extensions")
        shared_names.append("json")

    def declare(function: Command) -> Command:
        """Return the function as Typer calls it, with the shared options beside its own."""

        def run(context: typer.Context, **values: Any) -> None:
            """Set the shared options, then run the command."""
            chosen: Options = context.find_root().obj
            chosen.set_shared({name: values.pop(name) for name in shared_names})
            chosen.given = typed_names(context)
            function(chosen, **values)

        # Typer reads the options of a command from its signature.
        parameters = _typer_parameters(function, shared_names)
        run.__name__ = function.__name__
        run.__doc__ = function.__doc__
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        vars(run)["__signature__"] = inspect.Signature(parameters)
        return run

    return declare


def typed_names(context: typer.Context) -> frozenset[str]:
    """Return the options typed after a command's name, and the arguments by their names in help."""
    names: set[str] = set()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            names.update(parameter.opts, parameter.secondary_opts)
            if parameter.param_type_name == "argument":
                names.add(str(parameter.metavar))
    return frozenset(names)


def _typer_parameters(function: Command, shared_names: Sequence[str]) -> list[inspect.Parameter]:
    """Return the parameters of a command: the context, its own, and these shared options."""
    keyword_only = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("context", keyword_only, annotation=typer.Context)]
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]  # the first is `Options`
    parameters += [parameter.replace(kind=keyword_only) for parameter in own]
    for name in shared_names:
        annotation, default = SHARED[name]
        parameters.append(inspect.Parameter(name, keyword_only, default=default, annotation=annotation))

    for parameter in parameters:
        # Named here, because Typer would add a --no-… option.
        if parameter.annotation is bool and not parameter.default.param_decls:
            parameter.default.param_decls = (f"--{parameter.name.replace('_', '-')}",)
    return parameters


def clock_opener(file: Path | None) -> "Callable[[], Clock]":
    """Return a function that opens a file's clock, or the system's; raise at once for an unreadable file."""
    from arena.clock import PretendedClock, SystemClock

    if file is None:
        return SystemClock
    PretendedClock.read(file)  # raises now rather than when the clock is opened
    return lambda: PretendedClock.read(file)


def clock_option(clock: Path | None) -> str:
    """Return the option that names a rehearsal's clock in another command; empty without one.

    >>> clock_option(None), clock_option(Path("my clock"))
    ('', " --clock 'my clock'")
    """
    return "" if clock is None else f" --clock {quote(str(clock))}"


def parse_instant(text: str | None) -> datetime | None:
    """Return the instant that an option gives, if any; without a zone it is UTC.

    >>> parse_instant("2026-01-04").isoformat()
    '2026-01-04T00:00:00+00:00'
    """
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArenaError("bad_time", f"{text!r} is not a time", "write it like 2026-01-04T00:00Z") from error
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
