"""A process that plays tests and has loaded the program: pytest-xdist starts this in the place of Python.

It asks the process that others are forked from for one with its own input and output, and ends with that.
"""

import json
import os
import signal
import socket
import sys
from pathlib import Path


def main(place: str, *words: str) -> int:
    """Ask for it at a socket; its exit status."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other one gets it too, and says what it means
    streams = [f"/proc/{os.getpid()}/fd/{number}" for number in range(3)]
    asked = json.dumps([str(Path.cwd()), streams, ["worker", *words], dict(os.environ)])

    with socket.socket(socket.AF_UNIX) as parent:
        parent.connect(place)
        parent.sendall(asked.encode() + b"\n")
        told = [json.loads(line)[1] for line in parent.makefile()]

    return int(os.waitstatus_to_exitcode(told[-1]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
