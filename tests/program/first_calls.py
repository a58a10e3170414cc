"""Commands run one after another under a tracer: which functions of the project they call, in order."""

import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType

from tests.program.command_line import ROOT
from tests.program.running import arena

PACKAGES = tuple(f"{ROOT}/{name}/" for name in ("markets", "portfolio", "agents", "arena"))


def first_calls(folder: Path, commands: Sequence[str]) -> list[tuple[str, str]]:
    """Run commands in a folder and return file and function of what they called, by when it first was."""
    called: dict[CodeType, None] = {}

    def note(frame: FrameType, _event: str, _: object) -> None:
        """Note a call. Without an answer, the lines in it are not traced; a profiler would hear of C too."""
        called.setdefault(frame.f_code)

    before = sys.gettrace()
    threading.settrace(note)
    sys.settrace(note)
    try:
        for command in commands:
            ended = arena(folder, *command.split())
            assert ended.returncode == 0, ended.stderr
    finally:
        sys.settrace(before)
        threading.settrace(before)

    own = [code for code in called if code.co_filename.startswith(PACKAGES)]
    return [(str(Path(code.co_filename).relative_to(ROOT)), code.co_name) for code in own]
