"""`arena show config`: the settings in effect, or every key."""

from dataclasses import asdict
from typing import Any

from arena.cli.options import Options
from arena.cli.output import without_password
from arena.cli.page import Page
from arena.config.listing import effective, every_key, sections, yaml_text


def show_settings(chosen: Options) -> None:
    """Print the settings in effect, without secrets."""
    settings = effective(chosen.load_config())
    settings["database"] = without_password(settings["database"])
    if not settings.get("watch", {}).get("webhook", "$").startswith("$"):
        settings["watch"]["webhook"] = "***"
    chosen.print_answer(settings, yaml_page, yaml_text(settings))


def list_keys(chosen: Options) -> None:
    """Print every key that a config may have, and its meaning."""
    rows: list[dict[str, Any]] = []
    for section in sections():
        rows += [{"key": ".".join((*section.path, row.name)), **asdict(row)} for row in section.keys]
    chosen.print_answer(rows, yaml_page, every_key())


def yaml_page(text: str) -> Page:
    """Yield the text of a config."""
    yield text.removesuffix("\n")
