"""The help of a command as plain text: its description, an example with sample output, its options."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from inspect import cleandoc
from typing import Any, Literal, get_args, get_origin

from arena.cli.options import SHARED

WIDEST = 100
"""The characters of a line of help, however wide the terminal is."""
METAVARS = {int: "N", float: "N", list[int]: "N", datetime: "DAY"}
"""The placeholder for an option's value, by type, unless the option names its own."""
UNLISTED = "show_completion"
"""An option left out of help: --install-completion does the same."""
INDENT = 2
MOST_OF_NAMES = 24
"""The widest column of option names."""


def help_text(command: Any, context: Any, width: int, panels: Mapping[str, Mapping[str, str]]) -> str:
    """Return the help of a command or a family in lines of at most `width` characters.

    `panels` maps each panel to its commands and their one-line descriptions.
    """
    width = min(width, WIDEST)
    arguments = []
    options = []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            arguments.append(parameter)
        elif parameter.name != UNLISTED:
            options.append(parameter)

    usage_line = usage_text(context.command_path, arguments, bool(options), bool(panels))
    parts = [wrapped_text(f"Usage: {usage_line}", width, 4)]
    parts += description_parts(cleandoc(command.help or ""), width)
    for title, commands in panels.items():
        parts.append(section_text(title, list(commands.items()), width))

    if any(argument.help for argument in arguments):
        rows = [(name_of(argument), argument.help or "") for argument in arguments]
        parts.append(section_text("Arguments:", rows, width))
    parts += option_parts(options, context.parent is None, width)
    if command.epilog:
        parts += description_parts(command.epilog, width)

    return "\n\n".join(parts)


def option_parts(options: Sequence[Any], is_program: bool, width: int) -> Iterator[str]:
    """Yield the list of options, and the names of the shared ones that only `arena --help` explains."""
    if is_program:
        yield section_text("Options:", program_rows(options), width)
        return

    own_options = []
    shared_options = []
    for option in options:
        if option.name in SHARED:
            shared_options.append(option)
        else:
            own_options.append(option)

    if own_options:
        yield section_text("Options:", list(map(option_row, own_options)), width)
    if shared_options:
        names = ", ".join(option.opts[0] for option in shared_options)
        yield wrapped_text(f"Also: {names}; see arena --help.", width, INDENT)


def program_rows(options: Sequence[Any]) -> list[tuple[str, str]]:
    """Return the rows of the program's options, and of the shared ones that only commands have."""
    rows = list(map(option_row, options))
    own_names = [option.name for option in options]
    rows += [shared_row(name) for name in SHARED if name not in own_names]
    return rows


def usage_text(path: str, arguments: Sequence[Any], has_options: bool, has_commands: bool) -> str:
    """Return the usage line of a command."""
    words = [path]
    if has_options:
        words.append("[OPTIONS]")
    if has_commands:
        words.append("COMMAND")
    for argument in arguments:
        name = name_of(argument)
        words.append(name if argument.required else f"[{name}]")
    return " ".join(words)


def name_of(argument: Any) -> str:
    """Return the name of an argument in help."""
    return str(argument.metavar or argument.name.upper()).strip("[]")


def option_row(option: Any) -> tuple[str, str]:
    """Return an option as it is typed, and its meaning with its default if it has one."""
    spelling = ", ".join([*sorted(option.opts, key=len), *option.secondary_opts])
    if not option.is_flag:
        spelling += f" {value_name(option)}"

    meaning = option.help or ""
    if option.required:
        meaning += " [required]"
    elif option.default not in (None, "", (), [], False, True) and not callable(option.default):
        meaning += f" [default: {option.default}]"
    return spelling, meaning


def shared_row(name: str) -> tuple[str, str]:
    """Return a shared option as it is typed, and its meaning."""
    _, option = SHARED[name]
    return f"--{name.replace('_', '-')} {option.metavar or ''}".strip(), option.help


def value_name(option: Any) -> str:
    """Return the placeholder for an option's value: its own, its choices, or one by type."""
    annotation = option.type_descriptor.annotation
    if option.metavar:
        return str(option.metavar)
    if get_origin(annotation) is Literal:
        return "|".join(get_args(annotation))
    return METAVARS.get(annotation, "TEXT")


def section_text(title: str, rows: Sequence[tuple[str, str]], width: int) -> str:
    """Return a heading with rows of names and meanings below it."""
    longest_name = max(len(name) for name, _ in rows)
    text_start = min(longest_name, MOST_OF_NAMES) + 2 * INDENT
    lines = [title]
    for name, meaning in rows:
        name_cell = f"  {name}  ".ljust(text_start)
        lines.append(wrapped_text(f"{name_cell}{meaning}", width, text_start))
    return "\n".join(lines)


def description_parts(text: str, width: int) -> Iterator[str]:
    """Yield the paragraphs of a description; sample output keeps its lines."""
    for paragraph in re.split(r"\n[ ]*\n", text):
        lines = paragraph.strip("\n")
        if lines.startswith(" "):  # sample output
            yield textwrap.indent(textwrap.dedent(lines), " " * INDENT)
        else:
            one_line = " ".join(map(str.strip, lines.split("\n")))
            yield wrapped_text(one_line, width, 0)


def wrapped_text(text: str, width: int, indent: int) -> str:
    """Return a text wrapped to `width` characters, with all lines but the first indented."""
    return textwrap.fill(text, width, subsequent_indent=" " * indent, break_on_hyphens=False)
