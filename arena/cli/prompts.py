"""`arena show prompt`: the list of prompts, the text of one, or the difference between two."""

from collections.abc import Sequence
from difflib import unified_diff

from arena.cli.options import DEFAULT, Options
from arena.cli.output import plain_lines
from arena.cli.page import Page
from arena.cli.table import Table, TableChoice, TableColumn
from arena.config.prompt_summaries import PromptSummary, prompt_for_reader, prompt_summaries

COLUMNS = (
    TableColumn("name", "prompt"),
    TableColumn("answer", "asks for", lambda bets: "forecasts and bets" if bets else "forecasts", 1, "bets"),
    TableColumn("shows", show=", ".join, narrow="wrap"),
    TableColumn("about", narrow="wrap"),
)


def list_prompts(chosen: Options) -> None:
    """Print every prompt, what it asks for and what it shows."""
    prompts = prompt_summaries((chosen.config or DEFAULT).parent)
    chosen.print_answer({"prompts": prompts}, list_page, prompts, chosen.table_choice)


def list_page(prompts: Sequence[PromptSummary], choice: TableChoice) -> Page:
    """Yield the prompts as a table."""
    yield Table(COLUMNS, prompts, choice=choice)


def show_prompt(chosen: Options, name: str, against: str | None, rendered: bool) -> None:
    """Print a prompt's text, or how it differs from another one."""
    folder = (chosen.config or DEFAULT).parent
    text = prompt_for_reader(folder, name, rendered)
    if against is None:
        chosen.print_answer({"name": name, "rendered": rendered, "text": text}, text_page, text)
        return

    old = prompt_for_reader(folder, against, rendered)
    diff = list(unified_diff(old.splitlines(), text.splitlines(), against, name, lineterm=""))
    data = {"before": against, "after": name, "rendered": rendered, "same": not diff, "diff": diff}
    chosen.print_answer(data, text_page, "\n".join(diff) or "They are identical.")


def text_page(text: str) -> Page:
    """Yield the text of a prompt or a diff."""
    yield plain_lines(text)
