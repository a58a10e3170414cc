"""A process that stands for one of the program's: that one is forked from what has loaded it.

pytest-xdist starts this in the place of Python, and tests in the place of the program or of its pages. It
asks the process that others are forked from for one with its own input and output, and ends with that.
"""

import json
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path


def main(place: str, program: str, *words: str) -> int:
    """Ask for a program at a socket, and hand it the signals that come; its exit status."""
    streams = [f"/proc/{os.getpid()}/fd/{number}" for number in range(3)]
    asked = json.dumps([str(Path.cwd()), streams, [program, *words], dict(os.environ)])

    with socket.socket(socket.AF_UNIX) as parent:
        parent.connect(place)
        # a worker gets Ctrl-C itself, and says what it means
        signals = [signal.SIGTERM] if program == "worker" else [signal.SIGTERM, signal.SIGINT]
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # until it is known whom they are for
        parent.sendall(asked.encode() + b"\n")
        answers = parent.makefile()
        process, _ = json.loads(answers.readline())

        def hand_on(number: int, _: object) -> None:
            with suppress(ProcessLookupError):
                os.kill(process, number)

        for number in signals:
            signal.signal(number, hand_on)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
        _, status = json.loads(answers.readline())

    return int(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
