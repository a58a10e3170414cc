"""`arena show prompts`: what models can be asked, what one of them is asked, and how two of them differ."""

from difflib import unified_diff
from typing import Any

from agents.prompts.dry_run import sample_prompt
from agents.prompts.include import BadInclude, WholeTemplate
from agents.prompts.template import BadTemplate, compile_template
from agents.registry import HOME, prompt_template
from arena.cli.options import DEFAULT, Options, argument, command, flag, option
from arena.cli.output import plain
from arena.cli.page import print_table
from arena.cli.table import TableColumn
from arena.config.code import extension_folders
from arena.errors import ArenaError
from markets.registry import ExtensionFolder, UnknownExtension, names

COLUMNS = (
    TableColumn("name", "prompt"),
    TableColumn("answer", "asks for", value=lambda row: "forecasts and bets" if row["bets"] else "forecasts"),
    TableColumn("shows", value=lambda row: ", ".join(row["shows"])),
    TableColumn("about", narrow="wrap"),
)
SHOWS = {"price": "prices", "history": "context", "evidence": "articles"}
"""What a template shows if it has such a name in it, in words."""


@command("config", "wide", "columns", "json")
def prompts(
    chosen: Options,
    name: str | None = argument(
        "NAME", "A prompt, or the path of a .md file next to the config.", default=None
    ),
    against: str | None = option("Compare it with this prompt.", "NAME"),
    rendered: bool = flag("As sent to a model, for a sample round of two markets."),
) -> None:
    """List the prompts, including your own in extensions/prompts next to the config, or print one.

    An agent uses one with `prompt: NAME`; its `context` key turns off what is shown besides the markets. The
    purpose listed is the comment on the first line.

    NAME is printed as a cohort would freeze it, includes expanded. To compare two prompts, give them to two
    agents with one model and run arena board.

    Example: arena show prompts bet --rendered

    Next: arena show turn --play NAME --dry shows what an agent of yours is asked on real markets.
    """
    if name is None:
        _list_prompts(chosen, against is not None or rendered)
        return
    text = _text(chosen, name, rendered)
    if against is None:
        chosen.answer({"name": name, "rendered": rendered, "text": text}, print, _lines(text))
        return
    old = _text(chosen, against, rendered).splitlines()
    lines = list(unified_diff(old, text.splitlines(), against, name, lineterm=""))
    data = {"before": against, "after": name, "rendered": rendered, "same": not lines, "diff": lines}
    chosen.answer(data, print, _lines("\n".join(lines)) or "They are identical.")


def _list_prompts(chosen: Options, one_is_meant: bool) -> None:
    if one_is_meant:
        raise ArenaError("no_prompt", "no prompt is named", "arena show prompts lists them", status=64)
    found = [_row(chosen, name) for name in names(HOME / "prompts", _folders(chosen), ".md")]
    chosen.answer({"prompts": found}, print_table, COLUMNS, found, "", chosen.table)


def _row(chosen: Options, name: str) -> dict[str, Any]:
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
    try:
        return prompt_template(name, (chosen.config or DEFAULT).parent, _folders(chosen))
    except UnknownExtension as error:
        message = f"there is no prompt {name!r}"
        raise ArenaError("no_prompt", message, f"prompts: {', '.join(error.known)}") from error
    except BadInclude as error:
        raise ArenaError("bad_prompt", f"{error.file.name}:{error.line}: {error.words}") from error


def _folders(chosen: Options) -> tuple[ExtensionFolder, ...]:
    return extension_folders((chosen.config or DEFAULT).parent, "prompts")


def _lines(text: str) -> str:
    """A text line by line, without what a terminal would take for a command."""
    return "\n".join(plain(line) for line in text.splitlines())
