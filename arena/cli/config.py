"""`arena show config`: the settings in effect, and every key that there is."""

from dataclasses import asdict

from arena.cli.options import Options, command, flag
from arena.cli.output import print_json, without_password
from arena.config.listing import effective, every_key, sections, yaml_text


@command()
def config(chosen: Options, every: bool = flag("Every key, with its meaning.", "--all")) -> None:
    """Print the settings in effect, defaults included, in the form of a config.

    Secrets are not shown.

    Example: arena show config --all

    Next: arena check
    """
    if every:
        rows = [
            {"key": ".".join((*section.path, row.name)), **asdict(row)}
            for section in sections()
            for row in section.keys
        ]
        print_json(rows) if chosen.json else print(every_key(), end="")
        return
    settings = effective(chosen.load())
    settings["database"] = without_password(settings["database"])
    if not settings.get("watch", {}).get("webhook", "$").startswith("$"):
        settings["watch"]["webhook"] = "***"
    print_json(settings) if chosen.json else print(yaml_text(settings), end="")
