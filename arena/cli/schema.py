"""`arena outside desk --schema`: the form of what passes between the arena and an agent outside."""

from agents.episode import DOCUMENTS, schema_of
from arena.cli.options import Options, argument, command
from arena.cli.output import print_json
from arena.errors import ArenaError


@command(record=False)
def schema(
    _chosen: Options, document: str = argument("view|decision|result", "The document.", show_default=False)
) -> None:
    """Print the JSON Schema of a view, a decision or a result.

    A view is what an agent is shown, a decision is its answer, and a result is how a market ended.

    Example: arena outside desk --schema decision > decision.schema.json

    Next: arena agents kinds command
    """
    if document not in DOCUMENTS:
        words = f"there is no document {document!r}"
        raise ArenaError("no_document", words, f"there are {', '.join(DOCUMENTS)}")
    print_json(schema_of(document))  # with --json or without: it is nothing else
