"""Who is at work: the name that a claim carries, and whether its bearer is still alive."""

import os
import socket
from datetime import timedelta
from uuid import uuid4

LEASE = timedelta(hours=1)
"""How long a turn may take before another process may play it."""


def holder() -> str:
    """A name for this process, told apart from any other that ever had its number."""
    return f"{socket.gethostname()}/{os.getpid()}/{uuid4().hex}"


def is_gone(name: str) -> bool:
    """Whether the process of that name is known to have ended; of another machine nothing is known."""
    host, pid, _ = name.split("/")
    if host != socket.gethostname():
        return False
    if int(pid) == os.getpid():
        return True  # an earlier process with our number: our own name is compared before this is asked
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
