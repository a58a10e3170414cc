"""What models can be asked, what one of the prompts asks, and how two of them differ."""

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import Any

from agents.prompts.dry_run import sample_prompt
from agents.prompts.include import BadInclude, WholeTemplate
from agents.prompts.template import BadTemplate, compile_template
from agents.registry import HOME, prompt_template
from arena.cli.options import DEFAULT, Options
from arena.cli.output import Data, plain_lines
from arena.cli.table import Table, TableChoice, TableColumn
from arena.config.code import extension_folders
from arena.errors import ArenaError
from markets.registry import ExtensionFolder, UnknownExtension, names

COLUMNS = (
    TableColumn("name", "prompt"),
    TableColumn(
        "answer",
        "asks for",
        value=lambda row: "forecasts and bets" if row["bets"] else "forecasts",
        gives_way=1,
    ),
    TableColumn("shows", value=lambda row: ", ".join(row["shows"]), narrow="wrap"),
    TableColumn("about", narrow="wrap"),
)
SHOWS = {"price": "prices", "history": "context", "evidence": "articles"}
"""What a template shows if it has such a name in it, in words."""


def list_prompts(chosen: Options) -> None:
    """Answer with every prompt, what it asks for and what it shows."""
    rows = [_row(chosen, name) for name in names(HOME / "prompts", _folders(chosen), ".md")]
    chosen.answer({"prompts": rows}, list_page, rows, chosen.table)


def list_page(rows: Sequence[Data], choice: TableChoice) -> Iterator[Table]:
    """Yield the prompts as a table."""
    yield Table(COLUMNS, rows, choice=choice)


def show_prompt(chosen: Options, name: str, against: str | None, rendered: bool) -> None:
    """Answer with a prompt's text, or with how it differs from another one."""
    text = _text(chosen, name, rendered)
    if against is None:
        chosen.answer({"name": name, "rendered": rendered, "text": text}, text_page)
        return
    old = _text(chosen, against, rendered)
    diff = list(unified_diff(old.splitlines(), text.splitlines(), against, name, lineterm=""))
    data = {"before": against, "after": name, "rendered": rendered, "same": not diff, "diff": diff}
    chosen.answer(data, diff_page)


def text_page(data: Data) -> Iterator[str]:
    """Yield the text of a prompt."""
    yield plain_lines(data["text"])


def diff_page(data: Data) -> Iterator[str]:
    """Yield the lines in which two prompts differ."""
    yield plain_lines("\n".join(data["diff"])) or "They are identical."


def _row(chosen: Options, name: str) -> dict[str, Any]:
    """Return what a prompt is for, what it asks for and what it shows."""
    text = _template(chosen, name).text
    about = text.partition("#}")[0].removeprefix("{#").strip() if text.startswith("{#") else ""
    try:
        template = compile_template(text)
    except BadTemplate as error:
        return {"name": name, "bets": None, "shows": [], "about": f"it can't be used: {error}"}
    blind = {"price"} if name == "blind" else set()  # it shares its parts, and is never asked with prices
    shown = [words for key, words in SHOWS.items() if key in template.names - blind]
    return {"name": name, "bets": template.answer == "decision", "shows": shown, "about": about}


def _text(chosen: Options, name: str, rendered: bool) -> str:
    """Return a prompt as a cohort would freeze it, or as a model is asked by it on a sample round."""
    whole = _template(chosen, name)
    if not rendered:
        return whole.text
    try:
        asked = sample_prompt(
            whole.text, stage="blind" if name == "blind" else "final", prices=name != "blind"
        )
    except BadTemplate as error:
        file, line = whole.origin(error.line)
        raise ArenaError(
            "bad_prompt", f"{file.name}:{line}: {error.words}", "arena check says more"
        ) from error
    return "\n\n".join(f"-- {message.role}\n{message.content}" for message in asked.messages)


def _template(chosen: Options, name: str) -> WholeTemplate:
    """Return a prompt with all that it includes; raise `ArenaError` where there is none or it is torn."""
    try:
        return prompt_template(name, (chosen.config or DEFAULT).parent, _folders(chosen))
    except UnknownExtension as error:
        message = f"there is no prompt {name!r}"
        raise ArenaError("no_prompt", message, f"prompts: {', '.join(error.known)}") from error
    except BadInclude as error:
        raise ArenaError("bad_prompt", f"{error.file.name}:{error.line}: {error.words}") from error


def _folders(chosen: Options) -> tuple[ExtensionFolder, ...]:
    """Return where prompts of one's own are."""
    return extension_folders((chosen.config or DEFAULT).parent, "prompts")
