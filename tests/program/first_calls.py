"""Commands run one after another under a tracer: which functions of the project they call, in order.

`python -m tests.program.first_calls "run --round" board` prints file and function of each, a line each, where
it was called first. It is a process of its own: some commands take signals.
"""

import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

from tests.program.command_line import ROOT

PACKAGES = tuple(f"{ROOT}/{name}/" for name in ("markets", "portfolio", "agents", "arena"))


def main(commands: list[str]) -> None:
    """Run the commands and print what they called."""
    called: dict[CodeType, None] = {}

    def note(frame: FrameType, _event: str, _: object) -> None:
        """Note a call. Without an answer, the lines in it are not traced; a profiler would hear of C too."""
        called.setdefault(frame.f_code)

    from typer.testing import CliRunner

    from agents.llm.library import litellm
    from arena.cli.main import app

    litellm()  # it makes most of the calls as it is loaded, and none of them is printed

    threading.settrace(note)
    sys.settrace(note)
    for command in commands:
        ended = CliRunner().invoke(app, command.split(), prog_name="arena", catch_exceptions=False)
        if ended.exit_code:
            sys.exit(f"{command}: {ended.output}")
    sys.settrace(None)

    for code in called:
        if code.co_filename.startswith(PACKAGES):
            sys.stdout.write(f"{Path(code.co_filename).relative_to(ROOT)} {code.co_name}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
