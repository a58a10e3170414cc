"""Servers of models on this machine: the usual ones, where they listen, and the models that each has."""

import asyncio
import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import httpx

from agents.text import one_line
from markets.venues.wire.fields import member


@dataclass(frozen=True, slots=True)
class ModelServer:
    """An OpenAI-compatible server: its program, its address, and the models that it lists."""

    name: str
    base_url: str
    models: tuple[str, ...] = ()

    @property
    def port(self) -> int | None:
        """Return the port of its address."""
        return urlsplit(self.base_url).port


USUAL_SERVERS = (
    ModelServer("Ollama", "http://127.0.0.1:11434/v1"),
    ModelServer("LM Studio", "http://127.0.0.1:1234/v1"),
    ModelServer("vLLM", "http://127.0.0.1:8000/v1"),
    ModelServer("llama.cpp", "http://127.0.0.1:8080/v1"),
)
LOCAL_PROVIDERS = {
    "ollama": USUAL_SERVERS[0],
    "ollama_chat": USUAL_SERVERS[0],
    "lm_studio": USUAL_SERVERS[1],
    "hosted_vllm": USUAL_SERVERS[2],
    "llamafile": USUAL_SERVERS[3],
}
"""Names before the slash of a model that mean a server on this machine."""
LOCAL_NAMES = ("localhost", "host.docker.internal", "host.containers.internal")
SECONDS = 2.0
"""How long a server may take to list its models."""
MOST_MODELS = 1_000
LISTED = 12
"""How many models of a server a message names."""
NO_CHAT = re.compile(r"embed|rerank|whisper|\btts\b", re.IGNORECASE)
"""Names of models that don't answer questions."""


def is_local(base_url: str) -> bool:
    """Return whether an address is that of this machine or of its own network, where no answer is paid for.

    >>> is_local("http://localhost:8000/v1"), is_local("http://192.168.1.7/v1"), is_local("https://a.example")
    (True, True, False)
    """
    host = urlsplit(base_url).hostname or ""
    if host in LOCAL_NAMES or host.endswith(".local"):
        return True
    try:
        return ipaddress.ip_address(host).is_private
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


def models_text(servers: Sequence[ModelServer]) -> str:
    """Return which models the servers have, in words."""
    lists = []
    for server in servers:
        names = ", ".join(server.models[:LISTED])
        lists.append(f"{server.name} ({server.base_url}) has: {names}")
    return "; ".join(lists)


def no_server_text() -> str:
    """Return that no server on this machine has a model, with the ports that were tried."""
    tried = ", ".join(f"{server.name} {server.port}" for server in USUAL_SERVERS)
    return f"no model is served on this machine (tried {tried})"


async def find_servers(servers: Iterable[ModelServer], key: str) -> list[ModelServer]:
    """Return those of the servers that list their models, with these; a key is sent if there is one."""
    answers = await asyncio.gather(*(_with_models(server, key) for server in servers))
    return [server for server in answers if server is not None]


async def _with_models(server: ModelServer, key: str) -> ModelServer | None:
    """Return a server with the models that it lists; None if it doesn't answer with such a list."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    client = httpx.AsyncClient(trust_env=not is_local(server.base_url), timeout=SECONDS, headers=headers)
    try:
        async with asyncio.timeout(SECONDS), client:
            answer = await client.get(f"{server.base_url}/models")
            model_list = answer.json() if answer.status_code == 200 else None
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, ValueError, RecursionError):
        return None

    names = _chat_model_names(model_list)
    if names is None:
        return None
    return replace(server, models=names)


def _chat_model_names(model_list: Any) -> tuple[str, ...] | None:
    """Return the names in a list of models, without those that can't chat; None if it is no such list."""
    entries = member(model_list, "data")
    if not isinstance(entries, list):
        return None

    names = []
    for entry in entries[:MOST_MODELS]:
        name = member(entry, "id")
        if isinstance(name, str) and not NO_CHAT.search(name):
            names.append(one_line(name))
    return tuple(names)
