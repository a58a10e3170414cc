"""A temporary Python environment, for tools that check the product and that it doesn't need."""

import os
import subprocess
import tempfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_apart(
    packages: Sequence[str], code: str, arguments: Sequence[str], variables: Mapping[str, str]
) -> int:
    """Install packages, run code with arguments there, and return its exit status.

    It runs in an empty folder. Nothing is asked of a network but the packages.
    """
    with tempfile.TemporaryDirectory() as scratch:
        environment = Path(scratch) / "env"
        venv.create(environment, with_pip=True)
        python = environment / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)

        folder = Path(scratch) / "work"
        folder.mkdir()
        command = [str(python), "-c", code, *arguments]
        done = subprocess.run(command, cwd=folder, env={**os.environ, **variables}, check=False)
    return done.returncode
