"""What every command shares: which config, which record, and `--json`.

Times, as people write them on the command line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, cast

import typer

from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.config import Config

DEFAULT = Path("config.yaml")
DAY = ["%Y-%m-%d"]
"""How a day is written on the command line."""


@dataclass
class Options:
    """What was chosen on the command line, before or after the command's name."""

    config: Path | None = None
    database: str | None = None
    json: bool = False

    def load(
        self, environ: Mapping[str, str] | None = None, default: Path = DEFAULT, beside: bool = False
    ) -> "Config":
        """The config, with the database of `--database` in place of its own."""
        from arena.config import load

        return load(self.config or default, environ, beside, self.database)

    def known(self) -> "Config | None":
        """The config, where there is one; a record that is named can be read without."""
        if self.config is None and self.database is not None and not DEFAULT.exists():
            return None
        return self.load()

    def again(self) -> str:
        """What a command needs to mean the same record: `--database`, where it was named by that.

        >>> Options(database="my drill.db").again(), Options().again()
        (" --database 'my drill.db'", '')
        """
        if self.database is None:
            return ""
        # An address may hold a password.
        return " --database URL" if "://" in self.database else f" --database {quote(self.database)}"

    def record(self) -> str:
        """The address of the record: what `--database` says, else what the config does."""
        if self.database is not None:
            return self.database
        if self.config is None and not DEFAULT.exists():
            hint = "name the record with --database PATH, or make a working folder: arena init DIR"
            raise ArenaError("no_config", f"there is no {DEFAULT} here, so no record is known", hint)
        return self.load().database


def options(context: typer.Context, config: Path | None = None, database: str | None = None) -> Options:
    """The options of the whole program; what stands after a command's name counts first."""
    chosen = cast("Options", context.find_root().obj)
    chosen.config, chosen.database = config or chosen.config, database or chosen.database
    return chosen


def _json(context: typer.Context, value: bool) -> bool:
    options(context).json = value
    return value


Json = Annotated[
    bool, typer.Option("--json", help="Answer with one JSON document, errors too.", callback=_json)
]
"""The type of every command's last parameter: `as_json: Json = False`."""

ConfigFile = Annotated[Path | None, typer.Option("--config", help="The config file.", metavar="PATH")]
"""Which config: understood before and after a command's name."""

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        help="The record, instead of the config's: a path or a URL.",
        metavar="URL",
    ),
]
"""Which record: understood before and after a command's name."""


Baselines = Annotated[
    bool,
    typer.Option("--baselines", help="Start a cohort though no model has its key; models enter with it."),
]
"""Whether a cohort may start in which only those play that need no key."""


def instant(text: str) -> datetime:
    """A time as people write it; without a zone it is UTC.

    >>> instant("2026-01-04").isoformat()
    '2026-01-04T00:00:00+00:00'
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise ArenaError("bad_time", f"{text!r} is not a time", "write it like 2026-01-04T00:00Z") from error
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
