"""Servers of language models on this machine: where they listen by default, and which models they have."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address
from urllib.parse import urlsplit

USUAL_PORTS: Mapping[int, str] = {11434: "Ollama", 1234: "LM Studio", 8000: "vLLM", 8080: "llama.cpp"}
"""The programs that serve models, by the port on which they listen unless told otherwise."""
LOCAL_PROVIDERS: Mapping[str, int] = {
    "ollama": 11434,
    "ollama_chat": 11434,
    "lm_studio": 1234,
    "hosted_vllm": 8000,
    "llamafile": 8080,
}
"""Names before the slash of a model that mean a server on this machine, with its usual port."""
LOCAL_NAMES = ("localhost", "host.docker.internal", "host.containers.internal")
PATIENCE = 0.5
"""Seconds that a server on this machine may take to list its models."""
MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server on this machine that speaks OpenAI's form: the program that it probably is, and its models."""

    program: str
    base_url: str
    models: tuple[str, ...]


def local_address(port: int) -> str:
    """Return the base URL of a server on this machine.

    >>> local_address(11434)
    'http://localhost:11434/v1'
    """
    return f"http://localhost:{port}/v1"


def find_local_servers(ports: Mapping[int, str] | None = None) -> list[LocalServer]:
    """Return the servers that answer on the usual ports of this machine and have a model."""
    found = []
    for port, program in (USUAL_PORTS if ports is None else ports).items():
        models = _listed_models(port)
        if models:
            found.append(LocalServer(program, local_address(port), models))

    return found


def _listed_models(port: int) -> tuple[str, ...]:
    """Return the models that a server on this machine lists; none if nothing of that form answers."""
    connection = HTTPConnection("localhost", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/v1/models")
        reply = json.loads(connection.getresponse().read(MOST_BYTES))
        names = [model["id"] for model in reply["data"]]
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        # Any other program may listen there, and answer with anything.
        return ()
    finally:
        connection.close()

    return tuple(name for name in names if isinstance(name, str))


def is_local(base_url: str) -> bool:
    """Tell whether an address is on this machine or in its own network, where no answer is paid for.

    >>> is_local("http://127.0.0.1:8000/v1"), is_local("http://192.168.1.5/v1"), is_local("https://api.x.ai/v1")
    (True, True, False)
    """
    host = urlsplit(base_url).hostname or ""
    if host in LOCAL_NAMES or host.endswith(".local"):
        return True

    try:
        return ip_address(host).is_private
    except ValueError:
        return False


def whole_address(typed: str) -> str:
    """Return a base URL as it is meant: with its scheme, and with the usual path on this machine.

    >>> whole_address("localhost:11434"), whole_address("https://api.example.com/v2/")
    ('http://localhost:11434/v1', 'https://api.example.com/v2')
    """
    address = typed.strip().rstrip("/")
    if "://" not in address:
        address = f"http://{address}"
    if is_local(address) and not urlsplit(address).path:
        address += "/v1"

    return address
